#include "device_support.h"

#include "dev/event.h"
#include "dev/profile.h"
#include "sys/clock.h"

static const char text[] = "kernel void write_one(global int *y)\n"
                           "{\n"
                           "  if (get_global_id(0) == 0) y[0] = 1;\n"
                           "}\n";

static clm__trace *make_trace(void)
{
  const clm__trace_config config = {.first_step = 1, .last_step = 1, .span_max = 8192};
  clm__trace *trace = NULL;
  assert_ok(clm__trace_create(&config, &trace));
  return trace;
}

static void enqueue(clm__kernel *kernel, cl_mem y)
{
  clm__launch launch = clm__launch_begin(kernel);
  clm__launch_buffer(&launch, y);
  assert_ok(clm__launch_run(&launch, 1, (size_t[]){1}, NULL));
}

/* A copy there, two kernels, a fill and two copies back: one of each way. */
static void enqueue_all(clm__device *device, clm__kernel *kernel, cl_mem y)
{
  static int values[4];
  cl_event event = NULL;
  const clm__event_read read = {.buffer = y, .target = values, .size_bytes = sizeof values};
  assert_ok(clm__buffer_write(device, y, 0, values, sizeof values, false));
  clm__profile_label(device, "layer", "fwd");
  enqueue(kernel, y);
  clm__profile_label(device, "loss", NULL);
  enqueue(kernel, y);
  assert_ok(clm__buffer_fill(device, y, 0, sizeof values, 0.0F));
  assert_ok(clm__buffer_read(device, y, 0, values, sizeof values, false));
  assert_ok(clm__event_enqueue_read(device, &read, &event));
  assert_ok(clm__event_wait(device, event));
  clm__event_release(&event);
}

static void check_span(const clm__trace *trace, size_t index, const char *category,
                       const char *name)
{
  const clm__trace_span *span = clm__trace_get_span(trace, index);
  assert_string_equal(span->category, category);
  assert_string_equal(span->name, name);
  assert_int_equal(span->step, 1);
  assert_int_equal(span->amount, strcmp(category, "copy") == 0 ? 4 * sizeof(int) : 0);
  assert_true(span->begin_seconds <= span->end_seconds);
  if (index > 0)
    assert_true(clm__trace_get_span(trace, index - 1)->end_seconds <= span->begin_seconds + 1e-9);
}

static void commands_are_spans_on_the_hosts_clock(void **state)
{
  (void)state;
  clm__trace *trace = make_trace();
  clm__device *device = open_device(&(clm__device_options){.no_cache = true, .trace = trace});
  clm__kernel kernel = make_kernel(device, "profile.cl", text, "write_one");
  cl_mem y = make_buffer(device, 4 * sizeof(int));
  enqueue_all(device, &kernel, y);
  assert_ok(clm__device_finish(device));
  assert_int_equal(clm__trace_get_counts(trace).spans, 0);
  clm__trace_begin_step(trace, 1);
  const double begin = clm__clock_seconds();
  const uint64_t memory = clm__mem_get_counts().allocations;
  enqueue_all(device, &kernel, y);
  assert_ok(clm__device_finish(device));
  assert_int_equal(clm__mem_get_counts().allocations, memory);
  assert_int_equal(clm__trace_get_counts(trace).spans, 6);
  const char *const names[][2] = {{"copy", "upload"}, {"kernel", "layer"},  {"kernel", "loss"},
                                  {"copy", "fill"},   {"copy", "download"}, {"copy", "gradients"}};
  for (size_t i = 0; i < 6; i++) check_span(trace, i, names[i][0], names[i][1]);
  assert_string_equal(clm__trace_get_span(trace, 1)->part, "fwd");
  assert_string_equal(clm__trace_get_span(trace, 1)->detail, "write_one");
  assert_null(clm__trace_get_span(trace, 2)->part);
  /* To a millisecond: that much a device's clock may be read late. */
  assert_true(clm__trace_get_span(trace, 0)->begin_seconds > begin - 1e-3);
  assert_true(clm__trace_get_span(trace, 5)->end_seconds < clm__clock_seconds() + 1e-3);
  clm__buffer_release(&y);
  clm__kernel_fini(&kernel);
  clm__device_close(device);
  clm__trace_destroy(trace);
}

static void more_commands_than_fit_are_counted(void **state)
{
  (void)state;
  enum { COMMANDS = 5000, ROOM = 4096 };
  clm__trace *trace = make_trace();
  clm__device *device = open_device(&(clm__device_options){.no_cache = true, .trace = trace});
  cl_mem y = make_buffer(device, sizeof(int));
  clm__trace_begin_step(trace, 1);
  for (int i = 0; i < COMMANDS; i++) assert_ok(clm__buffer_fill(device, y, 0, sizeof(int), 0.0F));
  assert_ok(clm__device_finish(device));
  assert_int_equal(clm__trace_get_counts(trace).spans, ROOM);
  assert_int_equal(clm__trace_get_counts(trace).left_out, COMMANDS - ROOM);
  /* What is still under way when a device is closed is dropped. */
  assert_ok(clm__buffer_fill(device, y, 0, sizeof(int), 0.0F));
  clm__buffer_release(&y);
  clm__device_close(device);
  clm__trace_destroy(trace);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(commands_are_spans_on_the_hosts_clock),
      cmocka_unit_test(more_commands_than_fit_are_counted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
