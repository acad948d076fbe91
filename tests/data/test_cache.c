#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "data/passes.h"
#include "support/folder.h"
#include "sys/file.h"

/* ---- The cache ---- */

static void the_second_epoch_comes_from_the_cache(void **state)
{
  (void)state;
  clm__loader_config config = default_config();
  config.cache = CLM__CACHE_F32;
  clm__loader *loader = create_loader(&config);
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
  clm__loader *loader = create_loader(&config);
  assert_int_equal(clm__loader_get_stats(loader).cache_bound_bytes, COUNT * EACH * 2);
  const pass_plan plan = make_plan(0, 8);
  float *first = malloc(COUNT * EACH * sizeof *first);
  for (int epoch = 0; epoch < 2; epoch++) {
    begin_pass(loader, &plan);
    for (size_t b = 0; b < plan.batch_count; b++) {
      const clm__batch batch = next_batch(loader);
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
  const clm__cache_config config = {.kind = CLM__CACHE_FIXED,
                                    .count = 1,
                                    .values_each = 4,
                                    .overshoots = true,
                                    .memory_count = 1};
  assert_int_equal(clm__cache_create(&config, &cache), CLM_OK);
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
  clm__loader *loader = create_loader(&config);
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
  loader = create_loader(&config);
  assert_int_equal(seen.infos, 1);
  assert_non_null(strstr(seen.last, "at most"));
  assert_int_equal(clm__loader_get_stats(loader).cache_bound_bytes, COUNT * EACH * 2);
  clm__loader_destroy(loader);
}

/* ---- What goes to a file ---- */

static char *file_folder;

static int make_file_folder(void **state)
{
  (void)state;
  file_folder = make_folder();
  return 0;
}

static int remove_file_folder(void **state)
{
  (void)state;
  remove_folder(file_folder);
  return 0;
}

/* A loader that keeps `count` pictures in memory and may keep `limit` of them there. */
static clm__loader *create_split(clm__cache_kind kind, uint64_t count, uint64_t limit,
                                 const clm_log *log)
{
  const uint64_t each = EACH * (kind == CLM__CACHE_F32 ? 4 : 2);
  clm__loader_config config = default_config();
  config.cache = kind;
  config.log = log;
  config.cache_memory_bytes = count * each + 1;
  config.cache_limit_bytes = limit * each;
  config.cache_folder = file_folder;
  return create_loader(&config);
}

static void what_memory_does_not_take_a_file_does(void **state)
{
  (void)state;
  const clm__cache_kind kinds[2] = {CLM__CACHE_FIXED, CLM__CACHE_F32};
  for (int i = 0; i < 4; i++) {
    const clm__cache_kind kind = kinds[i % 2];
    const uint64_t each = EACH * (kind == CLM__CACHE_F32 ? 4 : 2);
    const uint64_t in_memory = i < 2 ? 0 : 7;
    clm__loader *loader = create_split(kind, in_memory, in_memory, NULL);
    clm__file_listing listing = {0};
    assert_int_equal(clm__file_list(file_folder, &listing), CLM_OK);
    assert_int_equal(listing.count, 0); /* the file has no name */
    clm__file_listing_fini(&listing);
    for (uint32_t epoch = 0; epoch < 3; epoch++) {
      const pass_plan plan = make_plan(epoch, 8);
      begin_pass(loader, &plan);
      for (size_t b = 0; b < plan.batch_count; b++) {
        const clm__batch batch = next_batch(loader);
        assert_batch(&batch, &plan, kind == CLM__CACHE_F32 ? 0.0 : 1.0 / 512, NULL);
        clm__loader_release(loader, &batch);
      }
    }
    const clm__loader_stats stats = clm__loader_get_stats(loader);
    assert_int_equal(stats.images_decoded, COUNT);
    assert_int_equal(stats.images_from_cache, 2 * COUNT);
    assert_int_equal(stats.cache_bound_bytes, COUNT * each);
    assert_int_equal(stats.cache_file_bytes, (COUNT - in_memory) * each);
    clm__loader_destroy(loader);
  }
}

/* As on a full disk; the signal that comes with it is ignored. */
static void limit_files(rlim_t size_bytes)
{
  const struct rlimit limit = {size_bytes, RLIM_INFINITY};
  (void)signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void without_a_file_the_limit_counts(void **state)
{
  (void)state;
  messages seen = {0};
  const clm_log log = {receive, &seen};
  char *kept = file_folder;
  for (int missing = 0; missing < 2; missing++) {
    if (missing) file_folder = "/nowhere/at/all";
    limit_files(missing ? RLIM_INFINITY : 100);
    clm__loader *loader = create_split(CLM__CACHE_FIXED, 7, COUNT, &log);
    assert_int_equal(clm__loader_get_stats(loader).cache_bound_bytes, COUNT * EACH * 2);
    assert_int_equal(clm__loader_get_stats(loader).cache_file_bytes, 0);
    clm__loader_destroy(loader);
    loader = create_split(CLM__CACHE_FIXED, 7, COUNT - 1, &log);
    assert_non_null(strstr(seen.last, missing ? "/nowhere/at/all" : "no room"));
    assert_int_equal(clm__loader_get_stats(loader).cache_bound_bytes, 0);
    clm__loader_destroy(loader);
  }
  file_folder = kept;
}

static void a_picture_that_cannot_be_written_is_not_kept(void **state)
{
  (void)state;
  const clm__cache_config config = {.kind = CLM__CACHE_FIXED,
                                    .count = 3,
                                    .values_each = 1000,
                                    .memory_count = 1,
                                    .folder = file_folder};
  clm__cache *cache = NULL;
  float values[1000], again[1000];
  assert_int_equal(clm__cache_create(&config, &cache), CLM_OK);
  limit_files(3000); /* the second one in the file needs 4000 */
  for (size_t i = 0; i < 3; i++) {
    for (int v = 0; v < 1000; v++) values[v] = (float)v * 0.2501F;
    clm__cache_put(cache, i, values);
    assert_true(values[999] == 249.8515625F); /* rounded, kept or not */
    assert_int_equal(clm__cache_get(cache, i, again), i < 2);
    if (i < 2) assert_memory_equal(values, again, sizeof again);
  }
  limit_files(RLIM_INFINITY);
  clm__cache_put(cache, 2, values); /* nobody tries again */
  assert_false(clm__cache_get(cache, 2, again));
  assert_int_equal(clm__cache_bytes_held(cache), 2 * 1000 * 2);
  clm__cache_destroy(cache);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      LOADER_TEST(the_second_epoch_comes_from_the_cache),
      LOADER_TEST(fixed_point_keeps_values_within_half_a_step_and_all_epochs_alike),
      cmocka_unit_test(bicubic_values_outside_the_range_survive_fixed_point),
      LOADER_TEST(a_cache_over_its_limit_is_left_off),
      LOADER_TEST(what_memory_does_not_take_a_file_does),
      LOADER_TEST(without_a_file_the_limit_counts),
      cmocka_unit_test(a_picture_that_cannot_be_written_is_not_kept),
  };
  return cmocka_run_group_tests(tests, make_file_folder, remove_file_folder);
}
