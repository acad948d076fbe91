/* What a run tells TensorBoard: the figures that its callbacks got. */
#include "op/testdevice.h"

#include "clematis/clematis.h"
#include "io/event_reader.h"
#include "support/folder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define EPOCHS 3
#define STEPS 5 /* of an epoch: 48 images in batches of 10 */

typedef struct fixture {
  char *folder;
  char data[1024];
  char out[1024];
  clm_train_config config;
  clm_callback callback;
  clm_epoch_info epochs[EPOCHS];
  clm_figures steps[EPOCHS * STEPS];
  size_t steps_seen;
  size_t stop_after; /* steps; 0: never */
} fixture;

static clm_status keep_step(void *user, const clm_step_info *info)
{
  fixture *f = user;
  f->steps[info->epoch * STEPS + (int)info->step - 1] = info->figures;
  f->steps_seen++;
  return CLM_OK;
}

static clm_status keep_epoch(void *user, const clm_epoch_info *info)
{
  fixture *f = user;
  f->epochs[info->epoch] = *info;
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
  (void)snprintf(f->data, sizeof f->data, "%s/flowers", f->folder);
  (void)snprintf(f->out, sizeof f->out, "%s/run", f->folder);
  assert_ok(clm_sample_draw(f->data, 12, 1));
  f->callback = (clm_callback){
      .user = f, .on_step = keep_step, .on_epoch_end = keep_epoch, .should_stop = asks_to_stop};
  f->config = clm_train_config_default();
  f->config.data.folder = f->data;
  f->config.run.batch_size = 10;
  f->config.run.devices = getenv("CLEMATIS_TEST_DEVICE");
  f->config.image_height = 24;
  f->config.image_width = 32;
  f->config.epochs = EPOCHS;
  f->config.out_folder = f->out;
  f->config.tensorboard = 1;
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

static clm_train_result train(fixture *f, clm_status expected)
{
  clm_train_result result;
  const clm_status status = clm_train(&f->config, &result);
  if (status != expected)
    fail_msg("clm_train: %s: %s", clm_status_name(status), clm_error_last()->message);
  return result;
}

static char *in_tensorboard(const fixture *f, const char *name)
{
  static char path[1100];
  (void)snprintf(path, sizeof path, "%s/tensorboard/%s", f->out, name);
  return path;
}

/* A curve as a viewer has it: a start takes away what is there from its step on. */
typedef struct curve {
  float values[EPOCHS * STEPS + 1];
  int seen[EPOCHS * STEPS + 1]; /* how often; indexed by step */
} curve;

static void follow(curve *at, const decoded *read, const char *tag)
{
  const int64_t places = EPOCHS * STEPS + 1;
  for (size_t i = 1; i < read->count; i++) {
    const Clm__Tb__Event *event = read->events[i];
    assert_in_range(event->step, 0, places - 1);
    if (event->what_case == CLM__TB__EVENT__WHAT_SESSION_LOG) {
      for (int64_t step = event->step; step < places; step++) at->seen[step] = 0;
    } else if (strcmp(event->summary->value[0]->tag, tag) == 0) {
      at->values[event->step] = event->summary->value[0]->simple_value;
      at->seen[event->step]++;
    }
  }
}

static curve read_curve(const fixture *f, const char *name, const char *tag)
{
  const char *folder = in_tensorboard(f, name);
  curve result = {0};
  const size_t files = count_files(folder);
  for (size_t i = 0; i < files; i++) {
    decoded read = read_events(folder, i);
    follow(&result, &read, tag);
    forget(&read);
  }
  return result;
}

static void assert_point(const curve *at, int step, double expected)
{
  if (at->seen[step] != 1) fail_msg("step %d is there %d times", step, at->seen[step]);
  assert_true(at->values[step] == (float)expected);
}

static void assert_all_epochs(const fixture *f)
{
  const curve loss = read_curve(f, "train", "epoch_loss");
  const curve accuracy = read_curve(f, "train", "epoch_accuracy");
  const curve rate = read_curve(f, "train", "epoch_learning_rate");
  const curve speed = read_curve(f, "train", "images_per_second");
  const curve wait = read_curve(f, "train", "wait_seconds");
  const curve val_loss = read_curve(f, "validation", "epoch_loss");
  const curve val_accuracy = read_curve(f, "validation", "epoch_accuracy");
  for (int epoch = 0; epoch < EPOCHS; epoch++) {
    const clm_epoch_info *info = &f->epochs[epoch];
    assert_point(&loss, epoch, info->figures.loss);
    assert_point(&accuracy, epoch, info->figures.accuracy);
    assert_point(&rate, epoch, info->learning_rate);
    assert_point(&speed, epoch, info->images_per_second);
    assert_point(&wait, epoch, info->wait_seconds);
    assert_point(&val_loss, epoch, info->figures.val_loss);
    assert_point(&val_accuracy, epoch, info->figures.val_accuracy);
  }
}

static void assert_every_second_step(const fixture *f)
{
  const curve loss = read_curve(f, "steps", "batch_loss");
  const curve accuracy = read_curve(f, "steps", "batch_accuracy");
  for (int step = 1; step <= EPOCHS * STEPS; step++) {
    if (step % 2 != 0) {
      assert_int_equal(loss.seen[step], 0);
      continue;
    }
    assert_point(&loss, step, f->steps[step - 1].loss);
    assert_point(&accuracy, step, f->steps[step - 1].accuracy);
  }
}

static void curves_are_those_of_the_run(void **state)
{
  fixture *f = *state;
  f->config.tensorboard_steps = 2;
  assert_int_equal(train(f, CLM_OK).failed_saves, 0);
  assert_all_epochs(f);
  assert_every_second_step(f);
  /* Nothing is left to do, and nothing is added. */
  f->config.resume = 1;
  (void)train(f, CLM_OK);
  assert_int_equal(count_files(in_tensorboard(f, "train")), 1);
}

static void nobody_asked_nothing_is_written(void **state)
{
  fixture *f = *state;
  f->config.epochs = 1;
  f->config.tensorboard = 0;
  f->config.tensorboard_steps = 1;
  (void)train(f, CLM_OK);
  assert_false(clm__file_exists(in_tensorboard(f, "")));
}

static void folders_without_figures_are_not_made(void **state)
{
  fixture *f = *state;
  f->config.epochs = 1;
  f->config.data.validation_split = 0.0;
  (void)train(f, CLM_OK);
  assert_int_equal(count_files(in_tensorboard(f, "train")), 1);
  assert_false(clm__file_exists(in_tensorboard(f, "validation")));
  assert_false(clm__file_exists(in_tensorboard(f, "steps")));
}

/* The run stops behind what its checkpoints hold: the epochs and steps done twice are there once.
 */
static void a_resumed_run_goes_on_with_its_curves(void **state)
{
  fixture *f = *state;
  f->config.tensorboard_steps = 2;
  f->stop_after = STEPS + 3;
  (void)train(f, CLM_STOPPED);
  char command[2048];
  (void)snprintf(command, sizeof command,
                 "cd '%s/checkpoints' && rm \"$(ls | tail -n 1)\" && test -n \"$(ls)\"", f->out);
  assert_int_equal(system(command), 0);
  f->stop_after = 0;
  f->config.resume = 1;
  (void)train(f, CLM_OK);
  assert_int_equal(f->steps_seen, STEPS + 3 + 2 * STEPS);
  assert_int_equal(count_files(in_tensorboard(f, "train")), 2);
  assert_int_equal(count_files(in_tensorboard(f, "steps")), 2);
  assert_all_epochs(f);
  assert_every_second_step(f);
}

static void a_folder_that_cannot_be_written_ends_no_run(void **state)
{
  fixture *f = *state;
  assert_ok(clm__file_make_folder(f->out));
  char path[1100];
  (void)snprintf(path, sizeof path, "%s/tensorboard", f->out);
  assert_ok(clm__file_write(path, "x", 1));
  const clm_train_result result = train(f, CLM_OK);
  assert_int_equal(result.epochs_done, EPOCHS);
  assert_int_equal(result.failed_saves, EPOCHS + 1); /* every epoch, and once more at the end */
}

int main(int argc, char **argv)
{
  const test_options options = test_options_read(argc, argv);
  clm__device_close(test_device_open(&options, 0)); /* ends with 77 where there is none */
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(curves_are_those_of_the_run, set_up, tear_down),
      cmocka_unit_test_setup_teardown(nobody_asked_nothing_is_written, set_up, tear_down),
      cmocka_unit_test_setup_teardown(folders_without_figures_are_not_made, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_resumed_run_goes_on_with_its_curves, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_folder_that_cannot_be_written_ends_no_run, set_up,
                                      tear_down)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
