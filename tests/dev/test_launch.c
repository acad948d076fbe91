#include "device_support.h"

static const char text[] =
    "kernel void write_index(int count, global int *y)\n"
    "{\n"
    "  const int i = (int)get_global_id(0);\n"
    "  if (i < count) y[i] = i * 3;\n"
    "}\n"
    "kernel void write_place(int rows, int columns, global int *y)\n"
    "{\n"
    "  const int x = (int)get_global_id(0), r = (int)get_global_id(1);\n"
    "  if (x < columns && r < rows) y[r * columns + x] = r * 1000 + x;\n"
    "}\n"
    "kernel void write_sum(float a, uint b, global float *y, local float *part)\n"
    "{\n"
    "  if (get_global_id(0) > 0) return;\n"
    "  part[0] = a;\n"
    "  y[0] = part[0] + (float)b;\n"
    "}\n"
    "kernel void write_null(global int *y, global const float *bias)\n"
    "{\n"
    "  if (get_global_id(0) == 0) y[0] = bias == 0;\n"
    "}\n"
    "__attribute__((reqd_work_group_size(4, 1, 1))) kernel void write_size(global int *y)\n"
    "{\n"
    "  if (get_global_id(0) == 0) y[0] = (int)get_local_size(0);\n"
    "}\n";

#define COUNT 1000

static int setup(void **state)
{
  *state = open_test_device();
  return 0;
}

static int teardown(void **state)
{
  clm__device_close(*state);
  return 0;
}

/* Runs write_index over `count` items in a given group. */
static void check_index(clm__device *device, int count, const size_t *group)
{
  int y[COUNT + 1] = {0};
  clm__kernel kernel = make_kernel(device, "launch.cl", text, "write_index");
  cl_mem buffer = make_buffer(device, sizeof y);
  clm__launch launch = clm__launch_begin(&kernel);
  clm__launch_int(&launch, count);
  clm__launch_buffer(&launch, buffer);
  assert_ok(clm__launch_run(&launch, 1, (size_t[]){(size_t)count}, group));
  assert_ok(clm__buffer_read(device, buffer, 0, y, sizeof y, true));
  for (int i = 0; i <= COUNT; i++) assert_int_equal(y[i], i < count ? i * 3 : 0);
  clm__buffer_release(&buffer);
  clm__kernel_fini(&kernel);
}

static void test_sizes_are_rounded_up(void **state)
{
  check_index(*state, 1, NULL);
  check_index(*state, 63, NULL);
  check_index(*state, COUNT, NULL);
  check_index(*state, COUNT, (size_t[]){1});
  check_index(*state, 7, (size_t[]){3});
}

static void test_no_items_enqueue_nothing(void **state)
{
  clm__device *device = *state;
  const uint64_t before = atomic_load(&device->counts.kernels_enqueued);
  check_index(device, 0, NULL);
  assert_int_equal(atomic_load(&device->counts.kernels_enqueued), before);
}

static void test_two_dimensions(void **state)
{
  enum { ROWS = 13, COLUMNS = 37 };
  clm__device *device = *state;
  int y[ROWS * COLUMNS];
  clm__kernel kernel = make_kernel(device, "launch.cl", text, "write_place");
  cl_mem buffer = make_buffer(device, sizeof y);
  clm__launch launch = clm__launch_begin(&kernel);
  clm__launch_int(&launch, ROWS);
  clm__launch_int(&launch, COLUMNS);
  clm__launch_buffer(&launch, buffer);
  assert_ok(clm__launch_run(&launch, 2, (size_t[]){COLUMNS, ROWS}, NULL));
  assert_ok(clm__buffer_read(device, buffer, 0, y, sizeof y, true));
  for (int r = 0; r < ROWS; r++)
    for (int x = 0; x < COLUMNS; x++) assert_int_equal(y[r * COLUMNS + x], r * 1000 + x);
  clm__buffer_release(&buffer);
  clm__kernel_fini(&kernel);
}

static void test_every_kind_of_argument(void **state)
{
  clm__device *device = *state;
  float y = 0;
  clm__kernel kernel = make_kernel(device, "launch.cl", text, "write_sum");
  cl_mem buffer = make_buffer(device, sizeof y);
  clm__launch launch = clm__launch_begin(&kernel);
  clm__launch_float(&launch, 0.5F);
  clm__launch_uint(&launch, 4000000000U);
  clm__launch_buffer(&launch, buffer);
  clm__launch_local(&launch, sizeof(float));
  assert_ok(clm__launch_run(&launch, 1, (size_t[]){1}, (size_t[]){1}));
  assert_ok(clm__buffer_read(device, buffer, 0, &y, sizeof y, true));
  assert_true(y == 4000000000.0F);
  clm__buffer_release(&buffer);
  clm__kernel_fini(&kernel);
}

static void test_null_buffer_is_a_null_pointer(void **state)
{
  clm__device *device = *state;
  int y = 0;
  clm__kernel kernel = make_kernel(device, "launch.cl", text, "write_null");
  cl_mem buffer = make_buffer(device, sizeof y);
  clm__launch launch = clm__launch_begin(&kernel);
  clm__launch_buffer(&launch, buffer);
  clm__launch_buffer(&launch, NULL);
  assert_ok(clm__launch_run(&launch, 1, (size_t[]){1}, NULL));
  assert_ok(clm__buffer_read(device, buffer, 0, &y, sizeof y, true));
  assert_int_equal(y, 1);
  clm__buffer_release(&buffer);
  clm__kernel_fini(&kernel);
}

static void test_required_group_is_used(void **state)
{
  clm__device *device = *state;
  int y = 0;
  clm__kernel kernel = make_kernel(device, "launch.cl", text, "write_size");
  cl_mem buffer = make_buffer(device, sizeof y);
  clm__launch launch = clm__launch_begin(&kernel);
  assert_int_equal(kernel.group_required[0], 4);
  clm__launch_buffer(&launch, buffer);
  assert_ok(clm__launch_run(&launch, 1, (size_t[]){9}, NULL));
  assert_ok(clm__buffer_read(device, buffer, 0, &y, sizeof y, true));
  assert_int_equal(y, 4);
  clm__buffer_release(&buffer);
  clm__kernel_fini(&kernel);
}

static void test_argument_count_is_checked(void **state)
{
  clm__device *device = *state;
  clm__kernel kernel = make_kernel(device, "launch.cl", text, "write_index");
  clm__launch few = clm__launch_begin(&kernel);
  clm__launch_int(&few, 1);
  assert_fails(clm__launch_run(&few, 1, (size_t[]){1}, NULL), CLM_INTERNAL,
               "write_index takes 2 arguments and was given 1");
  clm__launch many = clm__launch_begin(&kernel);
  clm__launch_int(&many, 1);
  clm__launch_buffer(&many, NULL);
  clm__launch_int(&many, 1);
  assert_fails(clm__launch_run(&many, 1, (size_t[]){1}, NULL), CLM_INTERNAL, "was given 3");
  clm__kernel_fini(&kernel);
}

static void test_wrong_arguments_are_told(void **state)
{
  clm__device *device = *state;
  clm__kernel kernel = make_kernel(device, "launch.cl", text, "write_index");
  clm__launch launch = clm__launch_begin(&kernel);
  clm__launch_local(&launch, 1000); /* an int is expected */
  clm__launch_buffer(&launch, NULL);
  assert_fails(clm__launch_run(&launch, 1, (size_t[]){1}, NULL), CLM_INTERNAL, "CL_INVALID_ARG");
  clm__kernel_fini(&kernel);
}

static void test_too_large_group_is_refused(void **state)
{
  clm__device *device = *state;
  clm__kernel kernel = make_kernel(device, "launch.cl", text, "write_index");
  cl_mem buffer = make_buffer(device, 4);
  clm__launch launch = clm__launch_begin(&kernel);
  clm__launch_int(&launch, 1);
  clm__launch_buffer(&launch, buffer);
  assert_fails(clm__launch_run(&launch, 1, (size_t[]){1}, (size_t[]){kernel.group_max + 1}),
               CLM_INTERNAL, "was to run in groups of");
  assert_fails(clm__launch_run(&launch, 1, (size_t[]){1}, (size_t[]){0}), CLM_INTERNAL,
               "groups of 0");
  assert_fails(clm__launch_run(&launch, 4, (size_t[]){1, 1, 1, 1}, NULL), CLM_INTERNAL,
               "4 dimensions");
  clm__buffer_release(&buffer);
  clm__kernel_fini(&kernel);
}

static void test_group_limit_switch(void **state)
{
  static const char *const limits[] = {"1", "32", "64", "128", "256"};
  (void)state;
  for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
    setenv("CLEMATIS_TEST_MAX_GROUP", limits[i], 1);
    clm__device *device = open_test_device();
    unsetenv("CLEMATIS_TEST_MAX_GROUP");
    const size_t limit = (size_t)atoi(limits[i]);
    assert_true(device->info.group_max <= limit);
    check_index(device, COUNT, NULL);
    void *inner = device;
    test_two_dimensions(&inner);
    test_too_large_group_is_refused(&inner);
    clm__kernel kernel = make_kernel(device, "launch.cl", text, "write_index");
    assert_true(kernel.group_max <= limit);
    clm__kernel_fini(&kernel);
    clm__device_close(device);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sizes_are_rounded_up),
      cmocka_unit_test(test_no_items_enqueue_nothing),
      cmocka_unit_test(test_two_dimensions),
      cmocka_unit_test(test_every_kind_of_argument),
      cmocka_unit_test(test_null_buffer_is_a_null_pointer),
      cmocka_unit_test(test_required_group_is_used),
      cmocka_unit_test(test_argument_count_is_checked),
      cmocka_unit_test(test_wrong_arguments_are_told),
      cmocka_unit_test(test_too_large_group_is_refused),
      cmocka_unit_test(test_group_limit_switch),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
