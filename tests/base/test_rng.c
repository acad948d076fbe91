#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "support/folder.h"
#include "support/npy.h"

static void assert_order(const uint32_t *actual, const uint32_t *expected, size_t count)
{
  for (size_t i = 0; i < count; i++)
    if (actual[i] != expected[i])
      fail_msg("place %zu holds %u, expected %u", i, actual[i], expected[i]);
}

/* ---- Philox ---- */

/* Known answers of the authors' Random123 library for philox4x32-10. */
static void philox_gives_its_published_values(void **state)
{
  (void)state;
  static const struct {
    uint64_t seed;
    uint32_t counter[4];
    uint32_t expected[4];
  } cases[] = {
      {0, {0, 0, 0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {UINT64_MAX,
       {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX},
       {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {UINT64_C(0x299f31d0a4093822),
       {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint32_t actual[4];
    clm__rng_philox(cases[i].seed, cases[i].counter, actual);
    assert_order(actual, cases[i].expected, 4);
  }
}

static void a_block_depends_on_seed_use_and_both_numbers(void **state)
{
  (void)state;
  uint32_t blocks[6][4];
  clm__rng_block(1, CLM__RNG_INIT, 2, 3, blocks[0]);
  clm__rng_block(2, CLM__RNG_INIT, 2, 3, blocks[1]);
  clm__rng_block(1, CLM__RNG_SHUFFLE, 2, 3, blocks[2]);
  clm__rng_block(1, CLM__RNG_INIT, 3, 3, blocks[3]);
  clm__rng_block(1, CLM__RNG_INIT, 2, 4, blocks[4]);
  clm__rng_block(1, CLM__RNG_INIT, 2, UINT64_C(3) << 32, blocks[5]);
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < i; k++) assert_memory_not_equal(blocks[i], blocks[k], sizeof blocks[0]);
}

static void unit_numbers_lie_below_one(void **state)
{
  (void)state;
  assert_true(clm__rng_unit(0) == 0.0F);
  assert_true(clm__rng_unit(UINT32_MAX) < 1.0F);
  assert_true(clm__rng_unit(UINT32_C(1) << 31) == 0.5F);
}

/* ---- Our own permutation ---- */

static void assert_permutation(const uint32_t *order, size_t count)
{
  bool *seen = calloc(count + 1, sizeof *seen);
  for (size_t i = 0; i < count; i++) {
    assert_true(order[i] < count && !seen[order[i]]);
    seen[order[i]] = true;
  }
  free(seen);
}

static void a_permutation_is_complete_and_a_function_of_seed_and_epoch(void **state)
{
  (void)state;
  uint32_t orders[4][1000];
  clm__rng_permutation(7, 0, orders[0], 1000);
  clm__rng_permutation(7, 0, orders[1], 1000);
  clm__rng_permutation(7, 1, orders[2], 1000);
  clm__rng_permutation(8, 0, orders[3], 1000);
  for (int i = 0; i < 4; i++) assert_permutation(orders[i], 1000);
  assert_memory_equal(orders[0], orders[1], sizeof orders[0]);
  assert_memory_not_equal(orders[0], orders[2], sizeof orders[0]);
  assert_memory_not_equal(orders[0], orders[3], sizeof orders[0]);
  clm__rng_permutation(7, 0, orders[0], 1);
  assert_int_equal(orders[0][0], 0);
  clm__rng_permutation(7, 0, orders[0], 0);
}

/* Each of the 24 orders of 4 should come about 1000 times in 24000; 5 sigma are 155. */
static void all_permutations_are_equally_likely(void **state)
{
  (void)state;
  int counts[256] = {0};
  for (uint32_t epoch = 0; epoch < 24000; epoch++) {
    uint32_t order[4];
    clm__rng_permutation(3, epoch, order, 4);
    counts[order[0] << 6 | order[1] << 4 | order[2] << 2 | order[3]]++;
  }
  int kinds = 0;
  for (int i = 0; i < 256; i++) {
    if (counts[i] == 0) continue;
    assert_true(counts[i] > 845 && counts[i] < 1155);
    kinds++;
  }
  assert_int_equal(kinds, 24);
}

/* ---- NumPy's shuffle ---- */

static void numpy_shuffles_come_out(void **state)
{
  (void)state;
  static const uint32_t of_20[] = {14, 5, 4,  17, 8, 7, 19, 12, 0, 15,
                                   16, 9, 11, 10, 3, 1, 6,  18, 2, 13};
  static const uint32_t of_10[] = {8, 1, 5, 0, 7, 2, 9, 4, 3, 6};
  uint32_t order[20];
  clm__rng_numpy_shuffle(123, order, 20);
  assert_order(order, of_20, 20);
  clm__rng_numpy_shuffle(42, order, 10);
  assert_order(order, of_10, 10);
}

static void the_flowers_order_comes_out(void **state)
{
  (void)state;
  static const uint32_t first[] = {553, 1394, 3208, 3240, 1805, 1770, 3552, 2919, 2136, 3424};
  static const uint32_t last_training[] = {2383, 3433, 1686};
  static const uint32_t first_validation[] = {2250, 1836, 789, 1254, 3374};
  static const uint32_t last[] = {1122, 1346, 3454, 3437, 3582};
  uint32_t order[3670];
  clm__rng_numpy_shuffle(123, order, 3670);
  assert_order(order, first, 10);
  assert_order(order + 2936 - 3, last_training, 3);
  assert_order(order + 2936, first_validation, 5);
  assert_order(order + 3665, last, 5);
  uint64_t sum = 0;
  for (uint64_t i = 0; i < 3670; i++) sum += i * order[i];
  assert_true(sum == UINT64_C(12323374368));
  assert_permutation(order, 3670);
}

/* ---- tf.data's shuffle ---- */

static void assert_golden_shuffle(uint32_t seed, uint32_t iterator, size_t buffer, size_t count)
{
  char path[1024];
  (void)snprintf(path, sizeof path, "%s/golden/split/shuffle_n%zu_buffer%zu_seed%u_it%u.txt",
                 tests_folder(), count, buffer, seed, iterator);
  FILE *file = fopen(path, "r");
  if (file == NULL) fail_msg("cannot open %s", path);
  uint32_t *actual = malloc(count * sizeof *actual);
  clm__rng_tensorflow_shuffle(seed, iterator, buffer, actual, count);
  for (size_t i = 0; i < count; i++) {
    unsigned int expected = 0;
    assert_int_equal(fscanf(file, "%u", &expected), 1);
    if (actual[i] != expected) fail_msg("%s: place %zu", path, i);
  }
  free(actual);
  (void)fclose(file);
}

static void tensorflow_shuffles_come_out(void **state)
{
  (void)state;
  for (uint32_t iterator = 1; iterator <= 4; iterator++) {
    assert_golden_shuffle(5, iterator, 8, 20);
    assert_golden_shuffle(123, iterator, 256, 2936);
    assert_golden_shuffle(123, iterator, 256, 734);
  }
}

/* The labels that Keras saw in two passes over the shuffled training list. */
static void labels_come_in_keras_order(void **state)
{
  (void)state;
  char path[1024];
  (void)snprintf(path, sizeof path, "%s/golden/split/split0.2_seed123_training.txt",
                 tests_folder());
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  int labels[2936];
  for (int i = 0; i < 2936; i++) assert_int_equal(fscanf(file, "%d %*[^\n]", &labels[i]), 1);
  (void)fclose(file);
  for (uint32_t pass = 1; pass <= 2; pass++) {
    (void)snprintf(path, sizeof path, "split/seed123_training_labels_pass%u.npy", pass);
    npy expected = npy_read_golden(path);
    uint32_t order[2936];
    clm__rng_tensorflow_shuffle(123, pass, 256, order, 2936);
    for (int i = 0; i < 2936; i++) assert_int_equal(labels[order[i]], expected.i32[i]);
    npy_free(&expected);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(philox_gives_its_published_values),
      cmocka_unit_test(a_block_depends_on_seed_use_and_both_numbers),
      cmocka_unit_test(unit_numbers_lie_below_one),
      cmocka_unit_test(a_permutation_is_complete_and_a_function_of_seed_and_epoch),
      cmocka_unit_test(all_permutations_are_equally_likely),
      cmocka_unit_test(numpy_shuffles_come_out),
      cmocka_unit_test(the_flowers_order_comes_out),
      cmocka_unit_test(tensorflow_shuffles_come_out),
      cmocka_unit_test(labels_come_in_keras_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
