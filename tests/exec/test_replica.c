/* A small flowers network on one device: what must hold whatever the numbers are. */
#include "op/testdevice.h"

#include "base/mem.h"
#include "exec/replica.h"
#include "op/registry.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE 16
#define CLASSES 4
#define BATCH 8
#define IMAGE_FLOATS (SIZE * SIZE * 3)

static test_options options;

typedef struct fixture {
  clm__device *device;
  clm__graph *graph;
  clm__weights *weights;
  const clm__loss *loss;
  void *loss_attributes;
  clm__optim_state *optim_state;
  clm__replica *replica;
  float pixels[BATCH * IMAGE_FLOATS];
  int32_t labels[BATCH];
  uint32_t image_ids[BATCH];
} fixture;

static void *default_attributes(size_t size_bytes, const clm__field *fields)
{
  void *attributes = NULL;
  assert_ok(clm__mem_alloc(1, size_bytes, &attributes));
  clm__field_set_defaults(fields, attributes);
  return attributes;
}

static void make_optim(fixture *f, const char *name)
{
  const clm__optim *optim = NULL;
  assert_ok(clm__registry_find_optim(name, &optim));
  void *attributes = default_attributes(optim->attribute_bytes, optim->fields);
  assert_ok(clm__optim_state_create(optim, attributes, f->weights, &f->optim_state));
  clm__mem_free(attributes);
}

static clm__replica_config config_of(fixture *f, int batch_max)
{
  return (clm__replica_config){.device = f->device,
                               .graph = f->graph,
                               .weights = f->weights,
                               .batch_max = batch_max,
                               .loss = f->loss,
                               .loss_attributes = f->loss_attributes,
                               .optim_state = f->optim_state,
                               .seed = 5,
                               .threads = 2};
}

static void make_images(fixture *f)
{
  for (size_t i = 0; i < BATCH * IMAGE_FLOATS; i++) f->pixels[i] = test_random(1, i, 0.0, 255.0);
  for (uint32_t i = 0; i < BATCH; i++) {
    f->labels[i] = (int32_t)(i % CLASSES);
    f->image_ids[i] = i;
  }
}

static void make_replica(fixture *f)
{
  const clm__replica_config config = config_of(f, BATCH);
  assert_ok(clm__replica_create(&config, &f->replica));
  assert_ok(clm__replica_write_weights(f->replica, f->weights->values));
}

static int set_up(void **state)
{
  fixture *f = calloc(1, sizeof *f);
  assert_non_null(f);
  f->device = test_device_open(&options, 0);
  assert_ok(clm__graph_create_default(SIZE, SIZE, 3, CLASSES, &f->graph));
  assert_ok(clm__weights_create(f->graph, &f->weights));
  clm__weights_initialize(f->weights, 11);
  assert_ok(clm__registry_find_loss("sparse_categorical_crossentropy", &f->loss));
  f->loss_attributes = default_attributes(f->loss->attribute_bytes, f->loss->fields);
  make_optim(f, "adam");
  make_images(f);
  *state = f;
  return 0;
}

static int tear_down(void **state)
{
  fixture *f = *state;
  clm__replica_destroy(f->replica);
  clm__optim_state_destroy(f->optim_state);
  clm__mem_free(f->loss_attributes);
  clm__weights_destroy(f->weights);
  clm__graph_destroy(f->graph);
  clm__device_close(f->device);
  free(f);
  return 0;
}

static clm__replica_input input_of(const fixture *f, int first, int count)
{
  return (clm__replica_input){.pixels = f->pixels + first * IMAGE_FLOATS,
                              .labels = f->labels + first,
                              .image_ids = f->image_ids + first,
                              .count = count};
}

static clm__replica_result compute(fixture *f, int first, int count, float *gradients)
{
  const clm__replica_input input = input_of(f, first, count);
  assert_ok(clm__replica_compute(f->replica, &input));
  clm__replica_result result;
  assert_ok(clm__replica_finish(f->replica, &result));
  if (gradients != NULL) assert_ok(clm__replica_read_gradients(f->replica, gradients));
  return result;
}

static clm__replica_result train(fixture *f, int first, int count, int step)
{
  const clm__replica_input input = input_of(f, first, count);
  const clm__replica_update_args update = {
      .gradient_scale = 1.0F / (float)count, .learning_rate = 0.01F, .iterations = step};
  assert_ok(clm__replica_compute(f->replica, &input));
  assert_ok(clm__replica_update(f->replica, &update));
  clm__replica_result result;
  assert_ok(clm__replica_finish(f->replica, &result));
  return result;
}

static float *array(const fixture *f)
{
  float *values = NULL;
  assert_ok(clm__mem_alloc(f->weights->elements, sizeof(float), &values));
  return values;
}

static void a_batch_equals_two_halves(void **state)
{
  fixture *f = *state;
  make_replica(f);
  float *whole = array(f);
  float *first = array(f);
  float *second = array(f);
  const clm__replica_result all = compute(f, 0, BATCH, whole);
  const clm__replica_result a = compute(f, 0, 3, first);
  const clm__replica_result b = compute(f, 3, BATCH - 3, second);
  assert_int_equal(all.count, BATCH);
  assert_int_equal(all.hit_count, a.hit_count + b.hit_count);
  assert_true(fabs(all.loss_sum - a.loss_sum - b.loss_sum) < 1e-5);
  for (size_t i = 0; i < f->weights->trainable_elements; i++) {
    const double sum = (double)first[i] + (double)second[i];
    if (fabs(sum - (double)whole[i]) > 1e-5 * fmax(1.0, fabs(sum)))
      fail_msg("gradient %zu: %g in halves, %g at once", i, sum, (double)whole[i]);
  }
  clm__mem_free(whole);
  clm__mem_free(first);
  clm__mem_free(second);
}

static void no_images_give_no_gradient(void **state)
{
  fixture *f = *state;
  make_replica(f);
  float *gradients = array(f);
  (void)compute(f, 0, BATCH, NULL);
  const clm__replica_result result = compute(f, 0, 0, gradients);
  assert_int_equal(result.count, 0);
  assert_true(result.loss_sum == 0.0);
  for (size_t i = 0; i < f->weights->trainable_elements; i++) assert_true(gradients[i] == 0.0F);
  clm__mem_free(gradients);
}

static void the_same_bits_twice(void **state)
{
  fixture *f = *state;
  make_replica(f);
  float *first = array(f);
  float *second = array(f);
  for (int run = 0; run < 2; run++) {
    assert_ok(clm__replica_write_weights(f->replica, f->weights->values));
    assert_ok(clm__replica_write_slots(f->replica, f->optim_state));
    for (int step = 0; step < 4; step++) (void)train(f, step, BATCH - step, step);
    assert_ok(clm__replica_read_weights(f->replica, run == 0 ? first : second));
  }
  assert_memory_equal(first, second, f->weights->elements * sizeof(float));
  assert_true(memcmp(first, f->weights->values, f->weights->elements * sizeof(float)) != 0);
  clm__mem_free(first);
  clm__mem_free(second);
}

static void a_step_allocates_builds_and_waits_for_nothing(void **state)
{
  fixture *f = *state;
  make_replica(f);
  (void)train(f, 0, BATCH, 0);
  clm__device_counts *counts = &f->device->counts;
  const uint64_t memory = clm__mem_get_counts().allocations;
  const uint64_t buffers = atomic_load(&counts->buffers_created);
  const uint64_t programs = atomic_load(&counts->programs_built);
  const uint64_t finishes = atomic_load(&counts->finishes);
  const uint64_t uploaded = atomic_load(&counts->bytes_to_device);
  const uint64_t downloaded = atomic_load(&counts->bytes_from_device);
  for (int step = 1; step <= 5; step++) (void)train(f, 0, BATCH, step);
  assert_int_equal(clm__mem_get_counts().allocations - memory, 0);
  assert_int_equal(atomic_load(&counts->buffers_created) - buffers, 0);
  assert_int_equal(atomic_load(&counts->programs_built) - programs, 0);
  assert_int_equal(atomic_load(&counts->finishes) - finishes, 5);
  const uint64_t input_bytes = BATCH * (IMAGE_FLOATS + 2) * sizeof(float);
  assert_int_equal(atomic_load(&counts->bytes_to_device) - uploaded, 5 * input_bytes);
  const uint64_t figure_bytes = 2 * BATCH * sizeof(float) + sizeof(cl_int);
  assert_int_equal(atomic_load(&counts->bytes_from_device) - downloaded, 5 * figure_bytes);
}

static uint64_t count_programs(const fixture *f)
{
  const clm__device_counts *counts = &f->device->counts;
  return atomic_load(&counts->programs_built) + atomic_load(&counts->programs_loaded);
}

static void evaluation_is_built_behind_training(void **state)
{
  fixture *f = *state;
  make_replica(f);
  (void)train(f, 0, BATCH, 0);
  const uint64_t before = count_programs(f);
  assert_ok(clm__replica_build_evaluation(f->replica));
  const uint64_t built = count_programs(f);
  assert_true(built > before);
  const clm__replica_input input = input_of(f, 0, BATCH);
  clm__replica_result asked, unasked;
  assert_ok(clm__replica_evaluate(f->replica, &input));
  assert_ok(clm__replica_finish(f->replica, &asked));
  assert_ok(clm__replica_build_evaluation(f->replica));
  assert_int_equal(count_programs(f), built);
  /* Whoever does not ask for it gets it with the first batch. */
  clm__replica_destroy(f->replica);
  make_replica(f);
  (void)train(f, 0, BATCH, 0);
  assert_ok(clm__replica_evaluate(f->replica, &input));
  assert_ok(clm__replica_finish(f->replica, &unasked));
  assert_true(asked.loss_sum == unasked.loss_sum);
}

static void a_rehearsal_leaves_nothing_behind(void **state)
{
  fixture *f = *state;
  make_replica(f);
  const double expected = train(f, 0, BATCH, 0).loss_sum;
  const double second = train(f, 0, BATCH, 1).loss_sum;
  clm__replica_destroy(f->replica);
  f->replica = NULL;
  clm__replica_config config = config_of(f, BATCH);
  config.threads = 0;
  assert_ok(clm__replica_create(&config, &f->replica));
  assert_ok(clm__replica_rehearse(f->replica, BATCH));
  const uint64_t programs = count_programs(f);
  assert_ok(clm__replica_write_weights(f->replica, f->weights->values));
  assert_ok(clm__replica_write_slots(f->replica, f->optim_state));
  assert_true(train(f, 0, BATCH, 0).loss_sum == expected);
  assert_true(train(f, 0, BATCH, 1).loss_sum == second);
  const clm__replica_input input = input_of(f, 0, BATCH);
  clm__replica_result result;
  assert_ok(clm__replica_evaluate(f->replica, &input));
  assert_ok(clm__replica_finish(f->replica, &result));
  assert_int_equal(count_programs(f), programs);
}

static void a_step_that_is_not_finite_changes_nothing(void **state)
{
  fixture *f = *state;
  make_replica(f);
  (void)train(f, 0, BATCH, 0);
  float *before = array(f);
  float *after = array(f);
  assert_ok(clm__replica_read_weights(f->replica, before));
  f->pixels[17] = INFINITY;
  const clm__replica_result result = train(f, 0, BATCH, 1);
  assert_false(result.is_finite);
  assert_ok(clm__replica_read_weights(f->replica, after));
  assert_memory_equal(before, after, f->weights->elements * sizeof(float));
  f->pixels[17] = 1.0F;
  assert_true(train(f, 0, BATCH, 1).is_finite);
  clm__mem_free(before);
  clm__mem_free(after);
}

static void training_learns_and_evaluation_agrees(void **state)
{
  fixture *f = *state;
  make_replica(f);
  const double first = train(f, 0, BATCH, 0).loss_sum;
  for (int step = 1; step < 60; step++) (void)train(f, 0, BATCH, step);
  const clm__replica_input input = input_of(f, 0, BATCH);
  assert_ok(clm__replica_evaluate(f->replica, &input));
  clm__replica_result result;
  assert_ok(clm__replica_finish(f->replica, &result));
  assert_true(result.loss_sum < 0.5 * first);
  assert_int_equal(result.hit_count, BATCH);
  /* Without dropout and batch statistics both modes compute the same loss. */
  const double training_loss = compute(f, 0, BATCH, NULL).loss_sum;
  assert_true(fabs(training_loss - result.loss_sum) <= 1e-5 * fmax(1.0, training_loss));
}

static void slots_come_back(void **state)
{
  fixture *f = *state;
  make_replica(f);
  const size_t size_bytes = f->optim_state->elements * sizeof(float);
  for (int s = 0; s < f->optim_state->slot_count; s++)
    for (size_t i = 0; i < f->optim_state->elements; i++)
      f->optim_state->slots[s][i] = (float)(i % 1000) + (float)s;
  assert_ok(clm__replica_write_slots(f->replica, f->optim_state));
  float *kept = array(f);
  memcpy(kept, f->optim_state->slots[1], size_bytes);
  memset(f->optim_state->slots[1], 0, size_bytes);
  assert_ok(clm__replica_read_slots(f->replica, f->optim_state));
  assert_memory_equal(kept, f->optim_state->slots[1], size_bytes);
  clm__mem_free(kept);
}

static void too_large_a_batch_names_the_largest(void **state)
{
  fixture *f = *state;
  f->device->info.memory_bytes = 32 << 20;
  const clm__replica_config config = config_of(f, 4096);
  clm__replica *refused = NULL;
  assert_refused(clm__replica_create(&config, &refused), CLM_DEVICE_MEMORY,
                 "the largest batch that fits is");
  assert_null(refused);
  const char *said = strstr(clm_error_last()->message, "--batch-size ");
  assert_non_null(said);
  const int largest = atoi(said + strlen("--batch-size "));
  assert_in_range(largest, 1, 4095);
  const clm__replica_config smaller = config_of(f, largest);
  assert_ok(clm__replica_create(&smaller, &f->replica));
  f->device->info.memory_bytes = 1 << 10;
  assert_refused(clm__replica_create(&config, &refused), CLM_DEVICE_MEMORY,
                 "not even a batch of 1");
}

static void small_buffers_suffice(void **state)
{
  fixture *f = *state;
  float *expected = array(f);
  float *gradients = array(f);
  make_replica(f);
  (void)compute(f, 0, BATCH, expected);
  clm__replica_destroy(f->replica);
  f->replica = NULL;
  f->device->info.buffer_max_bytes = 2400000;
  make_replica(f);
  (void)compute(f, 0, BATCH, gradients);
  assert_memory_equal(expected, gradients, f->weights->trainable_elements * sizeof(float));
  clm__mem_free(expected);
  clm__mem_free(gradients);
}

int main(int argc, char **argv)
{
  options = test_options_read(argc, argv);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_batch_equals_two_halves, set_up, tear_down),
      cmocka_unit_test_setup_teardown(no_images_give_no_gradient, set_up, tear_down),
      cmocka_unit_test_setup_teardown(the_same_bits_twice, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_step_allocates_builds_and_waits_for_nothing, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(evaluation_is_built_behind_training, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_rehearsal_leaves_nothing_behind, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_step_that_is_not_finite_changes_nothing, set_up, tear_down),
      cmocka_unit_test_setup_teardown(training_learns_and_evaluation_agrees, set_up, tear_down),
      cmocka_unit_test_setup_teardown(slots_come_back, set_up, tear_down),
      cmocka_unit_test_setup_teardown(too_large_a_batch_names_the_largest, set_up, tear_down),
      cmocka_unit_test_setup_teardown(small_buffers_suffice, set_up, tear_down)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
