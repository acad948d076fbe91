/* Shares over a run: read, found by step, and written so that they can be read again. */
#include "op/asserts.h"

#include "base/mem.h"
#include "train/share_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void sets_count_from_their_steps(void **state)
{
  (void)state;
  clm__share_plan plan = {0};
  assert_ok(clm__share_plan_read("1,3;13:700,300;45:2.5,1e-3", 2, &plan));
  assert_int_equal(plan.count, 3);
  assert_true(plan.shares[1] == 3.0 && plan.shares[2] == 700.0 && plan.shares[5] == 1e-3);
  assert_int_equal(clm__share_plan_find(&plan, 1), 0);
  assert_int_equal(clm__share_plan_find(&plan, 12), 0);
  assert_int_equal(clm__share_plan_find(&plan, 13), 1);
  assert_int_equal(clm__share_plan_find(&plan, 44), 1);
  assert_int_equal(clm__share_plan_find(&plan, UINT64_MAX), 2);
  clm__share_plan_fini(&plan);
  assert_ok(clm__share_plan_read("41:1,2,3", 3, &plan));
  assert_int_equal(plan.count, 1);
  assert_int_equal(clm__share_plan_find(&plan, 1), 0);
  clm__share_plan_fini(&plan);
}

static void mistakes_are_named(void **state)
{
  static const struct {
    const char *text;
    const char *words;
  } cases[] = {{"1", "\"1\" are not one number for each of the 2 devices"},
               {"1,2,3", "are not one number for each of the 2 devices"},
               {"1,0", "are not numbers above 0"},
               {"", "are not numbers above 0"},
               {"1,2;", "\"\" do not begin behind"},
               {"1,2;0:1,2", "do not begin with the number of a step"},
               {"1,2;2.5:1,2", "do not begin with the number of a step"},
               {"1,2;:1,2", "do not begin with the number of a step"},
               {"1,2;1e30:1,2", "do not begin with the number of a step"},
               {"1,2;3:1,2:3", "are not numbers above 0"},
               {"1,2;9:1,2;9:2,1", "\"2,1\" do not begin behind"},
               {"1,2;1:1,2", "\"1,2\" do not begin behind"}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    clm__share_plan plan = {0};
    assert_refused(clm__share_plan_read(cases[i].text, 2, &plan), CLM_USAGE, cases[i].words);
    assert_null(plan.steps);
  }
}

static void shares_of_several_do_not_fit_one(void **state)
{
  (void)state;
  clm__share_plan plan = {0};
  assert_refused(clm__share_plan_read("1,3", 1, &plan), CLM_USAGE,
                 "\"1,3\" are those of several devices, and this job has one");
}

static void texts_grow(void **state)
{
  static const struct {
    const char *before;
    uint64_t step;
    const char *shares;
    const char *after;
  } cases[] = {{NULL, 1, "1,1", "1,1"},
               {NULL, 41, "1,1", "41:1,1"},
               {"1,1", 5, "2,1", "1,1;5:2,1"},
               {"1,1", 5, "1,1", "1,1"},
               {"1,1", 1, "2,1", "2,1"},
               {"1,1;5:2,1", 9, "2,1", "1,1;5:2,1"},
               {"1,1;5:2,1", 9, "1,1", "1,1;5:2,1;9:1,1"},
               {"1,1;5:2,1", 5, "3,1", "1,1;5:3,1"},
               {"1,1;5:2,1;9:4,1", 5, "1,1", "1,1"},
               {"1,1;5:2,1", 9, "1,1,1", "9:1,1,1"},
               {"1,1", 9, "21,1", "1,1;9:21,1"},
               {"21,1", 9, "1,1", "21,1;9:1,1"},
               {"", 3, "1,1", "3:1,1"},
               {";;:", 3, "1,1", "3:1,1"}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char *after = NULL;
    assert_ok(clm__share_plan_extend(cases[i].before, cases[i].step, cases[i].shares, &after));
    assert_string_equal(after, cases[i].after);
    clm__mem_free(after);
  }
}

static void every_allocation_may_fail(void **state)
{
  (void)state;
  const uint64_t live = clm__mem_get_counts().blocks_live;
  uint64_t failures = 0;
  for (;; failures++) {
    char text[32];
    clm__share_plan plan = {0};
    char *after = NULL;
    (void)snprintf(text, sizeof text, "%llu",
                   (unsigned long long)(clm__mem_get_counts().allocations + 1 + failures));
    (void)setenv("CLEMATIS_TEST_FAIL_ALLOC", text, 1);
    clm_status status = clm__share_plan_read("1,3;13:700,300", 2, &plan);
    if (status == CLM_OK) status = clm__share_plan_extend("1,3;13:700,300", 20, "1,1", &after);
    (void)unsetenv("CLEMATIS_TEST_FAIL_ALLOC");
    clm__share_plan_fini(&plan);
    clm__mem_free(after);
    assert_int_equal(clm__mem_get_counts().blocks_live, live);
    if (status == CLM_OK) break;
    assert_int_equal(status, CLM_NO_MEMORY);
  }
  assert_true(failures >= 3);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sets_count_from_their_steps), cmocka_unit_test(mistakes_are_named),
      cmocka_unit_test(shares_of_several_do_not_fit_one),
      cmocka_unit_test(texts_grow), cmocka_unit_test(every_allocation_may_fail)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
