/* Whole trainings through the public interface, on a drawn data set. */
#include "op/testdevice.h"

#include "base/mem.h"
#include "clematis/clematis.h"
#include "support/folder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define IMAGES_PER_CLASS 12
#define EPOCHS 3

typedef struct fixture {
  char *folder;    /* all that the test makes */
  char data[1024]; /* the drawn data set */
  char out[1024];
  clm_train_config config;
  clm_callback callback;
  size_t steps_seen;
  size_t stop_after; /* steps; 0: never */
  int epochs_seen;
} fixture;

static clm_status count_step(void *user, const clm_step_info *info)
{
  fixture *f = user;
  (void)info;
  f->steps_seen++;
  return CLM_OK;
}

static clm_status count_epoch(void *user, const clm_epoch_info *info)
{
  fixture *f = user;
  (void)info;
  f->epochs_seen++;
  return CLM_OK;
}

static int asks_to_stop(void *user)
{
  const fixture *f = user;
  return f->stop_after > 0 && f->steps_seen >= f->stop_after;
}

static int set_up(void **state)
{
  fixture *f = calloc(1, sizeof *f);
  assert_non_null(f);
  f->folder = make_folder();
  (void)snprintf(f->data, sizeof f->data, "%s/my flowers", f->folder);
  (void)snprintf(f->out, sizeof f->out, "%s/run", f->folder);
  assert_ok(clm_sample_draw(f->data, IMAGES_PER_CLASS, 1));
  f->callback = (clm_callback){
      .user = f, .on_step = count_step, .on_epoch_end = count_epoch, .should_stop = asks_to_stop};
  f->config = clm_train_config_default();
  f->config.data.folder = f->data;
  f->config.run.batch_size = 10;
  f->config.run.devices = getenv("CLEMATIS_TEST_DEVICE");
  f->config.image_height = 24;
  f->config.image_width = 32;
  f->config.epochs = EPOCHS;
  f->config.out_folder = f->out;
  f->config.callbacks = &f->callback;
  f->config.callback_count = 1;
  *state = f;
  return 0;
}

static int tear_down(void **state)
{
  fixture *f = *state;
  remove_folder(f->folder);
  free(f);
  assert_int_equal(clm__mem_get_counts().blocks_live, 0);
  return 0;
}

static clm_train_result train(fixture *f, const char *out, clm_status expected)
{
  clm_train_result result;
  f->config.out_folder = out;
  const clm_status status = clm_train(&f->config, &result);
  if (status != expected)
    fail_msg("clm_train: %s: %s", clm_status_name(status), clm_error_last()->message);
  return result;
}

static bool has_file(const fixture *f, const char *name)
{
  char path[2048];
  (void)snprintf(path, sizeof path, "%s/%s", f->out, name);
  struct stat info;
  return stat(path, &info) == 0;
}

static void a_run_leaves_its_files(void **state)
{
  fixture *f = *state;
  f->config.config_text = "{\"epochs\": 3}";
  const clm_train_result result = train(f, f->out, CLM_OK);
  assert_int_equal(result.reason, CLM_STOP_FINISHED);
  assert_int_equal(result.epochs_done, EPOCHS);
  assert_int_equal(f->epochs_seen, EPOCHS);
  assert_int_equal(f->steps_seen, EPOCHS * 5); /* 48 images in batches of 10 */
  assert_in_range(result.best_epoch, 0, EPOCHS - 1);
  assert_true(isfinite(result.last.loss));
  assert_true(isfinite(result.last.val_loss));
  const char *const names[] = {
      "config.json", "classes.txt",  "training_files.txt", "validation_files.txt", "bad_files.txt",
      "history.csv", "history.json", "checkpoints",        "best.keras",           "model.keras"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!has_file(f, names[i])) fail_msg("%s is missing", names[i]);
}

static void the_same_seed_gives_the_same_bits(void **state)
{
  fixture *f = *state;
  char other[1100];
  (void)snprintf(other, sizeof other, "%s/other", f->folder);
  f->config.data.threads = 1;
  const clm_train_result first = train(f, f->out, CLM_OK);
  f->config.data.threads = 3;
  f->config.data.cache = CLM_CACHE_FIXED;
  const clm_train_result second = train(f, other, CLM_OK);
  assert_true(first.weights_digest == second.weights_digest);
  char third[1100];
  (void)snprintf(third, sizeof third, "%s/third", f->folder);
  f->config.seed = 124;
  assert_true(train(f, third, CLM_OK).weights_digest != first.weights_digest);
}

static void a_stopped_run_goes_on_to_the_same_bits(void **state)
{
  fixture *f = *state;
  char whole[1100];
  (void)snprintf(whole, sizeof whole, "%s/whole", f->folder);
  const clm_train_result undisturbed = train(f, whole, CLM_OK);
  /* Stops in the middle of an epoch, at the end of one, and right after the first step. */
  f->steps_seen = 0;
  f->stop_after = 1;
  assert_int_equal(train(f, f->out, CLM_STOPPED).reason, CLM_STOP_REQUESTED);
  f->config.resume = 1;
  const size_t stops[] = {5, 8};
  for (size_t i = 0; i < 2; i++) {
    f->stop_after = stops[i];
    (void)train(f, f->out, CLM_STOPPED);
    assert_int_equal(f->steps_seen, stops[i]);
  }
  f->stop_after = 0;
  const clm_train_result resumed = train(f, f->out, CLM_OK);
  assert_int_equal(f->steps_seen, EPOCHS * 5);
  assert_true(resumed.weights_digest == undisturbed.weights_digest);
  assert_true(resumed.last.loss == undisturbed.last.loss);
  assert_true(resumed.last.accuracy == undisturbed.last.accuracy);
  assert_int_equal(resumed.best_epoch, undisturbed.best_epoch);
  /* Nothing is left to do now, which is said and is no failure. */
  assert_int_equal(train(f, f->out, CLM_OK).reason, CLM_STOP_NOTHING_LEFT);
}

/* Removes the newest checkpoints, all but `left`. */
static void keep_oldest_checkpoints(const fixture *f, int left)
{
  char command[4096];
  (void)snprintf(
      command, sizeof command,
      "ls '%s/checkpoints' | tail -n +%d | while read -r f; do rm '%s/checkpoints/'\"$f\";"
      " done; rm -f '%s/model.keras'",
      f->out, left + 1, f->out, f->out);
  assert_int_equal(system(command), 0);
}

static int count_checkpoints(const fixture *f)
{
  char command[2048];
  (void)snprintf(command, sizeof command, "ls '%s/checkpoints' | wc -l", f->out);
  FILE *pipe = popen(command, "r");
  assert_non_null(pipe);
  int count = -1;
  assert_int_equal(fscanf(pipe, "%d", &count), 1);
  (void)pclose(pipe);
  return count;
}

/* The training steps that the newest checkpoint has behind it: 5 for the 48 images of an epoch. */
static size_t count_saved_steps(const fixture *f)
{
  char command[2048];
  (void)snprintf(command, sizeof command,
                 "ls '%s/checkpoints' | tail -n 1 | sed 's/images-0*//; s/[.].*//'", f->out);
  FILE *pipe = popen(command, "r");
  assert_non_null(pipe);
  size_t images = 0;
  assert_int_equal(fscanf(pipe, "%zu", &images), 1);
  (void)pclose(pipe);
  return images / 48 * 5 + (images % 48 + 9) / 10;
}

/* A checkpoint may come some steps later than asked for, when the one before is written. */
static void a_run_goes_on_from_between_two_epochs_ends(void **state)
{
  fixture *f = *state;
  f->config.checkpoint_epochs = 0;
  f->config.checkpoint_steps = 4;
  f->config.keep_checkpoints = 100;
  const clm_train_result whole = train(f, f->out, CLM_OK);
  assert_in_range(count_checkpoints(f), 1, 3); /* due after the steps 4, 8 and 12 of 15 */
  assert_true(whole.save_seconds > 0.0);
  f->config.resume = 1;
  for (int left = count_checkpoints(f); left > 0; left--) {
    keep_oldest_checkpoints(f, left);
    const size_t saved = count_saved_steps(f);
    assert_in_range(saved, 4 * (size_t)left, 14);
    f->steps_seen = 0;
    const clm_train_result resumed = train(f, f->out, CLM_OK);
    assert_int_equal(f->steps_seen, 15 - saved);
    assert_true(resumed.weights_digest == whole.weights_digest);
    assert_true(resumed.last.loss == whole.last.loss);
    assert_in_range(count_checkpoints(f), left, 3);
  }
  f->config.keep_checkpoints = 2;
  f->config.checkpoint_steps = 1;
  keep_oldest_checkpoints(f, 1);
  assert_true(train(f, f->out, CLM_OK).weights_digest == whole.weights_digest);
  assert_in_range(count_checkpoints(f), 1, 2);
}

static void minutes_make_checkpoints(void **state)
{
  fixture *f = *state;
  f->config.epochs = 1;
  f->config.checkpoint_epochs = 0;
  (void)train(f, f->out, CLM_OK);
  assert_int_equal(count_checkpoints(f), 0);
  char other[1100];
  (void)snprintf(other, sizeof other, "%s/other", f->folder);
  (void)snprintf(f->out, sizeof f->out, "%s", other);
  f->config.checkpoint_minutes = 1e-9;
  (void)train(f, f->out, CLM_OK);
  assert_in_range(count_checkpoints(f), 1, 3);
}

/* Overwrites the last bytes of the newest checkpoint. */
static void break_newest_checkpoint(const fixture *f)
{
  char command[4096];
  (void)snprintf(
      command, sizeof command,
      "f=$(ls '%s/checkpoints' | tail -n 1) && truncate -s -1000 '%s/checkpoints/'\"$f\"", f->out,
      f->out);
  assert_int_equal(system(command), 0);
}

static void a_broken_checkpoint_is_passed_over(void **state)
{
  fixture *f = *state;
  f->config.epochs = 2;
  (void)train(f, f->out, CLM_OK);
  break_newest_checkpoint(f);
  f->config.epochs = EPOCHS;
  f->config.resume = 1;
  f->epochs_seen = 0;
  const clm_train_result resumed = train(f, f->out, CLM_OK);
  assert_int_equal(f->epochs_seen, 2); /* the second epoch again, and the third */
  char whole[1100];
  (void)snprintf(whole, sizeof whole, "%s/whole", f->folder);
  f->config.resume = 0;
  assert_true(train(f, whole, CLM_OK).weights_digest == resumed.weights_digest);
}

static void a_loss_that_is_not_a_number_stops_the_run(void **state)
{
  fixture *f = *state;
  assert_int_equal(setenv("CLEMATIS_TEST_NAN_STEP", "8", 1), 0);
  clm_train_result result;
  assert_refused(clm_train(&f->config, &result), CLM_DIVERGED, "epoch 2, step 3");
  assert_int_equal(unsetenv("CLEMATIS_TEST_NAN_STEP"), 0);
  assert_int_equal(f->steps_seen, 7);
  assert_false(has_file(f, "model.keras"));
  /* The checkpoint of epoch 1 is whole and the run can go on from it. */
  f->config.resume = 1;
  assert_int_equal(train(f, f->out, CLM_OK).epochs_done, EPOCHS);
}

static void a_wild_learning_rate_is_stopped_too(void **state)
{
  fixture *f = *state;
  f->config.optimizer = "sgd";
  f->config.learning_rate = 1e30;
  clm_train_result result;
  assert_refused(clm_train(&f->config, &result), CLM_DIVERGED, "learning rate");
}

static void patience_ends_a_run(void **state)
{
  fixture *f = *state;
  f->config.learning_rate = 0.0; /* nothing ever gets better */
  f->config.epochs = 20;
  f->config.early_stopping_patience = 2;
  f->config.restore_best = 1;
  const clm_train_result result = train(f, f->out, CLM_OK);
  assert_int_equal(result.reason, CLM_STOP_EARLY);
  assert_int_equal(result.epochs_done, 3);
  assert_int_equal(result.best_epoch, 0);
}

static void a_trained_model_evaluates_and_predicts(void **state)
{
  fixture *f = *state;
  const clm_train_result trained = train(f, f->out, CLM_OK);
  char path[1100];
  (void)snprintf(path, sizeof path, "%s/model.keras", f->out);
  clm_model *model = NULL;
  assert_ok(clm_model_load(path, NULL, &model));
  assert_int_equal(clm_model_class_count(model), 5);
  const char *first_class = clm_model_class_name(model, 0);
  assert_non_null(first_class);
  clm_evaluation evaluation;
  assert_ok(clm_model_evaluate(model, &f->config.data, CLM_SUBSET_VALIDATION, &f->config.run,
                               &evaluation));
  assert_int_equal(evaluation.images, 12);
  /* The cache of training rounds to 1/256 of a grey level; evaluation does not. */
  assert_true(fabs(evaluation.loss - trained.last.val_loss) < 1e-3);
  char image[4096];
  (void)snprintf(image, sizeof image, "%s/%s/%s-001.png", f->data, first_class, first_class);
  const char *const paths[] = {image, image, image};
  float probabilities[3 * 5];
  f->config.run.batch_size = 2;
  assert_ok(clm_model_predict(model, paths, 3, &f->config.data, &f->config.run, probabilities));
  float sum = 0.0F;
  for (int i = 0; i < 5; i++) sum += probabilities[i];
  assert_true(fabsf(sum - 1.0F) < 1e-5F);
  assert_memory_equal(probabilities, probabilities + 5, 5 * sizeof(float));
  clm_model_destroy(model);
}

static void other_data_cannot_be_resumed(void **state)
{
  fixture *f = *state;
  f->config.epochs = 1;
  (void)train(f, f->out, CLM_OK);
  f->config.resume = 1;
  f->config.epochs = 2;
  f->config.data.seed = 5;
  clm_train_result result;
  assert_refused(clm_train(&f->config, &result), CLM_BAD_DATA, "not those the run began with");
  f->config.data.seed = 123;
  f->config.run.batch_size = 11;
  assert_refused(clm_train(&f->config, &result), CLM_USAGE, "batch size 10");
}

static void a_used_folder_is_not_overwritten(void **state)
{
  fixture *f = *state;
  f->config.epochs = 1;
  (void)train(f, f->out, CLM_OK);
  clm_train_result result;
  assert_refused(clm_train(&f->config, &result), CLM_USAGE, "already holds a run");
}

int main(int argc, char **argv)
{
  const test_options options = test_options_read(argc, argv);
  clm__device_close(test_device_open(&options, 0)); /* ends with 77 where there is none */
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_run_leaves_its_files, set_up, tear_down),
      cmocka_unit_test_setup_teardown(the_same_seed_gives_the_same_bits, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_stopped_run_goes_on_to_the_same_bits, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_run_goes_on_from_between_two_epochs_ends, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(minutes_make_checkpoints, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_broken_checkpoint_is_passed_over, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_loss_that_is_not_a_number_stops_the_run, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_wild_learning_rate_is_stopped_too, set_up, tear_down),
      cmocka_unit_test_setup_teardown(patience_ends_a_run, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_trained_model_evaluates_and_predicts, set_up, tear_down),
      cmocka_unit_test_setup_teardown(other_data_cannot_be_resumed, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_used_folder_is_not_overwritten, set_up, tear_down)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
