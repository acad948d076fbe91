#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "sys/clock.h"
#include "sys/thread.h"
#include "sys/trace.h"

#include <stdio.h>

enum { SPANS = 5 };

static clm__trace *make(void)
{
  const clm__trace_config config = {.first_step = 2, .last_step = 3, .span_max = SPANS};
  clm__trace *trace = NULL;
  assert_int_equal(clm__trace_create(&config, &trace), CLM_OK);
  return trace;
}

/* A span from now until now. */
static void add(clm__trace *trace, const char *name)
{
  const double begin = clm__trace_begin(trace);
  clm__trace_end(trace, begin, &(clm__trace_span){.category = "test", .name = name});
}

static void spans_are_kept_in_the_steps_that_are_wanted(void **state)
{
  (void)state;
  clm__trace *trace = make();
  add(trace, "before all");
  for (uint64_t step = 1; step <= 4; step++) {
    clm__trace_begin_step(trace, step);
    assert_int_equal(clm__trace_is_on(trace), step == 2 || step == 3);
    add(trace, "inside");
    clm__trace_end_step(trace);
    add(trace, "behind");
  }
  const clm__trace_counts counts = clm__trace_get_counts(trace);
  assert_int_equal(counts.spans, 4);
  assert_int_equal(counts.left_out, 0);
  for (size_t i = 0; i < counts.spans; i++) {
    const clm__trace_span *span = clm__trace_get_span(trace, i);
    assert_int_equal(span->step, i % 2 == 0 ? 2 + i / 2 : 0);
    assert_string_equal(span->name, i % 2 == 0 ? "inside" : "behind");
    assert_true(span->begin_seconds <= span->end_seconds);
    assert_true(span->end_seconds <= clm__clock_seconds());
  }
  clm__trace_destroy(trace);
}

static void what_does_not_fit_is_counted_and_nothing_is_allocated(void **state)
{
  (void)state;
  clm__trace *trace = make();
  const uint64_t before = clm__mem_get_counts().allocations;
  clm__trace_begin_step(trace, 2);
  for (int i = 0; i < SPANS + 3; i++) add(trace, "one");
  clm__trace_leave_out(trace);
  assert_int_equal(clm__mem_get_counts().allocations, before);
  assert_int_equal(clm__trace_get_counts(trace).spans, SPANS);
  assert_int_equal(clm__trace_get_counts(trace).left_out, 4);
  clm__trace_destroy(trace);
}

static void lanes_have_names_and_an_end(void **state)
{
  (void)state;
  clm__trace *trace = make();
  char name[] = "first";
  assert_int_equal(clm__trace_add_lane(trace, name), 1);
  name[0] = '?';
  assert_string_equal(clm__trace_get_lane(trace, CLM__TRACE_MAIN), "main");
  assert_string_equal(clm__trace_get_lane(trace, 1), "first");
  assert_int_equal(clm__trace_add_lane(trace, "first"), 1);
  int last = 0;
  for (int i = 0; i < 1000; i++) {
    char more[16];
    (void)snprintf(more, sizeof more, "more %d", i);
    last = clm__trace_add_lane(trace, more);
  }
  assert_int_equal(last, clm__trace_get_counts(trace).lanes - 1);
  assert_string_equal(clm__trace_get_lane(trace, last), "the rest");
  clm__trace_destroy(trace);
}

static void no_trace_is_off(void **state)
{
  (void)state;
  assert_false(clm__trace_is_on(NULL));
  assert_int_equal(clm__trace_add_lane(NULL, "lane"), CLM__TRACE_MAIN);
  clm__trace_begin_step(NULL, 1);
  clm__trace_end_step(NULL);
  assert_int_equal(clm__trace_step(NULL), 0);
  add(NULL, "nothing");
  clm__trace_add(NULL, &(clm__trace_span){.name = "nothing"});
  clm__trace_destroy(NULL);
}

static void *add_some(void *trace)
{
  for (int i = 0; i < SPANS; i++) add(trace, "of a thread");
  return NULL;
}

static void threads_add_side_by_side(void **state)
{
  (void)state;
  clm__trace *trace = make();
  clm__thread threads[4] = {0};
  clm__trace_begin_step(trace, 2);
  for (int i = 0; i < 4; i++)
    assert_int_equal(clm__thread_start(&threads[i], "test", add_some, trace), CLM_OK);
  for (int i = 0; i < 4; i++) clm__thread_join(&threads[i]);
  const clm__trace_counts counts = clm__trace_get_counts(trace);
  assert_int_equal(counts.spans, SPANS);
  assert_int_equal(counts.left_out, 3 * SPANS);
  clm__trace_destroy(trace);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(spans_are_kept_in_the_steps_that_are_wanted),
      cmocka_unit_test(what_does_not_fit_is_counted_and_nothing_is_allocated),
      cmocka_unit_test(lanes_have_names_and_an_end),
      cmocka_unit_test(no_trace_is_off),
      cmocka_unit_test(threads_add_side_by_side),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
