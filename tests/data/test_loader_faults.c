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
    clm__loader *loader = create_loader(&config);
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
  clm__loader *loader = create_loader(&config);
  run_pass(loader, &plan, 0.0, missing);
  clm__loader_destroy(loader);
}

static void a_cached_picture_outlives_its_file(void **state)
{
  (void)state;
  clm__loader_config config = default_config();
  config.cache = CLM__CACHE_F32;
  clm__loader *loader = create_loader(&config);
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
    clm__loader *loader = create_loader(&config);
    begin_pass(loader, &plan);
    for (int b = 0; b < 2; b++) {
      const clm__batch batch = next_batch(loader);
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
    begin_pass(loader, &plan);
    const clm__batch batch = next_batch(loader);
    assert_batch(&batch, &plan, 0.0, NULL);
    clm__loader_destroy(loader);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      LOADER_TEST(a_file_that_went_bad_is_named_once_and_left_out),
      LOADER_TEST(a_batch_may_lose_all_its_images),
      LOADER_TEST(a_cached_picture_outlives_its_file),
      LOADER_TEST(strict_fails_at_the_first_bad_image_for_any_number_of_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
