/* Batch normalization by the images of all replicas: any number of devices and ranks gives what one
 * device gives. */
#include "train/troupe.h"

#include "support/npy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of the residual model of troupe.c: four in forward; the first normalization needs no gradient of
 * the pixels. */
enum { JOINTS = 7 };

static test_options options;
static troupe lone; /* one device, batches of eight */

static troupe make(int ranks, int devices)
{
  return (troupe){.ranks = ranks,
                  .devices = devices,
                  .steps = TROUPE_STEPS,
                  .batch = 8,
                  .evaluate = 8,
                  .is_residual = true,
                  .join = CLM__JOIN_ALL};
}

static int run_lone(void **state)
{
  (void)state;
  lone = make(1, 1);
  lone.join = CLM__JOIN_NOTHING;
  troupe_run(&lone, &options);
  assert_int_equal(lone.failures[0].status, CLM_OK);
  /* It learns: the last batch is that of step 4. */
  assert_true(lone.results[TROUPE_STEPS - 1].loss_sum < 0.9 * lone.results[3].loss_sum);
  return 0;
}

static int free_lone(void **state)
{
  (void)state;
  troupe_free(&lone);
  return 0;
}

static void run_well(troupe *all)
{
  troupe_run(all, &options);
  if (all->failures[0].status != CLM_OK) fail_msg("%s", all->failures[0].message);
}

static void assert_same(const troupe *all, const troupe *expected)
{
  for (int step = 0; step < all->steps; step++) {
    const clm__team_result *is = &all->results[step];
    const clm__team_result *should_be = &expected->results[step];
    assert_int_equal(is->count, should_be->count);
    assert_int_equal(is->hit_count, should_be->hit_count);
    if (!(fabs(is->loss_sum - should_be->loss_sum) <= 1e-5 * fabs(should_be->loss_sum)))
      fail_msg("the loss of step %d is %.9g, expected %.9g", step + 1, is->loss_sum,
               should_be->loss_sum);
  }
  /* Moving averages, too. */
  assert_int_equal(all->weight_count, expected->weight_count);
  assert_floats_near("weight", all->weights, expected->weights, all->weight_count, 1e-5);
  assert_true(fabs(all->evaluation.loss_sum - expected->evaluation.loss_sum) <=
              1e-5 * expected->evaluation.loss_sum);
}

static void run_and_compare(troupe *all, const troupe *expected)
{
  run_well(all);
  assert_same(all, expected);
  troupe_free(all);
}

static void alone_it_changes_nothing(void **state)
{
  (void)state;
  troupe all = make(1, 1);
  all.is_marked = true;
  run_well(&all);
  assert_memory_equal(all.weights, lone.weights, lone.weight_count * sizeof(float));
  assert_int_equal(all.finishes, lone.finishes);
  troupe_free(&all);
}

static void devices_of_one_rank(void **state)
{
  (void)state;
  troupe equal = make(1, 2), unequal = make(1, 2), three = make(1, 3);
  unequal.shares = (const double[]){1.0, 3.0};
  run_and_compare(&equal, &lone);
  run_and_compare(&unequal, &lone);
  run_and_compare(&three, &lone);
}

static void ranks(void **state)
{
  (void)state;
  troupe two = make(2, 1), four = make(2, 2);
  four.shares = (const double[]){1.0, 1.0, 1.0, 3.0};
  run_and_compare(&two, &lone);
  run_and_compare(&four, &lone);
}

/* Shares come from the time that a replica is busy, which is not that of waiting for the others. */
static void devices_of_two_kinds(void **state)
{
  (void)state;
  troupe all = make(1, 2);
  all.mixed = true;
  run_and_compare(&all, &lone);
}

/* With two images for three replicas the last one has none, and follows. */
static void replicas_without_images(void **state)
{
  (void)state;
  troupe expected = make(1, 1), devices = make(1, 3), apart = make(3, 1);
  expected.batch = devices.batch = apart.batch = 2;
  expected.steps = devices.steps = apart.steps = 4;
  run_well(&expected);
  run_and_compare(&devices, &expected);
  run_and_compare(&apart, &expected);
  troupe_free(&expected);
}

static bool are_far_apart(const troupe *all)
{
  for (size_t i = 0; i < all->weight_count; i++)
    if (fabsf(all->weights[i] - lone.weights[i]) > 1e-3F * fmaxf(1.0F, fabsf(lone.weights[i])))
      return true;
  return false;
}

static void without_the_option_replicas_differ(void **state)
{
  (void)state;
  troupe nothing = make(1, 2), unmarked = make(1, 2);
  nothing.join = CLM__JOIN_NOTHING;
  unmarked.join = CLM__JOIN_MARKED;
  run_well(&nothing);
  run_well(&unmarked);
  assert_true(are_far_apart(&nothing));
  assert_memory_equal(nothing.weights, unmarked.weights, lone.weight_count * sizeof(float));
  assert_int_equal(unmarked.finishes, 2 * (TROUPE_STEPS - 1));
  troupe_free(&nothing);
  troupe_free(&unmarked);
}

static void layers_may_ask_for_it(void **state)
{
  (void)state;
  troupe all = make(1, 2);
  all.join = CLM__JOIN_MARKED;
  all.is_marked = true;
  run_and_compare(&all, &lone);
}

static void the_same_bits_twice(void **state)
{
  (void)state;
  troupe first = make(2, 2), second = make(2, 2);
  first.steps = second.steps = 4;
  run_well(&first);
  run_well(&second);
  assert_memory_equal(first.weights, second.weights, first.weight_count * sizeof(float));
  troupe_free(&first);
  troupe_free(&second);
}

static void a_step_allocates_nothing_and_waits_once_a_joint(void **state)
{
  (void)state;
  troupe all = make(1, 2);
  run_well(&all);
  assert_int_equal(all.allocations, 0);
  assert_int_equal(all.buffers, 0);
  assert_int_equal(all.finishes, 2 * (TROUPE_STEPS - 1) * (1 + JOINTS));
  troupe_free(&all);
}

static void assert_ends(troupe *all, clm_status status, const char *words)
{
  all->steps = 3;
  all->evaluate = 0;
  troupe_run(all, &options);
  assert_string_equal(clm_status_name(all->failures[0].status), clm_status_name(status));
  if (strstr(all->failures[0].message, words) == NULL) fail_msg("%s", all->failures[0].message);
  troupe_free(all);
}

/* The failing one is in the middle of the joints, where the others wait for it. */
static void a_device_that_fails_ends_all(void **state)
{
  (void)state;
  (void)setenv("CLEMATIS_TEST_FAIL_DEVICE", "2", 1);
  troupe one = make(1, 3), two = make(2, 2);
  assert_ends(&one, CLM_DEVICE_FAILED, "a test wants it to");
  assert_ends(&two, CLM_DEVICE_FAILED, "rank 1 (");
  (void)unsetenv("CLEMATIS_TEST_FAIL_DEVICE");
}

static void a_rank_without_its_batch_ends_all(void **state)
{
  (void)state;
  troupe all = make(2, 2);
  all.missing_step = 2;
  assert_ends(&all, CLM_IO, "the disk of the last rank is gone");
}

/* Its own network tells the last rank, silence tells the first one. */
static void a_rank_without_its_network_ends_all(void **state)
{
  (void)state;
  static troupe all;
  all = make(2, 2);
  all.broken_step = 2;
  assert_ends(&all, CLM_PEER_FAILED, "no answer for 2.0 s from rank 1 (");
  assert_int_equal(all.failures[1].status, CLM_PEER_FAILED);
}

int main(int argc, char **argv)
{
  options = test_options_read(argc, argv);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(alone_it_changes_nothing),
      cmocka_unit_test(devices_of_one_rank),
      cmocka_unit_test(ranks),
      cmocka_unit_test(devices_of_two_kinds),
      cmocka_unit_test(replicas_without_images),
      cmocka_unit_test(without_the_option_replicas_differ),
      cmocka_unit_test(layers_may_ask_for_it),
      cmocka_unit_test(the_same_bits_twice),
      cmocka_unit_test(a_step_allocates_nothing_and_waits_once_a_joint),
      cmocka_unit_test(a_device_that_fails_ends_all),
      cmocka_unit_test(a_rank_without_its_batch_ends_all),
      cmocka_unit_test(a_rank_without_its_network_ends_all),
  };
  return cmocka_run_group_tests(tests, run_lone, free_lone);
}
