#include "op/conv2d_tiles.h"
#include "op/testdevice.h"

static clm__device_info cpu(int vector_width, int cores)
{
  return (clm__device_info){.kind = CLM__DEVICE_CPU,
                            .vector_width = vector_width,
                            .compute_units = cores,
                            .buffer_max_bytes = 1U << 30};
}

static void vectors_are_no_longer_than_device_and_channels(void **state)
{
  (void)state;
  const int cases[][3] = {/* vector width, channels, lanes */
                          {16, 64, 16}, {16, 17, 16}, {16, 15, 8}, {16, 3, 2}, {16, 1, 1},
                          {8, 64, 8},   {8, 7, 4},    {4, 64, 4},  {1, 64, 4}, {1, 2, 2}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const clm__device_info info = cpu(cases[i][0], 2);
    assert_int_equal(clm__conv2d_lanes(&info, cases[i][1]), cases[i][2]);
  }
}

static void tuned_values_are_found_by_their_whole_name(void **state)
{
  (void)state;
  assert_int_equal(clm__conv2d_tuned("VT=2 TILE_W=6", "VT", 1), 2);
  assert_int_equal(clm__conv2d_tuned("VT=2 TILE_W=6", "TILE_W", 1), 6);
  assert_int_equal(clm__conv2d_tuned("VT=2 TILE_W=6", "W", 7), 7);
  assert_int_equal(clm__conv2d_tuned("XVT=2 VTX=3", "VT", 7), 7);
  assert_int_equal(clm__conv2d_tuned("", "VT", 7), 7);
  assert_int_equal(clm__conv2d_tuned("VT=0", "VT", 7), 1);
}

static void divisors_divide(void **state)
{
  (void)state;
  assert_int_equal(clm__conv2d_divisor(9, 4), 3);
  assert_int_equal(clm__conv2d_divisor(7, 6), 1);
  assert_int_equal(clm__conv2d_divisor(6, 9), 6);
  assert_int_equal(clm__conv2d_divisor(6, 0), 1);
}

static void check_tile(const clm__conv2d_pass *pass, const clm__device_info *info)
{
  clm__conv2d_tile tile = {0};
  clm__conv2d_choose_tile(pass, info, "", &tile);
  assert_in_range(tile.vectors * tile.height * tile.width, 1, clm__conv2d_registers(info));
  assert_int_equal(tile.strip_width % tile.width, 0);
  assert_true(tile.strip_width >= tile.width);
  if (!pass->pool) return;
  assert_int_equal(tile.height, 2);
  assert_int_equal(tile.width % 2, 0);
}

static void tiles_fit_registers_and_pools(void **state)
{
  (void)state;
  for (int width = 4; width <= 16; width *= 2)
    for (int size = 1; size <= 230; size = size * 3 / 2 + 1)
      for (int channels = 1; channels <= 600; channels = channels * 2 + 1)
        for (int pool = 0; pool < 2; pool++) {
          const clm__device_info info = cpu(width, 2);
          const clm__conv2d_pass pass = {.rows = size,
                                         .columns = size,
                                         .channels = channels,
                                         .positions = 9,
                                         .depth = channels,
                                         .step_h = 1,
                                         .step_w = 1,
                                         .seen_h = 3,
                                         .seen_w = 3,
                                         .pool = pool == 1};
          check_tile(&pass, &info);
        }
}

static void tuning_fixes_the_tile(void **state)
{
  (void)state;
  const clm__device_info info = cpu(16, 2);
  const clm__conv2d_pass pass = {.rows = 90,
                                 .columns = 90,
                                 .channels = 32,
                                 .positions = 9,
                                 .depth = 16,
                                 .step_h = 1,
                                 .step_w = 1,
                                 .seen_h = 3,
                                 .seen_w = 3};
  clm__conv2d_tile tile = {0};
  clm__conv2d_choose_tile(&pass, &info, "VT=1 TILE_H=3 TILE_W=4", &tile);
  assert_int_equal(tile.vectors, 1);
  assert_int_equal(tile.height, 3);
  assert_int_equal(tile.width, 4);
}

static void sums_have_parts_for_all_cores_within_memory(void **state)
{
  (void)state;
  const clm__device_info few = cpu(16, 2), many = cpu(16, 64);
  assert_int_equal(clm__conv2d_parts(&few, 1000, 1, 1000), 16);
  assert_int_equal(clm__conv2d_parts(&few, 3, 1, 1000), 3);
  assert_int_equal(clm__conv2d_parts(&few, 1000, 100, 1000), 1);
  assert_int_equal(clm__conv2d_parts(&many, 1000, 1, 1000), 512);
  assert_int_equal(clm__conv2d_parts(&many, 1000, 1, 16U << 20), 4);
  assert_int_equal(clm__conv2d_parts(&many, 1000, 1, 512U << 20), 1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(vectors_are_no_longer_than_device_and_channels),
      cmocka_unit_test(tuned_values_are_found_by_their_whole_name),
      cmocka_unit_test(divisors_divide),
      cmocka_unit_test(tiles_fit_registers_and_pools),
      cmocka_unit_test(tuning_fixes_the_tile),
      cmocka_unit_test(sums_have_parts_for_all_cores_within_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
