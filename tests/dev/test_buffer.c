#include "dev/event.h"
#include "device_support.h"

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

static void test_new_buffers_are_zero(void **state)
{
  clm__device *device = *state;
  cl_mem buffer = NULL;
  unsigned char bytes[101];
  memset(bytes, 0xFF, sizeof bytes);
  assert_ok(clm__buffer_create(device, sizeof bytes, &buffer));
  assert_ok(clm__buffer_read(device, buffer, 0, bytes, sizeof bytes, true));
  for (size_t i = 0; i < sizeof bytes; i++) assert_int_equal(bytes[i], 0);
  clm__buffer_release(&buffer);
  assert_null(buffer);
  clm__buffer_release(&buffer);
}

static void test_write_read_at_offsets(void **state)
{
  clm__device *device = *state;
  cl_mem buffer = NULL;
  int numbers[100], back[100] = {0};
  for (int i = 0; i < 100; i++) numbers[i] = i;
  assert_ok(clm__buffer_create(device, sizeof numbers, &buffer));
  assert_ok(clm__buffer_write(device, buffer, 40, numbers, 20, false));
  assert_ok(clm__buffer_write(device, buffer, 60, numbers, 0, false));
  assert_ok(clm__device_finish(device));
  assert_ok(clm__buffer_read(device, buffer, 36, back, 28, true));
  for (int i = 0; i < 7; i++) assert_int_equal(back[i], i >= 1 && i <= 5 ? i - 1 : 0);
  clm__buffer_release(&buffer);
}

static void test_fill_touches_its_part_only(void **state)
{
  clm__device *device = *state;
  cl_mem buffer = NULL;
  float values[16];
  assert_ok(clm__buffer_create(device, sizeof values, &buffer));
  assert_ok(clm__buffer_fill(device, buffer, 8, 20, 1.5F));
  assert_ok(clm__buffer_fill(device, buffer, 0, 0, 9.0F));
  assert_ok(clm__buffer_read(device, buffer, 0, values, sizeof values, true));
  for (int i = 0; i < 16; i++) assert_true(values[i] == (i >= 2 && i < 7 ? 1.5F : 0.0F));
  clm__buffer_release(&buffer);
}

static void test_views_share_memory(void **state)
{
  clm__device *device = *state;
  const size_t align = device->info.base_align_bytes;
  cl_mem buffer = NULL, view = NULL;
  float value = 0;
  assert_ok(clm__buffer_create(device, 3 * align, &buffer));
  assert_ok(clm__buffer_view(device, buffer, align, align, &view));
  assert_ok(clm__buffer_fill(device, view, 0, align, 2.0F));
  assert_ok(clm__buffer_read(device, buffer, 0, &value, sizeof value, true));
  assert_true(value == 0.0F);
  assert_ok(clm__buffer_read(device, buffer, align, &value, sizeof value, true));
  assert_true(value == 2.0F);
  assert_ok(clm__buffer_read(device, buffer, 2 * align, &value, sizeof value, true));
  assert_true(value == 0.0F);
  clm__buffer_release(&view);
  clm__buffer_release(&buffer);
}

static void test_wrong_views_are_refused(void **state)
{
  clm__device *device = *state;
  const size_t align = device->info.base_align_bytes;
  cl_mem buffer = NULL, view = NULL;
  assert_ok(clm__buffer_create(device, 2 * align, &buffer));
  assert_fails(clm__buffer_view(device, buffer, 1, 4, &view), CLM_INTERNAL, "no multiple");
  assert_fails(clm__buffer_view(device, buffer, align, 64 * align, &view), CLM_DEVICE_FAILED,
               "clCreateSubBuffer gave CL_INVALID_VALUE");
  assert_null(view);
  clm__buffer_release(&buffer);
}

static void test_out_of_bounds_copies_fail(void **state)
{
  clm__device *device = *state;
  cl_mem buffer = NULL;
  char bytes[4096] = {0};
  assert_ok(clm__buffer_create(device, 64, &buffer));
  assert_fails(clm__buffer_write(device, buffer, 0, bytes, sizeof bytes, true), CLM_DEVICE_FAILED,
               "clEnqueueWriteBuffer gave CL_INVALID_VALUE");
  assert_fails(clm__buffer_read(device, buffer, 64, bytes, 4, true), CLM_DEVICE_FAILED,
               "clEnqueueReadBuffer gave");
  clm__buffer_release(&buffer);
}

static void test_counts(void **state)
{
  clm__device *device = *state;
  clm__device_counts *counts = &device->counts;
  cl_mem buffer = NULL;
  float values[4] = {0};
  const uint64_t buffers = atomic_load(&counts->buffers_created);
  assert_ok(clm__buffer_create(device, sizeof values, &buffer));
  assert_int_equal(atomic_load(&counts->buffers_created), buffers + 1);
  const uint64_t to = atomic_load(&counts->bytes_to_device);
  const uint64_t from = atomic_load(&counts->bytes_from_device);
  const uint64_t finishes = atomic_load(&counts->finishes);
  assert_ok(clm__buffer_write(device, buffer, 0, values, 16, false));
  assert_ok(clm__buffer_read(device, buffer, 0, values, 12, false));
  assert_int_equal(atomic_load(&counts->finishes), finishes);
  assert_ok(clm__device_finish(device));
  assert_int_equal(atomic_load(&counts->finishes), finishes + 1);
  assert_ok(clm__buffer_read(device, buffer, 0, values, 4, true));
  assert_int_equal(atomic_load(&counts->finishes), finishes + 2);
  assert_int_equal(atomic_load(&counts->bytes_to_device), to + 16);
  assert_int_equal(atomic_load(&counts->bytes_from_device), from + 16);
  clm__buffer_release(&buffer);
}

/* What the host writes into a lent range the device finds there; nothing is copied. */
static void test_lent_ranges_are_the_hosts(void **state)
{
  enum { COUNT = 256, FIRST = 64, LENT = 128 };
  clm__device *device = *state;
  cl_mem buffer = NULL;
  cl_event event = NULL;
  float *memory = NULL;
  float seen[COUNT];
  assert_ok(clm__mem_alloc_aligned(COUNT * sizeof *memory, &memory));
  assert_ok(clm__buffer_create_in(device, memory, COUNT * sizeof *memory, &buffer));
  assert_ok(clm__buffer_fill(device, buffer, 0, COUNT * sizeof *memory, 3.0F));
  const clm__event_read range = {.buffer = buffer,
                                 .offset_bytes = FIRST * sizeof *memory,
                                 .target = memory + FIRST,
                                 .size_bytes = LENT * sizeof *memory};
  const uint64_t before = device->counts.bytes_from_device;
  assert_ok(clm__event_enqueue_lend(device, &range, &event));
  assert_ok(clm__event_wait(device, event));
  clm__event_release(&event);
  for (int i = FIRST; i < FIRST + LENT; i++) assert_true(memory[i] == 3.0F);
  for (int i = FIRST; i < FIRST + LENT; i++) memory[i] = (float)i;
  assert_int_equal(device->counts.bytes_from_device, before);
  assert_ok(clm__event_give_back(device, buffer, range.target));
  assert_ok(clm__buffer_read(device, buffer, 0, seen, sizeof seen, true));
  for (int i = 0; i < COUNT; i++)
    assert_true(seen[i] == (i >= FIRST && i < FIRST + LENT ? (float)i : 3.0F));
  clm__buffer_release(&buffer);
  clm__mem_free(memory);
}

static void test_size_limits(void **state)
{
  clm__device *device = *state;
  cl_mem buffer = NULL;
  assert_fails(clm__buffer_create(device, 0, &buffer), CLM_INTERNAL, "0 bytes");
  assert_fails(clm__buffer_create(device, SIZE_MAX / 2, &buffer), CLM_DEVICE_MEMORY,
               device->info.name);
  assert_null(buffer);
}

static void test_buffer_limit_switch(void **state)
{
  (void)state;
  setenv("CLEMATIS_TEST_MAX_BUFFER", "1048576", 1);
  clm__device *device = open_test_device();
  unsetenv("CLEMATIS_TEST_MAX_BUFFER");
  cl_mem buffer = NULL;
  assert_int_equal(device->info.buffer_max_bytes, 1048576);
  assert_fails(clm__buffer_create(device, 1048577, &buffer), CLM_DEVICE_MEMORY,
               "a buffer of 1048577 bytes is needed, the largest possible one has 1048576");
  assert_ok(clm__buffer_create(device, 1048576, &buffer));
  clm__buffer_release(&buffer);
  clm__device_close(device);
}

static void test_memory_switch(void **state)
{
  (void)state;
  setenv("CLEMATIS_TEST_MEMORY", "65536", 1);
  clm__device *device = open_test_device();
  unsetenv("CLEMATIS_TEST_MEMORY");
  cl_mem buffer = NULL;
  assert_int_equal(device->info.memory_bytes, 65536);
  assert_int_equal(device->info.buffer_max_bytes, 65536);
  assert_fails(clm__buffer_create(device, 65540, &buffer), CLM_DEVICE_MEMORY, "65536");
  clm__device_close(device);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_new_buffers_are_zero),
      cmocka_unit_test(test_write_read_at_offsets),
      cmocka_unit_test(test_fill_touches_its_part_only),
      cmocka_unit_test(test_views_share_memory),
      cmocka_unit_test(test_wrong_views_are_refused),
      cmocka_unit_test(test_out_of_bounds_copies_fail),
      cmocka_unit_test(test_counts),
      cmocka_unit_test(test_lent_ranges_are_the_hosts),
      cmocka_unit_test(test_size_limits),
      cmocka_unit_test(test_buffer_limit_switch),
      cmocka_unit_test(test_memory_switch),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
