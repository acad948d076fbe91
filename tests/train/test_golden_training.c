/* Twelve steps of real Keras: losses, accuracies, gradients, weights and predictions
 * (tests/golden/train). */
#include "op/testdevice.h"

#include "base/mem.h"
#include "exec/replica.h"
#include "io/model_file.h"
#include "support/folder.h"
#include "support/golden_batches.h"
#include "support/npy.h"
#include "train/golden_weights.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct fixture {
  clm__device *device;
  golden_batch batches[GOLDEN_BATCHES];
  uint32_t image_ids[GOLDEN_BATCH_SIZE];
  clm__model_file model;
  clm__replica *replica;
} fixture;

static const char *wished_variant; /* set by main: the same steps with each variant */
static test_options options;

static void read_model(fixture *f, const char *name)
{
  char path[1024];
  (void)snprintf(path, sizeof path, "%s/golden/train/%s", tests_folder(), name);
  assert_ok(clm__model_file_read(path, NULL, &f->model));
}

static int set_up(void **state)
{
  fixture *f = calloc(1, sizeof *f);
  assert_non_null(f);
  golden_batches_read(f->batches);
  f->device = test_device_open(&options, 0);
  read_model(f, "init.keras");
  if (f->model.optim_state == NULL)
    assert_ok(clm__optim_state_create(f->model.compile.optim, f->model.compile.optim_attributes,
                                      f->model.weights, &f->model.optim_state));
  const clm__replica_config config = {.device = f->device,
                                      .graph = f->model.graph,
                                      .weights = f->model.weights,
                                      .batch_max = GOLDEN_BATCH_SIZE,
                                      .loss = f->model.compile.loss,
                                      .loss_attributes = f->model.compile.loss_attributes,
                                      .optim_state = f->model.optim_state,
                                      .variant = wished_variant,
                                      .threads = 2};
  assert_ok(clm__replica_create(&config, &f->replica));
  assert_ok(clm__replica_write_weights(f->replica, f->model.weights->values));
  *state = f;
  return 0;
}

static int tear_down(void **state)
{
  fixture *f = *state;
  clm__replica_destroy(f->replica);
  clm__model_file_fini(&f->model);
  clm__device_close(f->device);
  free(f);
  return 0;
}

static clm__replica_result train_step(fixture *f, int step)
{
  const golden_batch *batch = &f->batches[step % GOLDEN_BATCHES];
  const clm__replica_input input = {.pixels = batch->pixels,
                                    .labels = batch->labels,
                                    .image_ids = f->image_ids,
                                    .count = GOLDEN_BATCH_SIZE};
  const clm__replica_update_args update = {
      .gradient_scale = 1.0F / GOLDEN_BATCH_SIZE, .learning_rate = 0.001F, .iterations = step};
  assert_ok(clm__replica_compute(f->replica, &input));
  assert_ok(clm__replica_update(f->replica, &update));
  clm__replica_result result;
  assert_ok(clm__replica_finish(f->replica, &result));
  assert_true(result.is_finite);
  return result;
}

static void first_gradients(void **state)
{
  fixture *f = *state;
  const clm__replica_input input = {.pixels = f->batches[0].pixels,
                                    .labels = f->batches[0].labels,
                                    .image_ids = f->image_ids,
                                    .count = GOLDEN_BATCH_SIZE};
  assert_ok(clm__replica_compute(f->replica, &input));
  clm__replica_result result;
  assert_ok(clm__replica_finish(f->replica, &result));
  float *gradients = NULL;
  assert_ok(clm__mem_alloc(f->model.weights->elements, sizeof(float), &gradients));
  assert_ok(clm__replica_read_gradients(f->replica, gradients));
  for (size_t i = 0; i < f->model.weights->trainable_elements; i++)
    gradients[i] /= GOLDEN_BATCH_SIZE;
  golden_weights_compare(&f->model, gradients, "step1_gradients", 1e-6);
  clm__mem_free(gradients);
}

static void twelve_steps(void **state)
{
  fixture *f = *state;
  npy accuracies = npy_read_golden("train/accuracy.npy");
  float losses[GOLDEN_STEPS];
  float *values = NULL;
  assert_ok(clm__mem_alloc(f->model.weights->elements, sizeof(float), &values));
  for (int step = 0; step < GOLDEN_STEPS; step++) {
    const clm__replica_result result = train_step(f, step);
    losses[step] = (float)(result.loss_sum / GOLDEN_BATCH_SIZE);
    assert_true((float)result.hit_count / GOLDEN_BATCH_SIZE == accuracies.f32[step]);
    if (step > 1) continue;
    assert_ok(clm__replica_read_weights(f->replica, values));
    golden_weights_compare(&f->model, values, step == 0 ? "weights_after1" : "weights_after2",
                           1e-5);
  }
  assert_ok(clm__replica_read_weights(f->replica, values));
  golden_weights_expect_way(&f->model, values, losses, 1e-5);
  clm__mem_free(values);
  npy_free(&accuracies);
}

static void trained_file_evaluates_and_predicts(void **state)
{
  fixture *f = *state;
  clm__replica_destroy(f->replica);
  f->replica = NULL;
  clm__model_file_fini(&f->model);
  read_model(f, "after12.keras");
  clm__replica_config config = {.device = f->device,
                                .graph = f->model.graph,
                                .weights = f->model.weights,
                                .batch_max = GOLDEN_BATCH_SIZE,
                                .variant = wished_variant,
                                .threads = 2};
  assert_ok(clm__replica_create(&config, &f->replica));
  assert_ok(clm__replica_write_weights(f->replica, f->model.weights->values));
  float probabilities[GOLDEN_BATCH_SIZE * GOLDEN_CLASSES];
  clm__replica_input input = {.pixels = f->batches[0].pixels, .count = GOLDEN_BATCH_SIZE};
  assert_ok(clm__replica_predict(f->replica, &input, probabilities));
  npy expected = npy_read_golden("train/after12_prediction_batch0.npy");
  assert_floats_near("prediction", probabilities, expected.f32, expected.count, 1e-5);
  npy_free(&expected);
  clm__replica_destroy(f->replica);
  f->replica = NULL;

  config.loss = f->model.compile.loss;
  config.loss_attributes = f->model.compile.loss_attributes;
  assert_ok(clm__replica_create(&config, &f->replica));
  assert_ok(clm__replica_write_weights(f->replica, f->model.weights->values));
  double loss_sum = 0.0;
  int hits = 0;
  for (int b = 0; b < GOLDEN_BATCHES; b++) {
    input.pixels = f->batches[b].pixels;
    input.labels = f->batches[b].labels;
    assert_ok(clm__replica_evaluate(f->replica, &input));
    clm__replica_result result;
    assert_ok(clm__replica_finish(f->replica, &result));
    loss_sum += result.loss_sum;
    hits += result.hit_count;
  }
  const float loss = (float)(loss_sum / (GOLDEN_BATCHES * GOLDEN_BATCH_SIZE));
  const float keras = 0.994857907295227F;
  assert_floats_near("evaluate", &loss, &keras, 1, 1e-5);
  assert_int_equal(hits, GOLDEN_BATCHES * GOLDEN_BATCH_SIZE);
}

int main(int argc, char **argv)
{
  options = test_options_read(argc, argv);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(first_gradients, set_up, tear_down),
      cmocka_unit_test_setup_teardown(twelve_steps, set_up, tear_down),
      cmocka_unit_test_setup_teardown(trained_file_evaluates_and_predicts, set_up, tear_down)};
  const char *const variants[] = {NULL, "plain", "gemm", "gpu"};
  int failed = 0;
  for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
    wished_variant = variants[i];
    printf("variant: %s\n", wished_variant != NULL ? wished_variant : "as chosen");
    failed += cmocka_run_group_tests(tests, NULL, NULL);
  }
  return failed;
}
