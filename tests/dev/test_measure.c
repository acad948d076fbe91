#include "device_support.h"

#include "dev/measure.h"

/* Times are not asserted: only that something was measured and nothing stays behind. */
static void test_numbers_are_sensible(void **state)
{
  (void)state;
  const uint64_t live = clm__mem_get_counts().blocks_live;
  clm__device *device = open_test_device();
  clm__measured measured = {0};
  assert_ok(clm__measure(device, &measured));
  print_message("%s: %.1f GFLOP/s, %.1f GB/s, %.1f us a launch\n", device->info.name,
                measured.gflops, measured.gbytes, measured.launch_seconds * 1e6);
  assert_true(measured.gflops > 0 && measured.gflops < 1e7);
  assert_true(measured.gbytes > 0 && measured.gbytes < 1e6);
  assert_true(measured.launch_seconds > 0 && measured.launch_seconds < 10);
  clm__device_close(device);
  assert_int_equal(clm__mem_get_counts().blocks_live, live);
}

static void test_little_memory_suffices(void **state)
{
  (void)state;
  setenv("CLEMATIS_TEST_MEMORY", "1048576", 1);
  clm__device *device = open_test_device();
  unsetenv("CLEMATIS_TEST_MEMORY");
  clm__measured measured = {0};
  assert_ok(clm__measure(device, &measured));
  assert_true(measured.gflops > 0 && measured.gbytes > 0);
  clm__device_close(device);
}

static void test_failure_leaves_the_result_alone(void **state)
{
  (void)state;
  clm__device *device = open_test_device();
  clm__measured measured = {.gflops = 7};
  setenv("CLEMATIS_TEST_FAIL_BUILD", "measure", 1);
  const clm_status status = clm__measure(device, &measured);
  unsetenv("CLEMATIS_TEST_FAIL_BUILD");
  assert_fails(status, CLM_DEVICE_FAILED, "measure.cl");
  assert_true(measured.gflops == 7);
  clm__device_close(device);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_numbers_are_sensible),
      cmocka_unit_test(test_little_memory_suffices),
      cmocka_unit_test(test_failure_leaves_the_result_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
