/* How the gpu variant of convolutions cuts its work: arithmetic alone. */
#include "op/asserts.h"
#include "op/conv2d_gpu.h"

static const clm__device_info gpu = {.kind = CLM__DEVICE_GPU,
                                     .compute_units = 20,
                                     .group_max = 256,
                                     .item_max = {256, 256, 64},
                                     .local_bytes = 32U << 10};

static void assert_tile(const clm__device_info *info, size_t rows, size_t columns, int m, int n)
{
  clm__conv2d_gpu_tile tile;
  assert_true(clm__conv2d_gpu_choose_tile(rows, columns, info, &tile));
  assert_int_equal(tile.m, m);
  assert_int_equal(tile.n, n);
}

static void tiles_follow_the_columns(void **state)
{
  (void)state;
  assert_tile(&gpu, 128000, 64, 64, 64);
  assert_tile(&gpu, 128000, 256, 64, 64);
  assert_tile(&gpu, 128000, 32, 64, 32);
  assert_tile(&gpu, 128000, 16, 64, 16);
  assert_tile(&gpu, 128000, 3, 64, 16);
  assert_tile(&gpu, 10, 6400, 16, 64);
}

static void few_tiles_are_made_smaller(void **state)
{
  (void)state;
  assert_tile(&gpu, 128, 128, 32, 32);
}

static void groups_are_no_larger_than_the_device_takes(void **state)
{
  (void)state;
  clm__device_info small = gpu;
  clm__conv2d_gpu_tile tile = {0};
  small.group_max = 128;
  assert_tile(&small, 128000, 64, 64, 32);
  small.group_max = 64;
  assert_tile(&small, 128000, 64, 32, 32);
  small.group_max = 63;
  assert_false(clm__conv2d_gpu_choose_tile(128000, 64, &small, &tile));
  small = gpu;
  small.item_max[0] = 63;
  assert_false(clm__conv2d_gpu_choose_tile(128000, 64, &small, &tile));
  small = gpu;
  small.local_bytes = 1024;
  assert_false(clm__conv2d_gpu_choose_tile(128000, 64, &small, &tile));
}

static void tiles_have_a_place_for_every_item(void **state)
{
  (void)state;
  const clm__conv2d_gpu_tile good = {64, 64, 16, 4, 4}, uneven = {64, 64, 16, 6, 4},
                             few = {16, 16, 16, 4, 4}, crowded = {64, 64, 8, 4, 4},
                             large = {128, 128, 32, 8, 8};
  assert_int_equal(clm__conv2d_gpu_items(&good), 256);
  assert_true(clm__conv2d_gpu_tile_fits(&good, 4, &gpu));
  assert_true(clm__conv2d_gpu_tile_fits(&good, 1, &gpu));
  assert_false(clm__conv2d_gpu_tile_fits(&uneven, 1, &gpu));
  assert_false(clm__conv2d_gpu_tile_fits(&few, 1, &gpu));
  assert_true(clm__conv2d_gpu_tile_fits(&crowded, 1, &gpu));
  assert_false(clm__conv2d_gpu_tile_fits(&crowded, 4, &gpu));
  assert_false(clm__conv2d_gpu_tile_fits(&large, 4, &gpu));
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(tiles_follow_the_columns),
                                     cmocka_unit_test(few_tiles_are_made_smaller),
                                     cmocka_unit_test(groups_are_no_larger_than_the_device_takes),
                                     cmocka_unit_test(tiles_have_a_place_for_every_item)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
