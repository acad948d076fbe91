#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "io/hdf5.h"
#include "support/folder.h"
#include "sys/file.h"
#include "train/session.h"
#include "train/session_model.h"

#include <stdio.h>
#include <string.h>

typedef struct fixture {
  char *scratch;
  clm__run_folder folder;
  clm__model_file model;
  clm__run_state state;
  clm__saver *saver;
} fixture;

static fixture test;

static void assert_ok(clm_status status)
{
  if (status != CLM_OK) fail_msg("%s: %s", clm_status_name(status), clm_error_last()->message);
}

static int set_up(void **state)
{
  char out[1024];
  test = (fixture){.scratch = make_folder()};
  (void)snprintf(out, sizeof out, "%s/run", test.scratch);
  assert_ok(clm__run_folder_open(&test.folder, out, false));
  clm_train_config config = clm_train_config_default();
  config.image_height = 24;
  config.image_width = 32;
  assert_ok(clm__session_make_model(&config, 5, &test.model));
  test.state.batch_size = 10;
  test.state.best_epoch = -1;
  const clm__saver_config saver = {.folder = &test.folder, .model = &test.model, .keep = 2};
  assert_ok(clm__saver_create(&saver, &test.saver));
  *state = &test;
  return 0;
}

static int tear_down(void **state)
{
  (void)state;
  clm__saver_destroy(test.saver);
  clm__model_file_fini(&test.model);
  clm__run_state_fini(&test.state);
  clm__run_folder_fini(&test.folder);
  remove_folder(test.scratch);
  return clm__mem_get_counts().blocks_live == 0 ? 0 : -1;
}

static void start(uint64_t images_seen, bool to_best, bool to_checkpoints)
{
  test.state.images_seen = images_seen;
  test.state.step = images_seen / 10;
  test.model.optim_state->iterations = (int64_t)images_seen / 10;
  const clm__saver_job job = {
      .state = &test.state, .to_best = to_best, .to_checkpoints = to_checkpoints};
  assert_ok(clm__saver_start(test.saver, &job));
}

static void what_is_written_is_the_moment_of_the_start(void **unused)
{
  (void)unused;
  test.model.weights->values[0] = 3.5F;
  start(30, false, true);
  /* What training changes at once. */
  test.state.step = 77;
  test.model.optim_state->iterations = 78;
  clm__saver_wait(test.saver);
  assert_ok(clm__saver_take_failure(test.saver));
  clm__model_file model = {0};
  clm__run_state state = {0};
  assert_ok(clm__checkpoint_load(&test.folder, NULL, &model, &state));
  assert_true(model.weights->values[0] == 3.5F);
  assert_int_equal(model.optim_state->iterations, 3);
  assert_int_equal(state.step, 3);
  assert_int_equal(state.images_seen, 30);
  clm__model_file_fini(&model);
  clm__run_state_fini(&state);
  assert_false(clm__file_exists(test.folder.best));
}

static void the_newest_are_kept(void **unused)
{
  (void)unused;
  for (uint64_t images = 10; images <= 50; images += 10) {
    start(images, images == 20, true);
    clm__saver_wait(test.saver);
  }
  clm__file_listing listing = {0};
  assert_ok(clm__file_list(test.folder.checkpoints, &listing));
  assert_int_equal(listing.count, 2);
  assert_string_equal(listing.entries[0].name, "images-000000000040.keras");
  assert_string_equal(listing.entries[1].name, "images-000000000050.keras");
  clm__file_listing_fini(&listing);
  assert_true(clm__file_exists(test.folder.best));
}

static void destroying_ends_the_write(void **unused)
{
  (void)unused;
  start(10, true, true);
  clm__saver_destroy(test.saver);
  test.saver = NULL;
  clm__model_file model = {0};
  clm__run_state state = {0};
  assert_ok(clm__checkpoint_load(&test.folder, NULL, &model, &state));
  clm__model_file_fini(&model);
  clm__run_state_fini(&state);
  assert_true(clm__file_exists(test.folder.best));
}

static void failures_are_told_once_each(void **unused)
{
  (void)unused;
  char moved[1100];
  start(10, false, true);
  clm__saver_wait(test.saver);
  (void)snprintf(moved, sizeof moved, "%s/moved", test.scratch);
  assert_int_equal(rename(test.folder.path, moved), 0);
  start(20, true, true);
  clm__saver_wait(test.saver);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(clm__saver_take_failure(test.saver), CLM_IO);
    assert_non_null(strstr(clm_error_last()->message, "No such file"));
  }
  assert_ok(clm__saver_take_failure(test.saver));
  assert_int_equal(rename(moved, test.folder.path), 0);
  start(30, false, true);
  clm__saver_wait(test.saver);
  assert_ok(clm__saver_take_failure(test.saver));
}

/* While the file before is being written a checkpoint that is due waits, and training does not. */
static void what_is_due_passes_while_the_saver_is_busy(void **unused)
{
  (void)unused;
  clm_train_config config = clm_train_config_default();
  config.checkpoint_steps = 3;
  clm__session session = {.config = &config, .model = test.model, .saver = test.saver};
  int64_t *steps = &test.model.optim_state->iterations;
  const bool expected[8] = {false, false, true, false, false, false, false, true};
  for (int step = 1; step <= 8; step++) {
    *steps = step - 1;
    assert_int_equal(clm__session_wants_checkpoint(&session), expected[step - 1]);
    if (step == 3) {
      session.owes_checkpoint = false; /* it is taken */
      clm__hdf5_enter();               /* and cannot be written for now */
      start(30, false, true);
    }
    if (step != 7) continue;
    clm__hdf5_leave();
    clm__saver_wait(test.saver);
  }
  session.owes_checkpoint = false;
  *steps = 8;
  assert_true(clm__session_wants_checkpoint(&session));
  /* Nobody else has a saver. */
  session.saver = NULL;
  assert_false(clm__session_wants_checkpoint(&session));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(what_is_written_is_the_moment_of_the_start, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(the_newest_are_kept, set_up, tear_down),
      cmocka_unit_test_setup_teardown(destroying_ends_the_write, set_up, tear_down),
      cmocka_unit_test_setup_teardown(failures_are_told_once_each, set_up, tear_down),
      cmocka_unit_test_setup_teardown(what_is_due_passes_while_the_saver_is_busy, set_up,
                                      tear_down)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
