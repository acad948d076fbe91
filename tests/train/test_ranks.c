/* ctest: ranks=2,3 timeout=900 */
/* Whole trainings in a job of several ranks against the same training alone. */
#include "op/testdevice.h"

#include "base/mem.h"
#include "clematis/clematis.h"
#include "io/model_file.h"
#include "support/folder.h"
#include "train/few_images.h"
#include "train/job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_SIZE 1024

/* The job of this process; every test runs in it. */
static clm_job *job;
static int rank;

static int join(void **state)
{
  (void)state;
  if (clm_job_open(NULL, &job) != CLM_OK) {
    printf("cannot join the job: %s\n", clm_error_last()->message);
    return -1;
  }
  rank = clm_job_rank(job);
  return 0;
}

static int leave(void **state)
{
  (void)state;
  clm_job_close(job);
  return 0;
}

typedef struct fixture {
  char *folder; /* of rank 0, seen by all; NULL on the others */
  char data[PATH_SIZE];
  char out[PATH_SIZE];
  char alone[PATH_SIZE];
  clm_train_config config;
  clm_callback callback;
  size_t steps_seen;
  size_t stop_after; /* steps; 0: never */
  size_t fail_after;
} fixture;

static clm_status count_step(void *user, const clm_step_info *info)
{
  fixture *f = user;
  (void)info;
  f->steps_seen++;
  return f->fail_after > 0 && f->steps_seen >= f->fail_after ? CLM_NO_MEMORY : CLM_OK;
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
  f->folder = rank == 0 ? make_folder() : NULL;
  char *shared = NULL;
  assert_ok(clm_job_share(job, f->folder, &shared));
  (void)snprintf(f->data, sizeof f->data, "%s/data", shared);
  (void)snprintf(f->out, sizeof f->out, "%s/run", shared);
  (void)snprintf(f->alone, sizeof f->alone, "%s/alone", shared);
  clm_text_free(shared);
  f->callback = (clm_callback){.user = f, .on_step = count_step, .should_stop = asks_to_stop};
  f->config = clm_train_config_default();
  f->config.data.folder = f->data;
  f->config.data.threads = 1;
  f->config.run.batch_size = 10;
  f->config.run.devices = getenv("CLEMATIS_TEST_DEVICE");
  f->config.image_height = 24;
  f->config.image_width = 32;
  f->config.callbacks = &f->callback;
  f->config.callback_count = 1;
  f->config.job = job;
  *state = f;
  return 0;
}

static int tear_down(void **state)
{
  fixture *f = *state;
  /* Nobody reads any more. */
  assert_ok(clm_job_agree(job, CLM_OK, NULL));
  if (rank == 0) remove_folder(f->folder);
  free(f);
  return 0;
}

/* Draws a data set of exactly so many images on rank 0. */
static void draw(const fixture *f, int count)
{
  if (rank == 0) draw_few_images(f->data, count);
  assert_ok(clm_job_agree(job, CLM_OK, NULL));
}

static clm_train_result train(fixture *f, const char *out, clm_status expected)
{
  clm_train_result result;
  f->config.out_folder = out;
  f->steps_seen = 0;
  const clm_status status = clm_train(&f->config, &result);
  if (status != expected)
    fail_msg("rank %d: %s: %s", rank, clm_status_name(status), clm_error_last()->message);
  return result;
}

static void assert_near(double a, double b)
{
  if (isnan(a) && isnan(b)) return;
  if (!(fabs(a - b) <= 1e-5 * fmax(fabs(a), 1e-3))) fail_msg("%.9g is not %.9g", a, b);
}

static clm__model_file read_model(const char *folder)
{
  char path[2 * PATH_SIZE];
  clm__model_file file = {0};
  (void)snprintf(path, sizeof path, "%s/model.keras", folder);
  assert_ok(clm__model_file_read(path, NULL, &file));
  return file;
}

/* Within 1e-5 of the largest weight: small ones come from differences of larger numbers. */
static void assert_same_weights(const char *folder_a, const char *folder_b)
{
  clm__model_file a = read_model(folder_a);
  clm__model_file b = read_model(folder_b);
  double largest = 0.0;
  double difference = 0.0;
  for (size_t i = 0; i < a.weights->elements; i++) {
    largest = fmax(largest, fabs((double)a.weights->values[i]));
    difference =
        fmax(difference, fabs((double)a.weights->values[i] - (double)b.weights->values[i]));
  }
  if (difference > 1e-5 * largest) fail_msg("weights differ by %g of %g", difference, largest);
  clm__model_file_fini(&a);
  clm__model_file_fini(&b);
}

/* Sums in another order round otherwise. That stays small where nothing jumps: a ReLU or the
 * largest of a window may turn over at a tie, and Adam's first steps enlarge what is nearly zero.
 */
static void use_smooth_model(fixture *f)
{
  static char path[2 * PATH_SIZE];
  (void)snprintf(path, sizeof path, "%s/train/smooth.json", tests_folder());
  f->config.model = path;
  f->config.optimizer = "sgd";
  f->config.learning_rate = 0.01;
}

/* The job's result is that of one rank, to rounding. */
static void check_equal(fixture *f, int images, int batch_size, int epochs, double split)
{
  draw(f, images);
  f->config.run.batch_size = batch_size;
  f->config.epochs = epochs;
  f->config.data.validation_split = split;
  use_smooth_model(f);
  const clm_train_result together = train(f, f->out, CLM_OK);
  if (rank == 0) {
    clm_job alone = {0};
    assert_ok(clm__comm_open_alone(NULL, &alone.comm));
    f->config.job = &alone;
    const clm_train_result single = train(f, f->alone, CLM_OK);
    clm__comm_close(alone.comm);
    f->config.job = job;
    assert_near(single.last.loss, together.last.loss);
    assert_near(single.last.accuracy, together.last.accuracy);
    assert_near(single.last.val_loss, together.last.val_loss);
    assert_near(single.last.val_accuracy, together.last.val_accuracy);
    assert_same_weights(f->alone, f->out);
  }
  assert_ok(clm_job_agree(job, CLM_OK, NULL));
}

static void a_last_batch_of_one_image(void **state) { check_equal(*state, 101, 10, 2, 0.0); }

static void a_batch_larger_than_what_is_left(void **state) { check_equal(*state, 65, 64, 6, 0.0); }

static void validation_is_shared_too(void **state) { check_equal(*state, 40, 7, 3, 0.3); }

static void fewer_images_than_ranks(void **state) { check_equal(*state, 2, 32, 12, 0.0); }

static void one_image(void **state) { check_equal(*state, 1, 32, 12, 0.0); }

static void one_image_to_train_and_one_to_validate(void **state)
{
  check_equal(*state, 2, 32, 3, 0.5);
}

/* ---- stopping and failing ---- */

static void one_rank_stops_all_and_the_job_goes_on_to_the_same_bits(void **state)
{
  fixture *f = *state;
  draw(f, 40);
  f->config.epochs = 3;
  const clm_train_result whole = train(f, f->alone, CLM_OK);
  f->stop_after = rank == 1 ? 6 : 0;
  const clm_train_result stopped = train(f, f->out, CLM_STOPPED);
  assert_int_equal(stopped.reason, CLM_STOP_REQUESTED);
  assert_in_range(f->steps_seen, 6, 7);
  f->stop_after = 0;
  f->config.resume = 1;
  const clm_train_result resumed = train(f, f->out, CLM_OK);
  assert_true(resumed.weights_digest == whole.weights_digest);
}

static void a_job_of_ranks_goes_on_alone(void **state)
{
  fixture *f = *state;
  draw(f, 40);
  f->config.epochs = 3;
  use_smooth_model(f);
  f->stop_after = rank == 1 ? 5 : 0;
  (void)train(f, f->out, CLM_STOPPED);
  f->stop_after = 0;
  if (rank == 0) {
    clm_job alone = {0};
    assert_ok(clm__comm_open_alone(NULL, &alone.comm));
    f->config.job = &alone;
    const clm_train_result whole = train(f, f->alone, CLM_OK);
    f->config.resume = 1;
    const clm_train_result resumed = train(f, f->out, CLM_OK);
    assert_near(whole.last.loss, resumed.last.loss);
    assert_same_weights(f->alone, f->out);
    clm__comm_close(alone.comm);
  }
  assert_ok(clm_job_agree(job, CLM_OK, NULL));
}

static void a_failure_of_one_rank_is_that_of_all(void **state)
{
  fixture *f = *state;
  draw(f, 40);
  f->fail_after = rank == 1 ? 3 : 0;
  (void)train(f, f->out, CLM_NO_MEMORY);
  assert_non_null(strstr(clm_error_last()->message, "rank 1 ("));
  /* In the last step of an epoch. */
  f->fail_after = rank == 1 ? 4 : 0;
  (void)train(f, f->alone, CLM_NO_MEMORY);
  assert_non_null(strstr(clm_error_last()->message, "rank 1 ("));
}

static void other_settings_are_refused(void **state)
{
  fixture *f = *state;
  draw(f, 10);
  f->config.epochs = rank == 1 ? 3 : 2;
  (void)train(f, f->out, CLM_USAGE);
  assert_non_null(strstr(clm_error_last()->message, "rank 1 ("));
  assert_non_null(strstr(clm_error_last()->message, "other settings"));
}

static void a_missing_folder_is_told_by_name(void **state)
{
  fixture *f = *state;
  draw(f, 10);
  if (rank == 1) f->config.data.folder = "/nowhere/at all";
  (void)train(f, f->out, CLM_NO_INPUT);
  assert_non_null(strstr(clm_error_last()->message, "rank 1 ("));
  assert_non_null(strstr(clm_error_last()->message, "/nowhere/at all"));
}

int main(void)
{
#define RANKS_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      RANKS_TEST(a_last_batch_of_one_image),
      RANKS_TEST(a_batch_larger_than_what_is_left),
      RANKS_TEST(validation_is_shared_too),
      RANKS_TEST(fewer_images_than_ranks),
      RANKS_TEST(one_image),
      RANKS_TEST(one_image_to_train_and_one_to_validate),
      RANKS_TEST(one_rank_stops_all_and_the_job_goes_on_to_the_same_bits),
      RANKS_TEST(a_job_of_ranks_goes_on_alone),
      RANKS_TEST(a_failure_of_one_rank_is_that_of_all),
      RANKS_TEST(other_settings_are_refused),
      RANKS_TEST(a_missing_folder_is_told_by_name),
  };
  return cmocka_run_group_tests(tests, join, leave);
}
