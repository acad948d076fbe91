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

int main(void)
{
  const struct CMUnitTest tests[] = {
      LOADER_TEST(the_second_epoch_comes_from_the_cache),
      LOADER_TEST(fixed_point_keeps_values_within_half_a_step_and_all_epochs_alike),
      cmocka_unit_test(bicubic_values_outside_the_range_survive_fixed_point),
      LOADER_TEST(a_cache_over_its_limit_is_left_off),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
