/* Whole trainings on parts of one device. */
#include "op/testdevice.h"

#include "base/mem.h"
#include "clematis/clematis.h"
#include "io/model_file.h"
#include "io/run_state.h"
#include "support/folder.h"
#include "train/few_images.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES 40
#define IMAGES_PER_CLASS 7 /* 28 training images: batches of 10, 10 and 8 */

typedef struct fixture {
  char *folder;
  char data[1024];
  char out[1024];
  clm_train_config config;
  clm_train_result result;
  size_t steps_seen;
  size_t stop_after; /* steps; 0: never */
  clm_callback callback;
  char told[LINES][256]; /* for people */
  int told_count;
  clm_log log;
} fixture;

static clm_status count_step(void *user, const clm_step_info *info)
{
  fixture *f = user;
  (void)info;
  f->steps_seen++;
  return CLM_OK;
}

static int asks_to_stop(void *user)
{
  const fixture *f = user;
  return f->stop_after > 0 && f->steps_seen >= f->stop_after;
}

static void keep_line(void *user, clm_log_level level, const char *message)
{
  fixture *f = user;
  if (level != CLM_LOG_INFO || f->told_count == LINES) return;
  (void)snprintf(f->told[f->told_count++], sizeof f->told[0], "%s", message);
}

static bool was_told(const fixture *f, const char *words)
{
  for (int i = 0; i < f->told_count; i++)
    if (strstr(f->told[i], words) != NULL) return true;
  return false;
}

static bool can_split(void)
{
  const test_options options = {.device = getenv("CLEMATIS_TEST_DEVICE")};
  clm__device *device = test_device_open(&options, 0);
  const bool splits = device->info.kind == CLM__DEVICE_CPU && device->info.compute_units >= 2;
  clm__device_close(device);
  return splits;
}

static int set_up(void **state)
{
  fixture *f = calloc(1, sizeof *f);
  assert_non_null(f);
  f->folder = make_folder();
  (void)snprintf(f->data, sizeof f->data, "%s/flowers", f->folder);
  assert_ok(clm_sample_draw(f->data, IMAGES_PER_CLASS, 1));
  f->callback = (clm_callback){.user = f, .on_step = count_step, .should_stop = asks_to_stop};
  f->log = (clm_log){.receive = keep_line, .user = f};
  f->config = clm_train_config_default();
  f->config.data.folder = f->data;
  f->config.run.batch_size = 10;
  f->config.run.variant = "plain";
  f->config.run.log = &f->log;
  f->config.image_height = 24;
  f->config.image_width = 24;
  f->config.epochs = 2;
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

static clm_status run(fixture *f, const char *name, const char *devices)
{
  (void)snprintf(f->out, sizeof f->out, "%s/%s", f->folder, name);
  f->config.out_folder = f->out;
  f->config.run.devices = devices;
  f->told_count = 0;
  return clm_train(&f->config, &f->result);
}

static void read_model(const fixture *f, const char *name, clm__model_file *model)
{
  char path[2048];
  (void)snprintf(path, sizeof path, "%s/%s/model.keras", f->folder, name);
  assert_ok(clm__model_file_read(path, NULL, model));
}

static void assert_same_weights(const fixture *f, const char *a, const char *b)
{
  clm__model_file first = {0}, second = {0};
  read_model(f, a, &first);
  read_model(f, b, &second);
  for (size_t i = 0; i < first.weights->elements; i++)
    assert_true(fabs((double)first.weights->values[i] - (double)second.weights->values[i]) <= 1e-5);
  clm__model_file_fini(&first);
  clm__model_file_fini(&second);
}

static void two_halves_train_as_the_whole(void **state)
{
  fixture *f = *state;
  if (!can_split()) skip();
  assert_ok(run(f, "whole", "cpu"));
  const clm_figures whole = f->result.last;
  assert_false(was_told(f, "Shares"));
  assert_ok(run(f, "halves", "cpu/2"));
  assert_true(fabs(f->result.last.loss - whole.loss) < 1e-5 * whole.loss);
  assert_true(fabs(f->result.last.val_loss - whole.val_loss) < 1e-5 * whole.val_loss);
  assert_true(f->result.last.accuracy == whole.accuracy);
  assert_same_weights(f, "whole", "halves");
  assert_true(was_told(f, "Shares of the 2 devices from step 1 on: 1,1"));
  assert_true(was_told(f, "cpu0/2.1"));
}

static void shares_are_kept_as_given(void **state)
{
  fixture *f = *state;
  if (!can_split()) skip();
  assert_ok(run(f, "whole", "cpu"));
  f->config.shares = "1,3";
  assert_ok(run(f, "uneven", "cpu/2"));
  assert_same_weights(f, "whole", "uneven");
  assert_true(was_told(f, "75.0%"));
}

/* The shares of a whole run as its model keeps them, and the steps done before the last ones. */
static char *read_kept_shares(const fixture *f, const char *name, uint64_t *step)
{
  clm__model_file model = {0};
  clm__run_state kept = {0};
  read_model(f, name, &model);
  assert_ok(clm__run_state_from_json(model.extra, &kept));
  char *shares = strdup(kept.shares);
  assert_non_null(shares);
  *step = kept.shares_step;
  clm__run_state_fini(&kept);
  clm__model_file_fini(&model);
  return shares;
}

/* The second device is slow, which shows after 5 steps. What was measured then can be given. */
static void measured_shares_are_replayed_to_the_same_bits(void **state)
{
  fixture *f = *state;
  if (!can_split()) skip();
  f->config.epochs = 4;
  assert_int_equal(setenv("CLEMATIS_TEST_SLOW_DEVICE", "10", 1), 0);
  const clm_status status = run(f, "measured", "cpu/2");
  (void)unsetenv("CLEMATIS_TEST_SLOW_DEVICE");
  assert_ok(status);
  const uint64_t digest = f->result.weights_digest;
  assert_true(was_told(f, "Shares of the 2 devices from step 1 on: 1,1"));
  assert_true(was_told(f, "Shares of the 2 devices from step 6 on: "));
  uint64_t step = 0, again = 0;
  char *shares = read_kept_shares(f, "measured", &step);
  assert_memory_equal(shares, "1,1;6:", 6);
  assert_true(step == 5 || step == 10);

  f->config.shares = shares;
  assert_ok(run(f, "replayed", "cpu/2"));
  assert_true(f->result.weights_digest == digest);
  assert_true(was_told(f, "Shares of the 2 devices from step 6 on: "));

  f->steps_seen = 0;
  f->stop_after = 7;
  assert_int_equal(run(f, "halted", "cpu/2"), CLM_STOPPED);
  f->stop_after = 0;
  f->config.resume = 1;
  assert_ok(run(f, "halted", "cpu/2"));
  assert_true(f->result.weights_digest == digest);
  char *kept = read_kept_shares(f, "halted", &again);
  assert_string_equal(kept, shares);
  assert_int_equal(again, step);
  free(kept);
  free(shares);
}

static void a_hindrance_is_told(void **state)
{
  fixture *f = *state;
  if (!can_split()) skip();
  f->config.shares = "1,1";
  assert_int_equal(setenv("CLEMATIS_TEST_SLOW_DEVICE", "10", 1), 0);
  const clm_status status = run(f, "slowed", "cpu/2");
  (void)unsetenv("CLEMATIS_TEST_SLOW_DEVICE");
  assert_ok(status);
  int told = 0;
  for (int i = 0; i < f->told_count; i++)
    if (strstr(f->told[i], "the job would be faster without it") != NULL) {
      assert_non_null(strstr(f->told[i], "cpu0/2.1"));
      told++;
    }
  assert_int_equal(told, 1);
}

/* Batches that end with fewer images than there are devices. */
static void odd_counts_train_as_the_whole(void **state)
{
  static const struct {
    int images;
    int batch;
    int epochs;
  } cases[] = {{101, 10, 1}, {65, 64, 3}, {2, 32, 12}, {1, 32, 12}};
  fixture *f = *state;
  if (!can_split()) skip();
  char model[1024];
  (void)snprintf(model, sizeof model, "%s/train/smooth.json", tests_folder());
  f->config.model = model;
  f->config.optimizer = "sgd";
  f->config.learning_rate = 0.01;
  f->config.data.validation_split = 0.0;
  f->config.checkpoint_epochs = 12;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char whole[16], halves[16];
    (void)snprintf(f->data, sizeof f->data, "%s/images%d", f->folder, cases[i].images);
    (void)snprintf(whole, sizeof whole, "whole%zu", i);
    (void)snprintf(halves, sizeof halves, "halves%zu", i);
    draw_few_images(f->data, cases[i].images);
    f->config.run.batch_size = cases[i].batch;
    f->config.epochs = cases[i].epochs;
    assert_ok(run(f, whole, "cpu"));
    const double loss = f->result.last.loss;
    assert_ok(run(f, halves, "cpu/2"));
    assert_true(fabs(f->result.last.loss - loss) <= 1e-5 * loss);
    assert_same_weights(f, whole, halves);
  }
}

static void a_run_goes_on_with_other_devices(void **state)
{
  fixture *f = *state;
  if (!can_split()) skip();
  assert_ok(run(f, "whole", "cpu"));
  f->steps_seen = 0;
  f->stop_after = 4;
  assert_int_equal(run(f, "changed", "cpu/2"), CLM_STOPPED);
  f->stop_after = 0;
  f->config.resume = 1;
  assert_ok(run(f, "changed", "cpu"));
  assert_same_weights(f, "whole", "changed");
}

static void the_batch_grows_with_the_devices(void **state)
{
  fixture *f = *state;
  if (!can_split()) skip();
  assert_ok(run(f, "whole", "cpu"));
  f->config.run.batch_size = 32;
  f->config.batch_per_device = 5;
  assert_ok(run(f, "each", "cpu/2"));
  assert_same_weights(f, "whole", "each");
}

static void shares_that_do_not_fit_are_refused(void **state)
{
  fixture *f = *state;
  if (!can_split()) skip();
  const char *const wrong[] = {"1",
                               "1,2,3",
                               "1,0",
                               "1,-1",
                               "1,x",
                               "",
                               "1,",
                               "1,nan",
                               "1 2",
                               "1,1;",
                               "1,1;0:1,2",
                               "1,1;1:2,1",
                               "1,1;3:1,2;3:2,1",
                               "1,1;x:1,2",
                               "1,1;2.5:1,2",
                               "1,1;-3:1,2",
                               "1,1;3:1"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char name[16];
    (void)snprintf(name, sizeof name, "wrong%zu", i);
    f->config.shares = wrong[i];
    assert_int_equal(run(f, name, "cpu/2"), CLM_USAGE);
    assert_non_null(strstr(clm_error_last()->message, "the shares"));
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(two_halves_train_as_the_whole, set_up, tear_down),
      cmocka_unit_test_setup_teardown(shares_are_kept_as_given, set_up, tear_down),
      cmocka_unit_test_setup_teardown(measured_shares_are_replayed_to_the_same_bits, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(a_hindrance_is_told, set_up, tear_down),
      cmocka_unit_test_setup_teardown(odd_counts_train_as_the_whole, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_run_goes_on_with_other_devices, set_up, tear_down),
      cmocka_unit_test_setup_teardown(the_batch_grows_with_the_devices, set_up, tear_down),
      cmocka_unit_test_setup_teardown(shares_that_do_not_fit_are_refused, set_up, tear_down)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
