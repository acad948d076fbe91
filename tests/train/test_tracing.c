/* The file of a trace: of one rank, and what can go wrong with it. tests/cli/test_trace.sh has
 * those of several. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "io/json.h"
#include "support/folder.h"
#include "sys/clock.h"
#include "sys/file.h"
#include "train/tracing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct fixture {
  char *folder;
  char path[1024];
  clm__comm *comm;
  clm__tracing tracing;
} fixture;

static int set_up(void **state)
{
  fixture *f = calloc(1, sizeof *f);
  assert_non_null(f);
  f->folder = make_folder();
  (void)snprintf(f->path, sizeof f->path, "%s/trace.json", f->folder);
  assert_int_equal(clm__comm_open_alone(NULL, &f->comm), CLM_OK);
  *state = f;
  return 0;
}

static int tear_down(void **state)
{
  fixture *f = *state;
  clm__tracing_fini(&f->tracing);
  clm__comm_close(f->comm);
  remove_folder(f->folder);
  free(f);
  return clm__mem_get_counts().blocks_live == 0 ? 0 : -1;
}

static clm_status begin(fixture *f, const char *steps)
{
  return clm__tracing_begin(&f->tracing, f->comm, f->path, steps);
}

static void trace_a_step(fixture *f)
{
  clm__trace *trace = f->tracing.trace;
  clm__trace_begin_step(trace, 1);
  const double begin_seconds = clm__trace_begin(trace);
  const int lane = clm__trace_add_lane(trace, "a \"lane\"");
  clm__trace_end(trace, begin_seconds,
                 &(clm__trace_span){.category = "kernel",
                                    .name = "t\xff",
                                    .part = "fwd",
                                    .detail = "plain",
                                    .unit = "bytes",
                                    .amount = 12,
                                    .lane = lane});
  clm__trace_end_step(trace);
}

/* Files of the folder: nothing but the trace may be left there. */
static size_t count_files(const fixture *f)
{
  clm__file_listing listing = {0};
  assert_int_equal(clm__file_list(f->folder, &listing), CLM_OK);
  const size_t count = listing.count;
  clm__file_listing_fini(&listing);
  return count;
}

static void expect_text(const clm__json_at *object, const char *key, const char *text)
{
  const clm__json_at at = clm__json_find(object, key);
  if (!clm__json_is_text(&at, text)) fail_msg("%s is not %s", key, text);
}

static void expect_int(const clm__json_at *object, const char *key, int64_t expected)
{
  int64_t value = 0;
  const clm__json_at at = clm__json_find(object, key);
  assert_int_equal(clm__json_get_int(&at, 0, INT64_MAX, &value), CLM_OK);
  assert_true(value == expected);
}

static void check_span(const clm__json_at *event)
{
  double ts = 0.0;
  double dur = -1.0;
  const clm__json_at args = clm__json_find(event, "args");
  const clm__json_at at = clm__json_find(event, "ts");
  const clm__json_at lasts = clm__json_find(event, "dur");
  expect_text(event, "ph", "X");
  expect_text(event, "name", "t\xef\xbf\xbd.fwd");
  expect_text(event, "cat", "kernel");
  expect_int(event, "pid", 0);
  expect_int(event, "tid", 1);
  assert_int_equal(clm__json_get_number(&at, &ts), CLM_OK);
  assert_int_equal(clm__json_get_number(&lasts, &dur), CLM_OK);
  assert_true(ts >= 0.0 && ts < 60e6 && dur >= 0.0 && dur < 60e6);
  expect_int(&args, "step", 1);
  expect_int(&args, "bytes", 12);
  expect_text(&args, "kernel", "plain");
}

static void the_file_has_names_spans_and_sums(void **state)
{
  fixture *f = *state;
  char *text = NULL;
  size_t size_bytes = 0;
  clm__json *json = NULL;
  clm__tracing_sums sums = {0};
  assert_int_equal(begin(f, "1-1"), CLM_OK);
  trace_a_step(f);
  assert_int_equal(clm__tracing_write(&f->tracing, f->comm, &sums), CLM_OK);
  assert_int_equal(sums.spans, 1);
  assert_int_equal(sums.left_out, 0);
  assert_int_equal(sums.ranks, 1);
  assert_int_equal(count_files(f), 1);
  assert_int_equal(clm__file_read(f->path, 1U << 20, &text, &size_bytes), CLM_OK);
  assert_int_equal(clm__json_parse(text, size_bytes, "trace", &json), CLM_OK);
  const clm__json_at root = clm__json_root(json);
  const clm__json_at events = clm__json_find(&root, "traceEvents");
  assert_int_equal(clm__json_count(&events), 4);
  const clm__json_at lane = clm__json_item(&events, 2);
  const clm__json_at args = clm__json_find(&lane, "args");
  expect_text(&lane, "name", "thread_name");
  expect_text(&args, "name", "a \"lane\"");
  const clm__json_at span = clm__json_item(&events, 3);
  check_span(&span);
  const clm__json_at other = clm__json_find(&root, "otherData");
  expect_text(&other, "program", "clematis");
  clm__json_free(json);
  clm__mem_free(text);
}

static void steps_that_are_no_range_are_refused(void **state)
{
  fixture *f = *state;
  const char *const wrong[] = {"", "5", "5-", "-5", "0-5", "6-5", "1-5x", "1--5", " 1-5", "a-b"};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    assert_int_equal(begin(f, wrong[i]), CLM_USAGE);
    assert_non_null(strstr(clm_error_last()->message, "FIRST-LAST"));
    clm__tracing_fini(&f->tracing);
  }
  assert_int_equal(begin(f, NULL), CLM_OK);
  assert_int_equal(count_files(f), 0);
}

static void no_path_is_off(void **state)
{
  fixture *f = *state;
  assert_int_equal(clm__tracing_begin(&f->tracing, f->comm, NULL, "nonsense"), CLM_OK);
  assert_null(f->tracing.trace);
}

static void a_place_that_cannot_be_written_is_found_before(void **state)
{
  fixture *f = *state;
  (void)snprintf(f->path, sizeof f->path, "%s/nowhere/trace.json", f->folder);
  assert_int_equal(begin(f, NULL), CLM_IO);
  assert_non_null(strstr(clm_error_last()->message, "nowhere"));
}

/* Writes the trace until the nth write of this program fails. */
static clm_status write_until(fixture *f, const char *nth)
{
  clm_status status = CLM_OK;
  (void)setenv("CLEMATIS_TEST_FAIL_WRITE", nth, 1);
  for (int i = 0; i < 64 && status == CLM_OK; i++) {
    clm__tracing_sums sums = {0};
    status = clm__tracing_write(&f->tracing, f->comm, &sums);
  }
  (void)unsetenv("CLEMATIS_TEST_FAIL_WRITE");
  return status;
}

/* Whichever of its writes fails, the older file stays and nothing else is left. */
static void a_full_disk_leaves_what_was_there(void **state)
{
  fixture *f = *state;
  const char *const nth[] = {"50", "71", "92", "113", "134"};
  char *text = NULL;
  size_t size_bytes = 0;
  assert_int_equal(begin(f, "1-1"), CLM_OK);
  trace_a_step(f);
  for (size_t i = 0; i < sizeof nth / sizeof nth[0]; i++) {
    assert_int_equal(write_until(f, nth[i]), CLM_IO);
    assert_int_equal(count_files(f), 1);
  }
  assert_int_equal(clm__file_read(f->path, 1U << 20, &text, &size_bytes), CLM_OK);
  assert_string_equal(text + size_bytes - 2, "}\n");
  clm__mem_free(text);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(the_file_has_names_spans_and_sums, set_up, tear_down),
      cmocka_unit_test_setup_teardown(steps_that_are_no_range_are_refused, set_up, tear_down),
      cmocka_unit_test_setup_teardown(no_path_is_off, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_place_that_cannot_be_written_is_found_before, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(a_full_disk_leaves_what_was_there, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
