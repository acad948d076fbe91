#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "data/passes.h"

/* ---- Order and content ---- */

static void batches_come_in_order_for_any_number_of_threads(void **state)
{
  (void)state;
  for (int threads = 0; threads <= 8; threads++)
    for (int slots = 2; slots <= 5; slots += 3) {
      clm__loader_config config = default_config();
      config.threads = threads;
      config.slots = slots;
      clm__loader *loader = create_loader(&config);
      for (uint32_t epoch = 0; epoch < 3; epoch++) {
        const pass_plan plan = make_plan(epoch, 1 + epoch * 3);
        run_pass(loader, &plan, 0.0, NULL);
      }
      const clm__loader_stats stats = clm__loader_get_stats(loader);
      assert_int_equal(stats.images_decoded, 3 * COUNT);
      assert_int_equal(stats.images_from_cache, 0);
      assert_true(stats.wait_seconds >= 0.0);
      clm__loader_destroy(loader);
    }
}

static void a_plan_may_begin_in_the_middle_and_hold_empty_batches(void **state)
{
  (void)state;
  const clm__loader_config config = default_config();
  clm__loader *loader = create_loader(&config);
  pass_plan plan = make_plan(0, 8);
  static const size_t starts[] = {3, 3, 7, 7, 7, 9, 9};
  memcpy(plan.starts, starts, sizeof starts);
  plan.batch_count = 6;
  run_pass(loader, &plan, 0.0, NULL);
  plan.batch_count = 0;
  run_pass(loader, &plan, 0.0, NULL);
  clm__loader_destroy(loader);
}

static void the_same_picture_may_come_several_times(void **state)
{
  (void)state;
  for (int kind = CLM__CACHE_OFF; kind <= CLM__CACHE_F32; kind++) {
    clm__loader_config config = default_config();
    config.cache = (clm__cache_kind)kind;
    clm__loader *loader = create_loader(&config);
    pass_plan plan = make_plan(0, 8);
    for (int i = 0; i < COUNT; i++) plan.order[i] = (uint32_t)(i % 2);
    run_pass(loader, &plan, kind == CLM__CACHE_FIXED ? 1.0 / 512 : 0.0, NULL);
    clm__loader_destroy(loader);
  }
}

static void several_slots_may_be_held_and_come_back_in_any_order(void **state)
{
  (void)state;
  clm__loader_config config = default_config();
  config.slots = 4;
  clm__loader *loader = create_loader(&config);
  const pass_plan plan = make_plan(1, 5);
  begin_pass(loader, &plan);
  for (size_t b = 0; b + 3 <= plan.batch_count; b += 3) {
    clm__batch held[3];
    for (int i = 0; i < 3; i++) held[i] = next_batch(loader);
    for (int i = 0; i < 3; i++) assert_batch(&held[i], &plan, 0.0, NULL);
    for (int i = 2; i >= 0; i--) clm__loader_release(loader, &held[i]);
  }
  clm__loader_destroy(loader);
}

static void holding_every_slot_is_told_instead_of_waiting_for_ever(void **state)
{
  (void)state;
  clm__loader_config config = default_config();
  config.slots = 2;
  clm__loader *loader = create_loader(&config);
  const pass_plan plan = make_plan(1, 5);
  begin_pass(loader, &plan);
  const clm__batch first = next_batch(loader);
  const clm__batch second = next_batch(loader);
  clm__batch third;
  assert_int_equal(clm__loader_next(loader, &third), CLM_INTERNAL);
  clm__loader_release(loader, &second);
  third = next_batch(loader);
  assert_int_equal(third.index, 2);
  assert_batch(&first, &plan, 0.0, NULL);
  assert_batch(&third, &plan, 0.0, NULL);
  clm__loader_destroy(loader);
}

static void a_new_pass_drops_the_rest_of_the_old_one(void **state)
{
  (void)state;
  for (size_t taken = 0; taken < 6; taken++) {
    const clm__loader_config config = default_config();
    clm__loader *loader = create_loader(&config);
    const pass_plan old = make_plan(1, 4);
    const pass_plan new = make_plan(2, 7);
    begin_pass(loader, &old);
    for (size_t b = 0; b < taken; b++) {
      const clm__batch batch = next_batch(loader);
      clm__loader_release(loader, &batch);
    }
    run_pass(loader, &new, 0.0, NULL);
    clm__loader_destroy(loader);
  }
}

static void a_held_batch_survives_the_begin_of_a_pass(void **state)
{
  (void)state;
  const clm__loader_config config = default_config();
  clm__loader *loader = create_loader(&config);
  const pass_plan old = make_plan(1, 4);
  const pass_plan new = make_plan(2, 7);
  begin_pass(loader, &old);
  const clm__batch held = next_batch(loader);
  run_pass(loader, &new, 0.0, NULL);
  assert_batch(&held, &old, 0.0, NULL);
  clm__loader_release(loader, &held);
  run_pass(loader, &old, 0.0, NULL);
  clm__loader_destroy(loader);
}

static void a_loader_may_be_destroyed_at_any_time(void **state)
{
  (void)state;
  clm__loader_destroy(NULL);
  for (int taken = -1; taken < 4; taken++) {
    const clm__loader_config config = default_config();
    clm__loader *loader = create_loader(&config);
    const pass_plan plan = make_plan(1, 4);
    if (taken >= 0) begin_pass(loader, &plan);
    for (int b = 0; b < taken && b < 2; b++) (void)next_batch(loader);
    clm__loader_destroy(loader);
  }
}

/* ---- Memory ---- */

static clm_status allocate_counted(void *user, size_t size_bytes, void **memory)
{
  int *counts = user;
  counts[0]++;
  counts[1] = (int)size_bytes;
  return clm__mem_alloc_aligned(size_bytes, memory);
}

static void release_counted(void *user, void *memory)
{
  ((int *)user)[2]++;
  clm__mem_free(memory);
}

static void slots_live_in_the_memory_that_the_caller_gives(void **state)
{
  (void)state;
  int counts[3] = {0};
  clm__loader_config config = default_config();
  config.allocate = allocate_counted;
  config.release = release_counted;
  config.allocate_user = counts;
  clm__loader *loader = create_loader(&config);
  assert_int_equal(counts[0], config.slots);
  assert_int_equal(counts[1], 8 * EACH * 4);
  const pass_plan plan = make_plan(0, 8);
  run_pass(loader, &plan, 0.0, NULL);
  clm__loader_destroy(loader);
  assert_int_equal(counts[2], config.slots);
}

static void later_epochs_allocate_nothing(void **state)
{
  (void)state;
  clm__loader_config config = default_config();
  config.threads = 1;
  clm__loader *loader = create_loader(&config);
  const pass_plan plan = make_plan(0, 8);
  run_pass(loader, &plan, 0.0, NULL);
  const uint64_t before = clm__mem_get_counts().allocations;
  run_pass(loader, &plan, 0.0, NULL);
  run_pass(loader, &plan, 0.0, NULL);
  assert_int_equal(clm__mem_get_counts().allocations, before);
  clm__loader_destroy(loader);
}

static void every_refused_allocation_is_an_error_or_no_cache(void **state)
{
  (void)state;
  clm__loader_config config = default_config();
  config.cache = CLM__CACHE_FIXED;
  config.threads = 1;
  const pass_plan plan = make_plan(0, 8);
  const uint64_t live = clm__mem_get_counts().blocks_live;
  int refused = 0;
  int complete = 0;
  for (uint64_t nth = 1; complete < 4; nth++) {
    char text[32];
    (void)snprintf(text, sizeof text, "%llu",
                   (unsigned long long)(clm__mem_get_counts().allocations + nth));
    assert_int_equal(setenv("CLEMATIS_TEST_FAIL_ALLOC", text, 1), 0);
    clm__loader *loader = NULL;
    clm_status status = clm__loader_create(&config, &loader);
    if (status == CLM_OK)
      status = clm__loader_begin(loader, plan.order, plan.starts, plan.batch_count);
    for (size_t b = 0; b < plan.batch_count && status == CLM_OK; b++) {
      clm__batch batch;
      status = clm__loader_next(loader, &batch);
      if (status == CLM_OK) clm__loader_release(loader, &batch);
    }
    clm__loader_destroy(loader);
    assert_true(status == CLM_OK || status == CLM_NO_MEMORY);
    if (status == CLM_NO_MEMORY) refused++;
    if (status == CLM_OK) complete++;
    assert_int_equal(clm__mem_get_counts().blocks_live, live);
  }
  assert_int_equal(unsetenv("CLEMATIS_TEST_FAIL_ALLOC"), 0);
  assert_true(refused > 20);
}

static void assert_refused(const clm__loader_config *config, const char *reason)
{
  clm__loader *loader = NULL;
  assert_int_equal(clm__loader_create(config, &loader), CLM_USAGE);
  assert_null(loader);
  if (strstr(clm_error_last()->message, reason) == NULL)
    fail_msg("\"%s\", expected \"%s\"", clm_error_last()->message, reason);
}

static void impossible_configurations_are_usage_errors(void **state)
{
  (void)state;
  clm__loader_config config = default_config();
  config.batch_max = 0;
  assert_refused(&config, "at least one picture");
  config = default_config();
  config.slots = 1;
  assert_refused(&config, "at least 2 slots");
  config = default_config();
  config.resize.width = 0;
  assert_refused(&config, "1 x 1");
  config = default_config();
  config.resize.width = INT32_MAX;
  config.resize.height = INT32_MAX;
  assert_refused(&config, "too large");
  config = default_config();
  config.decode.channels = 5;
  assert_refused(&config, "channels");
}

static void impossible_plans_are_our_own_bug(void **state)
{
  (void)state;
  const clm__loader_config config = default_config();
  clm__loader *loader = create_loader(&config);
  pass_plan plan = make_plan(0, 8);
  plan.order[13] = COUNT;
  assert_int_equal(clm__loader_begin(loader, plan.order, plan.starts, plan.batch_count),
                   CLM_INTERNAL);
  plan = make_plan(0, 9);
  assert_int_equal(clm__loader_begin(loader, plan.order, plan.starts, plan.batch_count),
                   CLM_INTERNAL);
  clm__loader_destroy(loader);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      LOADER_TEST(batches_come_in_order_for_any_number_of_threads),
      LOADER_TEST(a_plan_may_begin_in_the_middle_and_hold_empty_batches),
      LOADER_TEST(the_same_picture_may_come_several_times),
      LOADER_TEST(several_slots_may_be_held_and_come_back_in_any_order),
      LOADER_TEST(holding_every_slot_is_told_instead_of_waiting_for_ever),
      LOADER_TEST(a_new_pass_drops_the_rest_of_the_old_one),
      LOADER_TEST(a_held_batch_survives_the_begin_of_a_pass),
      LOADER_TEST(a_loader_may_be_destroyed_at_any_time),
      LOADER_TEST(slots_live_in_the_memory_that_the_caller_gives),
      LOADER_TEST(later_epochs_allocate_nothing),
      LOADER_TEST(every_refused_allocation_is_an_error_or_no_cache),
      LOADER_TEST(impossible_configurations_are_usage_errors),
      LOADER_TEST(impossible_plans_are_our_own_bug),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
