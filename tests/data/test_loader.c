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
#include "base/rng.h"
#include "data/loader.h"
#include "support/folder.h"
#include "sys/file.h"

#define HEIGHT 12
#define WIDTH 10
#define EACH (HEIGHT * WIDTH * 3)
#define COUNT 47 /* golden sources that can be read */

static char *folder;
static clm__dataset *dataset;
static float *expected; /* [COUNT,EACH] */

/* ---- A folder with every golden picture, and what its pictures look like ---- */

static void copy_golden(const char *name, int class_index)
{
  char path[1024];
  (void)snprintf(path, sizeof path, "%s/golden/pixels/src/%s", tests_folder(), name);
  char *content = NULL;
  size_t size = 0;
  assert_int_equal(clm__file_read(path, SIZE_MAX, &content, &size), CLM_OK);
  (void)snprintf(path, sizeof path, "%s/class%d", folder, class_index);
  assert_int_equal(clm__file_make_folder(path), CLM_OK);
  (void)snprintf(path, sizeof path, "%s/class%d/%s", folder, class_index, name);
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(content, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
  clm__mem_free(content);
}

static void copy_goldens(void)
{
  char path[1024];
  clm__file_listing listing;
  (void)snprintf(path, sizeof path, "%s/golden/pixels/src", tests_folder());
  assert_int_equal(clm__file_list(path, &listing), CLM_OK);
  for (size_t i = 0; i < listing.count; i++) {
    const char *name = listing.entries[i].name;
    if (strstr(name, ".bmp") == NULL && strstr(name, ".gif") == NULL)
      copy_golden(name, (int)(i % 3));
  }
  clm__file_listing_fini(&listing);
}

static void sample_path(uint32_t index, char path[2048])
{
  (void)snprintf(path, 2048, "%s/%s", folder, dataset->samples[index].path);
}

static void compute_expected(void)
{
  const clm__resize_config resize = {.height = HEIGHT, .width = WIDTH};
  const clm__decode_options options = {.channels = 3};
  expected = malloc(COUNT * EACH * sizeof *expected);
  clm__image image = {0};
  for (uint32_t i = 0; i < COUNT; i++) {
    char path[2048];
    sample_path(i, path);
    char *content = NULL;
    size_t size = 0;
    assert_int_equal(clm__file_read(path, SIZE_MAX, &content, &size), CLM_OK);
    assert_int_equal(clm__decode(content, size, &options, &image), CLM_OK);
    assert_int_equal(clm__resize(&image, &resize, expected + (size_t)i * EACH), CLM_OK);
    clm__mem_free(content);
  }
  clm__image_fini(&image);
}

static int set_up(void **state)
{
  (void)state;
  folder = make_folder();
  copy_goldens();
  const clm__dataset_config config = {.folder = folder, .shuffle = true, .seed = 1};
  assert_int_equal(clm__dataset_open(&config, &dataset), CLM_OK);
  assert_int_equal(dataset->count, COUNT);
  compute_expected();
  return 0;
}

static int tear_down(void **state)
{
  (void)state;
  clm__dataset_close(dataset);
  dataset = NULL;
  free(expected);
  remove_folder(folder);
  return 0;
}

static clm__loader_config default_config(void)
{
  return (clm__loader_config){.dataset = dataset,
                              .resize = {.height = HEIGHT, .width = WIDTH},
                              .decode = {.channels = 3},
                              .batch_max = 8,
                              .threads = 3,
                              .slots = 3,
                              .cache_limit_bytes = UINT64_MAX};
}

static clm__loader *create(const clm__loader_config *config)
{
  clm__loader *loader = NULL;
  if (clm__loader_create(config, &loader) != CLM_OK) fail_msg("%s", clm_error_last()->message);
  return loader;
}

typedef struct pass_plan {
  uint32_t order[COUNT];
  size_t starts[COUNT + 2];
  size_t batch_count;
} pass_plan;

static pass_plan make_plan(uint32_t epoch, size_t batch)
{
  pass_plan made = {0};
  clm__rng_permutation(5, epoch, made.order, COUNT);
  while (made.starts[made.batch_count] < COUNT) {
    const size_t stop = made.starts[made.batch_count] + batch;
    made.starts[++made.batch_count] = stop < COUNT ? stop : COUNT;
  }
  return made;
}

static void begin(clm__loader *loader, const pass_plan *plan)
{
  assert_int_equal(clm__loader_begin(loader, plan->order, plan->starts, plan->batch_count), CLM_OK);
}

static clm__batch next(clm__loader *loader)
{
  clm__batch batch;
  if (clm__loader_next(loader, &batch) != CLM_OK) fail_msg("%s", clm_error_last()->message);
  return batch;
}

/* A batch holds the images of the plan in its order, but for those that are `missing`. */
static void assert_batch(const clm__batch *batch, const pass_plan *plan, double tolerance,
                         const bool *missing)
{
  int at = 0;
  for (size_t i = plan->starts[batch->index]; i < plan->starts[batch->index + 1]; i++) {
    const uint32_t sample = plan->order[i];
    if (missing != NULL && missing[sample]) continue;
    assert_int_equal(batch->samples[at], sample);
    assert_int_equal(batch->labels[at], dataset->samples[sample].label);
    const float *actual = batch->pixels + (size_t)at * EACH;
    const float *wanted = expected + (size_t)sample * EACH;
    for (int k = 0; k < EACH; k++)
      assert_true(fabs((double)actual[k] - (double)wanted[k]) <= tolerance);
    at++;
  }
  assert_int_equal(batch->count, at);
  assert_int_equal(batch->planned_count,
                   plan->starts[batch->index + 1] - plan->starts[batch->index]);
}

static void run_pass(clm__loader *loader, const pass_plan *plan, double tolerance,
                     const bool *missing)
{
  begin(loader, plan);
  for (size_t b = 0; b < plan->batch_count; b++) {
    const clm__batch batch = next(loader);
    assert_int_equal(batch.index, b);
    assert_batch(&batch, plan, tolerance, missing);
    clm__loader_release(loader, &batch);
  }
  const clm__batch end = next(loader);
  assert_int_equal(end.count, 0);
  assert_int_equal(end.index, plan->batch_count);
  clm__loader_release(loader, &end);
}

/* ---- Order and content ---- */

static void batches_come_in_order_for_any_number_of_threads(void **state)
{
  (void)state;
  for (int threads = 0; threads <= 8; threads++)
    for (int slots = 2; slots <= 5; slots += 3) {
      clm__loader_config config = default_config();
      config.threads = threads;
      config.slots = slots;
      clm__loader *loader = create(&config);
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
  clm__loader *loader = create(&config);
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
    clm__loader *loader = create(&config);
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
  clm__loader *loader = create(&config);
  const pass_plan plan = make_plan(1, 5);
  begin(loader, &plan);
  for (size_t b = 0; b + 3 <= plan.batch_count; b += 3) {
    clm__batch held[3];
    for (int i = 0; i < 3; i++) held[i] = next(loader);
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
  clm__loader *loader = create(&config);
  const pass_plan plan = make_plan(1, 5);
  begin(loader, &plan);
  const clm__batch first = next(loader);
  const clm__batch second = next(loader);
  clm__batch third;
  assert_int_equal(clm__loader_next(loader, &third), CLM_INTERNAL);
  clm__loader_release(loader, &second);
  third = next(loader);
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
    clm__loader *loader = create(&config);
    const pass_plan old = make_plan(1, 4);
    const pass_plan new = make_plan(2, 7);
    begin(loader, &old);
    for (size_t b = 0; b < taken; b++) {
      const clm__batch batch = next(loader);
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
  clm__loader *loader = create(&config);
  const pass_plan old = make_plan(1, 4);
  const pass_plan new = make_plan(2, 7);
  begin(loader, &old);
  const clm__batch held = next(loader);
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
    clm__loader *loader = create(&config);
    const pass_plan plan = make_plan(1, 4);
    if (taken >= 0) begin(loader, &plan);
    for (int b = 0; b < taken && b < 2; b++) (void)next(loader);
    clm__loader_destroy(loader);
  }
}

/* ---- The cache ---- */

static void the_second_epoch_comes_from_the_cache(void **state)
{
  (void)state;
  clm__loader_config config = default_config();
  config.cache = CLM__CACHE_F32;
  clm__loader *loader = create(&config);
  assert_int_equal(clm__loader_get_stats(loader).cache_bound_bytes, COUNT * EACH * 4);
  for (uint32_t epoch = 0; epoch < 3; epoch++) {
    const pass_plan plan = make_plan(epoch, 8);
    run_pass(loader, &plan, 0.0, NULL);
  }
  const clm__loader_stats stats = clm__loader_get_stats(loader);
  assert_int_equal(stats.images_decoded, COUNT);
  assert_int_equal(stats.images_from_cache, 2 * COUNT);
  assert_int_equal(stats.cache_bytes, COUNT * EACH * 4);
  clm__loader_destroy(loader);
}

static void fixed_point_keeps_values_within_half_a_step_and_all_epochs_alike(void **state)
{
  (void)state;
  clm__loader_config config = default_config();
  config.cache = CLM__CACHE_FIXED;
  clm__loader *loader = create(&config);
  assert_int_equal(clm__loader_get_stats(loader).cache_bound_bytes, COUNT * EACH * 2);
  const pass_plan plan = make_plan(0, 8);
  float *first = malloc(COUNT * EACH * sizeof *first);
  for (int epoch = 0; epoch < 2; epoch++) {
    begin(loader, &plan);
    for (size_t b = 0; b < plan.batch_count; b++) {
      const clm__batch batch = next(loader);
      assert_batch(&batch, &plan, 1.0 / 512, NULL);
      float *kept = first + plan.starts[b] * EACH;
      const size_t size = (size_t)batch.count * EACH * sizeof *kept;
      if (epoch == 0) memcpy(kept, batch.pixels, size);
      assert_memory_equal(kept, batch.pixels, size);
      clm__loader_release(loader, &batch);
    }
  }
  assert_int_equal(clm__loader_get_stats(loader).cache_bytes, COUNT * EACH * 2);
  free(first);
  clm__loader_destroy(loader);
}

static void bicubic_values_outside_the_range_survive_fixed_point(void **state)
{
  (void)state;
  clm__cache *cache = NULL;
  assert_int_equal(clm__cache_create(CLM__CACHE_FIXED, 1, 4, true, &cache), CLM_OK);
  float values[4] = {-71.7F, 326.7F, 0.0F, 255.0F};
  const float before[4] = {-71.7F, 326.7F, 0.0F, 255.0F};
  clm__cache_put(cache, 0, values);
  float again[4];
  assert_true(clm__cache_get(cache, 0, again));
  assert_memory_equal(values, again, sizeof again);
  for (int i = 0; i < 4; i++) assert_true(fabs((double)again[i] - (double)before[i]) <= 1.0 / 256);
  clm__cache_destroy(cache);
}

typedef struct messages {
  int infos;
  int warnings;
  char last[512];
} messages;

static void receive(void *user, clm_log_level level, const char *message)
{
  messages *seen = user;
  if (level == CLM_LOG_INFO) seen->infos++;
  if (level == CLM_LOG_WARNING) seen->warnings++;
  (void)snprintf(seen->last, sizeof seen->last, "%s", message);
}

static void a_cache_over_its_limit_is_left_off(void **state)
{
  (void)state;
  messages seen = {0};
  const clm_log log = {receive, &seen};
  clm__loader_config config = default_config();
  config.cache = CLM__CACHE_FIXED;
  config.log = &log;
  config.cache_limit_bytes = COUNT * EACH * 2 - 1;
  clm__loader *loader = create(&config);
  assert_int_equal(seen.infos, 1);
  assert_non_null(strstr(seen.last, "no cache"));
  const pass_plan plan = make_plan(0, 8);
  run_pass(loader, &plan, 0.0, NULL);
  run_pass(loader, &plan, 0.0, NULL);
  const clm__loader_stats stats = clm__loader_get_stats(loader);
  assert_int_equal(stats.images_decoded, 2 * COUNT);
  assert_int_equal(stats.cache_bound_bytes, 0);
  assert_int_equal(stats.cache_bytes, 0);
  clm__loader_destroy(loader);

  config.cache_limit_bytes++;
  loader = create(&config);
  assert_int_equal(seen.infos, 2);
  assert_non_null(strstr(seen.last, "at most"));
  assert_int_equal(clm__loader_get_stats(loader).cache_bound_bytes, COUNT * EACH * 2);
  clm__loader_destroy(loader);
}

/* ---- Files that go bad after the check ---- */

static void spoil(uint32_t index)
{
  char path[2048];
  sample_path(index, path);
  assert_int_equal(truncate(path, 20), 0);
}

static void a_file_that_went_bad_is_named_once_and_left_out(void **state)
{
  (void)state;
  bool missing[COUNT] = {false};
  static const uint32_t bad[] = {0, 1, 7, 20, 46};
  for (size_t i = 0; i < 4; i++) {
    spoil(bad[i]);
    missing[bad[i]] = true;
  }
  char path[2048];
  sample_path(bad[4], path);
  assert_int_equal(unlink(path), 0);
  missing[bad[4]] = true;
  for (int threads = 1; threads <= 4; threads += 3) {
    messages seen = {0};
    const clm_log log = {receive, &seen};
    clm__loader_config config = default_config();
    config.threads = threads;
    config.log = &log;
    clm__loader *loader = create(&config);
    for (uint32_t epoch = 0; epoch < 3; epoch++) {
      const pass_plan plan = make_plan(epoch, 8);
      run_pass(loader, &plan, 0.0, missing);
    }
    assert_int_equal(seen.warnings, 5);
    assert_int_equal(clm__loader_get_stats(loader).images_skipped, 15);
    clm__loader_destroy(loader);
  }
}

static void a_batch_may_lose_all_its_images(void **state)
{
  (void)state;
  bool missing[COUNT] = {false};
  const pass_plan plan = make_plan(0, 3);
  for (size_t i = plan.starts[2]; i < plan.starts[3]; i++) {
    spoil(plan.order[i]);
    missing[plan.order[i]] = true;
  }
  const clm__loader_config config = default_config();
  clm__loader *loader = create(&config);
  run_pass(loader, &plan, 0.0, missing);
  clm__loader_destroy(loader);
}

static void a_cached_picture_outlives_its_file(void **state)
{
  (void)state;
  clm__loader_config config = default_config();
  config.cache = CLM__CACHE_F32;
  clm__loader *loader = create(&config);
  const pass_plan plan = make_plan(0, 8);
  run_pass(loader, &plan, 0.0, NULL);
  for (uint32_t i = 0; i < COUNT; i++) spoil(i);
  run_pass(loader, &plan, 0.0, NULL);
  clm__loader_destroy(loader);
}

static void strict_fails_at_the_first_bad_image_for_any_number_of_threads(void **state)
{
  (void)state;
  const pass_plan plan = make_plan(0, 8);
  spoil(plan.order[19]);
  spoil(plan.order[21]);
  for (int threads = 1; threads <= 8; threads++) {
    clm__loader_config config = default_config();
    config.strict = true;
    config.threads = threads;
    clm__loader *loader = create(&config);
    begin(loader, &plan);
    for (int b = 0; b < 2; b++) {
      const clm__batch batch = next(loader);
      assert_batch(&batch, &plan, 0.0, NULL);
      clm__loader_release(loader, &batch);
    }
    for (int again = 0; again < 2; again++) {
      clm__batch batch;
      assert_int_equal(clm__loader_next(loader, &batch), CLM_BAD_DATA);
      char path[2048];
      sample_path(plan.order[19], path);
      assert_non_null(strstr(clm_error_last()->message, path));
    }
    begin(loader, &plan);
    const clm__batch batch = next(loader);
    assert_batch(&batch, &plan, 0.0, NULL);
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
  clm__loader *loader = create(&config);
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
  clm__loader *loader = create(&config);
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
  clm__loader *loader = create(&config);
  pass_plan plan = make_plan(0, 8);
  plan.order[13] = COUNT;
  assert_int_equal(clm__loader_begin(loader, plan.order, plan.starts, plan.batch_count),
                   CLM_INTERNAL);
  plan = make_plan(0, 9);
  assert_int_equal(clm__loader_begin(loader, plan.order, plan.starts, plan.batch_count),
                   CLM_INTERNAL);
  clm__loader_destroy(loader);
}

#define LOADER_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

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
      LOADER_TEST(the_second_epoch_comes_from_the_cache),
      LOADER_TEST(fixed_point_keeps_values_within_half_a_step_and_all_epochs_alike),
      LOADER_TEST(bicubic_values_outside_the_range_survive_fixed_point),
      LOADER_TEST(a_cache_over_its_limit_is_left_off),
      LOADER_TEST(a_file_that_went_bad_is_named_once_and_left_out),
      LOADER_TEST(a_batch_may_lose_all_its_images),
      LOADER_TEST(a_cached_picture_outlives_its_file),
      LOADER_TEST(strict_fails_at_the_first_bad_image_for_any_number_of_threads),
      LOADER_TEST(slots_live_in_the_memory_that_the_caller_gives),
      LOADER_TEST(later_epochs_allocate_nothing),
      LOADER_TEST(every_refused_allocation_is_an_error_or_no_cache),
      LOADER_TEST(impossible_configurations_are_usage_errors),
      LOADER_TEST(impossible_plans_are_our_own_bug),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
