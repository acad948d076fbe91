/* Replicas in step give what one device gives, and what Keras gave: losses, hits and weights of
 * twelve golden steps. */
#include "train/troupe.h"

#include "io/model_file.h"
#include "support/folder.h"
#include "support/npy.h"
#include "train/golden_weights.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static test_options options;
static troupe lone; /* one device, batches of eight */

static troupe make(int ranks, int devices)
{
  return (troupe){.ranks = ranks, .devices = devices, .steps = TROUPE_STEPS, .batch = 8};
}

static void assert_weights_near(const troupe *all, const troupe *expected)
{
  assert_int_equal(all->weight_count, expected->weight_count);
  for (size_t i = 0; i < all->weight_count; i++) {
    const double difference = fabs((double)all->weights[i] - (double)expected->weights[i]);
    if (!(difference <= 1e-5 * fmax(1.0, fabs((double)expected->weights[i]))))
      fail_msg("weight %zu is %.9g, expected %.9g", i, (double)all->weights[i],
               (double)expected->weights[i]);
  }
}

static void assert_same(const troupe *all, const troupe *expected)
{
  assert_int_equal(all->failures[0].status, CLM_OK);
  for (int step = 0; step < all->steps; step++) {
    const clm__team_result *is = &all->results[step];
    const clm__team_result *should_be = &expected->results[step];
    assert_int_equal(is->count, should_be->count);
    assert_int_equal(is->hit_count, should_be->hit_count);
    assert_true(is->is_finite);
    if (!(fabs(is->loss_sum - should_be->loss_sum) <= 1e-5 * fabs(should_be->loss_sum)))
      fail_msg("the loss of step %d is %.9g, expected %.9g", step + 1, is->loss_sum,
               should_be->loss_sum);
  }
  assert_weights_near(all, expected);
}

static int run_lone(void **state)
{
  (void)state;
  lone = make(1, 1);
  lone.evaluate = 8;
  troupe_run(&lone, &options);
  assert_int_equal(lone.failures[0].status, CLM_OK);
  return 0;
}

static int free_lone(void **state)
{
  (void)state;
  troupe_free(&lone);
  return 0;
}

/* What Keras recorded, in its tolerances. */
static void assert_golden(const troupe *all)
{
  npy losses = npy_read_golden("train/loss.npy");
  npy accuracies = npy_read_golden("train/accuracy.npy");
  clm__model_file model = {0};
  char path[1024];
  for (int step = 0; step < TROUPE_STEPS; step++) {
    const float loss = (float)(all->results[step].loss_sum / 8.0);
    const float accuracy = (float)all->results[step].hit_count / 8.0F;
    assert_floats_near("loss", &loss, &losses.f32[step], 1, 1e-5);
    assert_true(accuracy == accuracies.f32[step]);
  }
  (void)snprintf(path, sizeof path, "%s/golden/train/init.keras", tests_folder());
  assert_ok(clm__model_file_read(path, NULL, &model));
  golden_weights_compare(&model, all->weights, "weights_after12", 1e-5);
  clm__model_file_fini(&model);
  npy_free(&losses);
  npy_free(&accuracies);
}

static void run_and_compare(troupe *all)
{
  all->evaluate = 8;
  troupe_run(all, &options);
  assert_same(all, &lone);
  assert_golden(all);
  if (!all->drifts) assert_string_equal(all->warning, "");
  assert_int_equal(all->evaluation.count, 8);
  assert_int_equal(all->evaluation.hit_count, lone.evaluation.hit_count);
  assert_true(fabs(all->evaluation.loss_sum - lone.evaluation.loss_sum) <
              1e-5 * lone.evaluation.loss_sum);
  troupe_free(all);
}

static void two_devices(void **state)
{
  (void)state;
  troupe all = make(1, 2);
  run_and_compare(&all);
}

static void three_devices(void **state)
{
  (void)state;
  troupe all = make(1, 3);
  run_and_compare(&all);
}

static void unequal_shares(void **state)
{
  (void)state;
  troupe all = make(1, 2);
  all.shares = (const double[]){1.0, 3.0};
  run_and_compare(&all);
}

static void two_ranks(void **state)
{
  (void)state;
  troupe all = make(2, 1);
  run_and_compare(&all);
}

static void three_ranks(void **state)
{
  (void)state;
  troupe all = make(3, 1);
  run_and_compare(&all);
}

static void two_ranks_of_two_devices(void **state)
{
  (void)state;
  troupe all = make(2, 2);
  all.shares = (const double[]){1.0, 1.0, 1.0, 3.0};
  run_and_compare(&all);
}

/* Shares are measured and may change at any look; what comes out does not depend on them. */
static void devices_of_two_kinds(void **state)
{
  (void)state;
  for (int ranks = 1; ranks <= 2; ranks++) {
    troupe all = make(ranks, 3 - ranks);
    all.mixed = true;
    run_and_compare(&all);
  }
}

/* A lone device on the same small batches is what several are compared with. */
static void compare_small(int batch, int ranks, int devices)
{
  troupe expected = make(1, 1);
  troupe all = make(ranks, devices);
  expected.batch = all.batch = batch;
  expected.steps = all.steps = 4;
  troupe_run(&expected, &options);
  troupe_run(&all, &options);
  assert_same(&all, &expected);
  troupe_free(&expected);
  troupe_free(&all);
}

static void fewer_images_than_replicas(void **state)
{
  (void)state;
  compare_small(2, 1, 3);
  compare_small(2, 3, 1);
  compare_small(1, 1, 2);
  compare_small(1, 2, 1);
}

/* The last replica takes so many times as long. */
static void set_slow(const char *times)
{
  assert_int_equal(setenv("CLEMATIS_TEST_SLOW_DEVICE", times, 1), 0);
}

static void set_as_fast(void) { (void)unsetenv("CLEMATIS_TEST_SLOW_DEVICE"); }

/* Shares are looked at after 5 and 10 steps, and the step after is the first with others. */
static void a_slow_device_gets_less(void **state)
{
  (void)state;
  for (int ranks = 1; ranks <= 2; ranks++) {
    troupe all = make(ranks, 3 - ranks);
    set_slow("5");
    run_and_compare(&all);
    set_as_fast();
    for (int step = 0; step < TROUPE_STEPS; step++)
      if (all.results[step].shares_changed) assert_true(step == 4 || step == 9);
    assert_true(all.results[4].shares_changed);
    assert_true(all.rows[1].share < 0.35);
    assert_true(fabs(all.rows[0].share + all.rows[1].share - 1.0) < 1e-9);
    assert_true(all.rows[1].images_per_second < all.rows[0].images_per_second);
  }
}

static void a_device_that_keeps_the_others_waiting_is_named(void **state)
{
  (void)state;
  troupe all = make(1, 2);
  all.shares = (const double[]){1.0, 1.0};
  all.steps = 4;
  set_slow("10");
  troupe_run(&all, &options);
  set_as_fast();
  assert_int_equal(all.failures[0].status, CLM_OK);
  assert_false(all.rows[0].is_hindrance);
  assert_true(all.rows[1].is_hindrance);
  assert_true(all.rows[0].wait_share > all.rows[1].wait_share);
  troupe_free(&all);
}

/* A replica with other weights is found at the next look, and gets those of the first. */
static void weights_that_drifted_are_mended(void **state)
{
  (void)state;
  for (int ranks = 1; ranks <= 2; ranks++) {
    troupe all = make(ranks, 3 - ranks);
    all.drifts = true;
    run_and_compare(&all);
    assert_non_null(strstr(all.warning, "no longer the same after step 12; those of the first"));
  }
}

static void half_the_bytes_come_close(void **state)
{
  (void)state;
  troupe all = make(2, 1);
  all.wire = CLM__WIRE_BF16;
  troupe_run(&all, &options);
  assert_int_equal(all.failures[0].status, CLM_OK);
  for (int step = 0; step < TROUPE_STEPS; step++) {
    assert_int_equal(all.results[step].count, 8);
    assert_true(fabs(all.results[step].loss_sum - lone.results[step].loss_sum) <
                0.02 * lone.results[step].loss_sum);
  }
  troupe_free(&all);
}

static void the_same_bits_twice(void **state)
{
  (void)state;
  troupe first = make(2, 2), second = make(2, 2);
  first.steps = second.steps = 4;
  troupe_run(&first, &options);
  troupe_run(&second, &options);
  assert_memory_equal(first.weights, second.weights, first.weight_count * sizeof(float));
  troupe_free(&first);
  troupe_free(&second);
}

static void a_step_allocates_nothing_and_waits_once(void **state)
{
  (void)state;
  troupe all = make(1, 2);
  troupe_run(&all, &options);
  assert_int_equal(all.failures[0].status, CLM_OK);
  assert_int_equal(all.allocations, 0);
  assert_int_equal(all.buffers, 0);
  assert_int_equal(all.finishes, 2 * (TROUPE_STEPS - 1));
  troupe_free(&all);
}

static void a_traced_step_allocates_nothing_and_shows_every_kernel(void **state)
{
  (void)state;
  troupe plain = make(1, 2), all = make(1, 2);
  all.traces = true;
  troupe_run(&plain, &options);
  troupe_run(&all, &options);
  assert_int_equal(all.allocations, 0);
  assert_int_equal(all.buffers, 0);
  assert_int_equal(all.finishes, 2 * (TROUPE_STEPS - 1));
  assert_true(all.kernels > 0);
  assert_int_equal(all.kernel_spans, all.kernels);
  assert_memory_equal(all.weights, plain.weights, all.weight_count * sizeof(float));
  troupe_free(&plain);
  troupe_free(&all);
}

static void a_loss_that_is_no_number_stops_all_updates(void **state)
{
  (void)state;
  for (int ranks = 1; ranks <= 2; ranks++) {
    troupe before = make(ranks, 2), all = make(ranks, 2);
    before.steps = 2;
    all.steps = all.nan_step = 3;
    troupe_run(&before, &options);
    troupe_run(&all, &options);
    assert_int_equal(all.failures[0].status, CLM_OK);
    assert_true(all.results[1].is_finite);
    assert_false(all.results[2].is_finite);
    assert_memory_equal(all.weights, before.weights, all.weight_count * sizeof(float));
    troupe_free(&before);
    troupe_free(&all);
  }
}

static void one_rank_asked_to_stop_is_heard_by_all(void **state)
{
  (void)state;
  troupe all = make(3, 1);
  all.steps = 3;
  all.stop_step = 2;
  troupe_run(&all, &options);
  assert_false(all.results[0].wants_stop);
  assert_true(all.results[1].wants_stop);
  assert_false(all.results[2].wants_stop);
  troupe_free(&all);
}

static void a_checkpoint_that_one_rank_wants_is_heard_by_all(void **state)
{
  (void)state;
  for (int ranks = 1; ranks <= 3; ranks++) {
    troupe all = make(ranks, 1);
    all.steps = 3;
    all.save_step = 2;
    troupe_run(&all, &options);
    for (int step = 0; step < 3; step++)
      assert_int_equal(all.results[step].wants_save, step + 1 == all.save_step);
    troupe_free(&all);
  }
}

static void a_rank_without_its_batch_ends_all(void **state)
{
  (void)state;
  troupe all = make(2, 2);
  all.steps = 3;
  all.missing_step = 2;
  troupe_run(&all, &options);
  assert_int_equal(all.failures[0].status, CLM_IO);
  assert_non_null(strstr(all.failures[0].message, "rank 1 ("));
  assert_non_null(strstr(all.failures[0].message, "the disk of the last rank is gone"));
  troupe_free(&all);
}

static void a_device_that_fails_is_named_by_all(void **state)
{
  (void)state;
  (void)setenv("CLEMATIS_TEST_FAIL_DEVICE", "2", 1);
  for (int ranks = 1; ranks <= 2; ranks++) {
    troupe all = make(ranks, 2);
    all.steps = 3;
    troupe_run(&all, &options);
    assert_int_equal(all.failures[0].status, CLM_DEVICE_FAILED);
    assert_non_null(strstr(all.failures[0].message, "a test wants it to"));
    if (ranks > 1) assert_non_null(strstr(all.failures[0].message, "rank 1 ("));
    troupe_free(&all);
  }
  (void)unsetenv("CLEMATIS_TEST_FAIL_DEVICE");
}

/* A mean over all images, as the means of the replicas count by their images. */
static void moving_averages_are_those_of_all_images(void **state)
{
  (void)state;
  for (int ranks = 1; ranks <= 2; ranks++) {
    troupe expected = make(1, 1), all = make(ranks, 3 - ranks);
    expected.steps = all.steps = 1;
    expected.normalizes = all.normalizes = true;
    all.shares = (const double[]){1.0, 3.0};
    troupe_run(&expected, &options);
    troupe_run(&all, &options);
    assert_int_equal(all.failures[0].status, CLM_OK);
    const float *mean = all.weights + all.trained_count;
    const float *expected_mean = expected.weights + expected.trained_count;
    for (int c = 0; c < 3; c++) {
      assert_true(expected_mean[c] > 0.1F);
      assert_true(fabsf(mean[c] - expected_mean[c]) < 1e-5F * expected_mean[c]);
    }
    troupe_free(&expected);
    troupe_free(&all);
  }
}

int main(int argc, char **argv)
{
  options = test_options_read(argc, argv);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_devices),
      cmocka_unit_test(three_devices),
      cmocka_unit_test(unequal_shares),
      cmocka_unit_test(two_ranks),
      cmocka_unit_test(three_ranks),
      cmocka_unit_test(two_ranks_of_two_devices),
      cmocka_unit_test(devices_of_two_kinds),
      cmocka_unit_test(fewer_images_than_replicas),
      cmocka_unit_test(a_slow_device_gets_less),
      cmocka_unit_test(a_device_that_keeps_the_others_waiting_is_named),
      cmocka_unit_test(weights_that_drifted_are_mended),
      cmocka_unit_test(half_the_bytes_come_close),
      cmocka_unit_test(the_same_bits_twice),
      cmocka_unit_test(a_step_allocates_nothing_and_waits_once),
      cmocka_unit_test(a_traced_step_allocates_nothing_and_shows_every_kernel),
      cmocka_unit_test(moving_averages_are_those_of_all_images),
      cmocka_unit_test(a_loss_that_is_no_number_stops_all_updates),
      cmocka_unit_test(one_rank_asked_to_stop_is_heard_by_all),
      cmocka_unit_test(a_checkpoint_that_one_rank_wants_is_heard_by_all),
      cmocka_unit_test(a_rank_without_its_batch_ends_all),
      cmocka_unit_test(a_device_that_fails_is_named_by_all)};
  return cmocka_run_group_tests(tests, run_lone, free_lone);
}
