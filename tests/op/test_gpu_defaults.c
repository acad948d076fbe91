/* What runs on a GPU without any tuning is within the documented limits of its family. */
#include "op/asserts.h"
#include "op/conv2d_gpu.h"
#include "op/conv2d_tiles.h"
#include "op/group.h"
#include "op/registry.h"

#include <stdio.h>
#include <string.h>

/* The least that the makers promise: CUDA's programming guide (compute capability 5.0 and later),
 * AMD's and Intel's OpenCL guides. AMD's compiler takes 256 items where a kernel does not ask for
 * more. */
typedef struct family {
  clm__device_info info;
  int accumulators; /* floats an item that stay in registers */
} family;

#define GPU(vendor_name, units, group, local_kib)                                                  \
  {                                                                                                \
    .vendor = (vendor_name), .name = "a GPU", .driver_version = "1", .kind = CLM__DEVICE_GPU,      \
    .vector_width = 1, .compute_units = (units), .group_max = (group),                             \
    .item_max = {(group), (group), 64}, .local_bytes = (uint64_t)(local_kib) << 10                 \
  }

static const family families[] = {
    {GPU("NVIDIA Corporation", 20, 1024, 48), 192},
    {GPU("NVIDIA Corporation", 132, 1024, 48), 192},
    {GPU("Advanced Micro Devices, Inc.", 60, 256, 64), 192},
    {GPU("Intel(R) Corporation", 32, 256, 64), 63},
    {GPU("Intel(R) Corporation", 512, 1024, 64), 63},
    {GPU("a vendor that keeps to OpenCL's minimum", 4, 64, 32), 63},
};

#define FAMILY_COUNT (sizeof families / sizeof *families)

/* Products of the flowers and the residual network, and awkward ones. */
static const size_t products[][2] = {{1036800, 16}, {259200, 32}, {64800, 64}, {27, 16},
                                     {144, 32},     {8192, 128},  {1152, 128}, {1, 1},
                                     {100000, 3},   {3, 100000}};

static void tiles_of_convolutions_fit(void **state)
{
  (void)state;
  for (size_t f = 0; f < FAMILY_COUNT; f++)
    for (size_t p = 0; p < sizeof products / sizeof *products; p++) {
      const clm__device_info *info = &families[f].info;
      clm__conv2d_gpu_tile tile;
      assert_true(clm__conv2d_gpu_choose_tile(products[p][0], products[p][1], info, &tile));
      assert_true(clm__conv2d_gpu_tile_fits(&tile, 1, info));
      assert_true(tile.item_m * tile.item_n <= families[f].accumulators);
    }
}

static void groups_that_add_fit(void **state)
{
  (void)state;
  for (size_t f = 0; f < FAMILY_COUNT; f++) {
    const clm__device_info *info = &families[f].info;
    const size_t items = (size_t)clm__group_items(info, "");
    assert_true(items >= 64 && items <= info->group_max && items <= info->item_max[0]);
    assert_true(items * sizeof(float) <= info->local_bytes);
  }
}

/* Every shipped line that a family gets names a variant which GPUs have, and a tile within its
 * limits; CLBlast's own values are measured for GPUs, so none are shipped. */
static void shipped_values_fit(void **state)
{
  (void)state;
  clm__tune *tune = NULL;
  clm__tune_values values;
  assert_ok(clm__tune_open_shipped(&tune));
  for (size_t f = 0; f < FAMILY_COUNT; f++) {
    const clm__device_info *info = &families[f].info;
    clm__tune_find(tune, info, "gemm", "*", &values);
    assert_string_equal(values.variant, "");
    for (const clm__op *const *op = clm__registry_ops(); *op != NULL; op++)
      for (int pass = 0; pass < CLM__PASS_COUNT; pass++) {
        char key[CLM__TUNE_WORD_SIZE];
        (void)snprintf(key, sizeof key, "%s.%s", (*op)->name, clm__pass_name((clm__pass)pass));
        clm__tune_find(tune, info, key, "a shape", &values);
        const clm__conv2d_gpu_tile tile = {.m = clm__conv2d_tuned(values.defines, "TILE_M", 64),
                                           .n = clm__conv2d_tuned(values.defines, "TILE_N", 64),
                                           .k = clm__conv2d_tuned(values.defines, "TILE_K", 16),
                                           .item_m = clm__conv2d_tuned(values.defines, "ITEM_M", 4),
                                           .item_n =
                                               clm__conv2d_tuned(values.defines, "ITEM_N", 4)};
        if (strstr(values.defines, "TILE_") != NULL)
          assert_true(clm__conv2d_gpu_tile_fits(&tile, 4, info));
        assert_true(strcmp(values.variant, "cpu") != 0 && strcmp(values.variant, "winograd") != 0);
      }
  }
  clm__tune_close(tune);
}

static void groups_follow_wishes_and_limits(void **state)
{
  (void)state;
  clm__device_info info = families[0].info;
  assert_int_equal(clm__group_items(&info, ""), CLM__GROUP_ITEMS);
  assert_int_equal(clm__group_items(&info, "GROUP=64"), 64);
  assert_int_equal(clm__group_items(&info, "GROUP=48"), CLM__GROUP_ITEMS);
  assert_int_equal(clm__group_items(&info, "GROUP=2048"), CLM__GROUP_ITEMS);
  info.group_max = 7;
  assert_int_equal(clm__group_items(&info, "GROUP=64"), 4);
  info.item_max[0] = 1;
  assert_int_equal(clm__group_items(&info, ""), 1);
  assert_int_equal(clm__group_span(0, 32), 1);
  assert_int_equal(clm__group_span(3, 32), 4);
  assert_int_equal(clm__group_span(32, 32), 32);
  assert_int_equal(clm__group_span(1000, 32), 32);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tiles_of_convolutions_fit), cmocka_unit_test(groups_that_add_fit),
      cmocka_unit_test(shipped_values_fit), cmocka_unit_test(groups_follow_wishes_and_limits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
