/* ctest: ranks=1,2,3 timeout=60 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/mem.h"
#include "comm/bucket.h"
#include "job.h"

static float *make_floats(size_t count)
{
  float *values = NULL;
  assert_int_equal(clm__mem_alloc(count, sizeof *values, &values), CLM_OK);
  return values;
}

/* Whether values lie in a window: every test runs both ways. Between ranks that are all on one
 * machine, as here, it is shared. */
static bool in_window;

static int use_window(void **state)
{
  (void)state;
  in_window = true;
  return 0;
}

static int use_messages(void **state)
{
  (void)state;
  in_window = false;
  return 0;
}

static clm__window *make_window(size_t floats, int buckets)
{
  clm__window *window = NULL;
  if (!in_window) return NULL;
  assert_int_equal(clm__window_create(get_job(), floats * sizeof(float), buckets, &window), CLM_OK);
  assert_int_equal(clm__window_is_shared(window), clm__comm_get_size(get_job()) > 1);
  return window;
}

static clm__bucket *make_bucket(float *values, size_t count, clm__wire wire, clm__window *window)
{
  clm__bucket *bucket = NULL;
  const clm__bucket_config config = {
      .values = values, .count = count, .wire = wire, .window = window};
  assert_int_equal(clm__bucket_create(get_job(), &config, &bucket), CLM_OK);
  assert_true(clm__bucket_is_done(bucket));
  return bucket;
}

typedef struct sum {
  clm__window *window;
  float *values;
  clm__bucket *bucket;
} sum;

static sum open_sum(size_t count, clm__wire wire)
{
  sum made = {.window = make_window(count, 1)};
  made.values = in_window ? clm__window_get_bytes(made.window) : make_floats(count);
  made.bucket = make_bucket(made.values, count, wire, made.window);
  return made;
}

static void close_sum(sum *one)
{
  clm__bucket_destroy(one->bucket);
  if (!in_window) clm__mem_free(one->values);
  clm__window_destroy(one->window);
}

static void fill(float *values, size_t count, int step)
{
  const int rank = clm__comm_get_rank(get_job());
  for (size_t i = 0; i < count; i++) values[i] = get_brought(rank, i, step);
}

static void expect_sums(const float *values, size_t count, int step)
{
  const int size = clm__comm_get_size(get_job());
  for (size_t i = 0; i < count; i++)
    if (values[i] != get_sum(size, i, step))
      fail_msg("place %zu of %zu is %.9g instead of %.9g", i, count, (double)values[i],
               (double)get_sum(size, i, step));
}

/* All ranks have the same bits. */
static void expect_equal_bits(const float *values, size_t count)
{
  const uint64_t mine = clm__hash_bytes(CLM__HASH_START, values, count * sizeof *values);
  uint64_t all[16] = {0};
  assert_int_equal(clm__comm_gather(get_job(), &mine, sizeof mine, all), CLM_OK);
  for (int rank = 0; rank < clm__comm_get_size(get_job()); rank++) assert_true(all[rank] == mine);
}

static void sums_equal_those_of_the_host(void **state)
{
  (void)state;
  static const size_t counts[] = {0, 1, 2, 3, 7, 100, 2731, 4097, 8193, 100003};
  for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
    const size_t count = counts[c];
    sum one = open_sum(count, CLM__WIRE_F32);
    float *const values = one.values;
    for (int step = 0; step < 3; step++) {
      fill(values, count, step);
      assert_int_equal(clm__bucket_start(one.bucket), CLM_OK);
      assert_int_equal(clm__bucket_wait(one.bucket), CLM_OK);
      expect_sums(values, count, step);
    }
    expect_equal_bits(values, count);
    close_sum(&one);
  }
}

enum { BUCKETS = 12, STEPS = 10 };

typedef struct many {
  clm__window *window; /* of all, each rank with another layout */
  float *values[BUCKETS];
  size_t counts[BUCKETS];
  clm__bucket *buckets[BUCKETS];
} many;

static void make_many(many *all)
{
  size_t floats = (size_t)clm__comm_get_rank(get_job()) * 5;
  size_t firsts[BUCKETS];
  for (int b = 0; b < BUCKETS; b++) {
    all->counts[b] = (size_t)(b * b * 257 + b);
    firsts[b] = floats;
    floats += all->counts[b];
  }
  all->window = make_window(floats, BUCKETS);
  for (int b = 0; b < BUCKETS; b++) {
    all->values[b] = in_window ? (float *)clm__window_get_bytes(all->window) + firsts[b]
                               : make_floats(all->counts[b]);
    all->buckets[b] = make_bucket(all->values[b], all->counts[b], CLM__WIRE_F32, all->window);
  }
}

static void free_many(many *all)
{
  for (int b = 0; b < BUCKETS; b++) {
    clm__bucket_destroy(all->buckets[b]);
    if (!in_window) clm__mem_free(all->values[b]);
  }
  clm__window_destroy(all->window);
}

/* Starts all buckets in one order and waits for them in another, both different on each rank. */
static void run_many(many *all, int step)
{
  const int rank = clm__comm_get_rank(get_job());
  for (int i = 0; i < BUCKETS; i++) {
    const int b = (i * 5 + rank * 3) % BUCKETS;
    fill(all->values[b], all->counts[b], step + b);
    assert_int_equal(clm__bucket_start(all->buckets[b]), CLM_OK);
    assert_int_equal(clm__comm_poll(get_job()), CLM_OK);
  }
  for (int i = 0; i < BUCKETS; i++) {
    const int b = (i * 7 + rank + step) % BUCKETS;
    assert_int_equal(clm__bucket_wait(all->buckets[b]), CLM_OK);
    assert_true(clm__bucket_is_done(all->buckets[b]));
  }
}

static void many_buckets_in_flight_in_any_order(void **state)
{
  (void)state;
  many all;
  make_many(&all);
  for (int step = 0; step < STEPS; step++) {
    run_many(&all, step);
    for (int b = 0; b < BUCKETS; b++) expect_sums(all.values[b], all.counts[b], step + b);
  }
  free_many(&all);
}

static void a_step_allocates_nothing(void **state)
{
  (void)state;
  many all;
  make_many(&all);
  run_many(&all, 0);
  const uint64_t before = clm__mem_get_counts().allocations;
  for (int step = 0; step < STEPS; step++) run_many(&all, step);
  assert_true(clm__mem_get_counts().allocations == before);
  free_many(&all);
}

static void polling_alone_completes_a_sum(void **state)
{
  (void)state;
  const size_t count = 50000;
  sum one = open_sum(count, CLM__WIRE_F32);
  float *const values = one.values;
  fill(values, count, 3);
  assert_int_equal(clm__bucket_start(one.bucket), CLM_OK);
  while (!clm__bucket_is_done(one.bucket)) assert_int_equal(clm__comm_poll(get_job()), CLM_OK);
  expect_sums(values, count, 3);
  close_sum(&one);
}

/* A rank that has gone on to a meeting still does its part of the buckets that others wait for. */
static void a_meeting_moves_buckets_on(void **state)
{
  (void)state;
  const size_t count = 200000;
  sum one = open_sum(count, CLM__WIRE_F32);
  float *const values = one.values;
  fill(values, count, 4);
  assert_int_equal(clm__bucket_start(one.bucket), CLM_OK);
  if (clm__comm_get_rank(get_job()) != 0) assert_int_equal(clm__bucket_wait(one.bucket), CLM_OK);
  assert_int_equal(clm__comm_barrier(get_job()), CLM_OK);
  assert_int_equal(clm__bucket_wait(one.bucket), CLM_OK);
  expect_sums(values, count, 4);
  close_sum(&one);
}

/* bf16 keeps 8 bits: each part and the sum are off by at most 2^-8 of themselves. */
static double get_bf16_bound(int size, size_t i, int step)
{
  double bound = fabs((double)get_sum(size, i, step));
  for (int rank = 0; rank < size; rank++) bound += 2.0 * fabs((double)get_brought(rank, i, step));
  return bound * 0x1p-8;
}

static void bf16_is_near_and_equal_on_all_ranks(void **state)
{
  (void)state;
  const size_t count = 30001;
  const int size = clm__comm_get_size(get_job());
  sum one = open_sum(count, CLM__WIRE_BF16);
  float *const values = one.values;
  fill(values, count, 0);
  assert_int_equal(clm__bucket_start(one.bucket), CLM_OK);
  assert_int_equal(clm__bucket_wait(one.bucket), CLM_OK);
  bool is_rounded = false;
  for (size_t i = 0; i < count; i++) {
    const double error = fabs((double)values[i] - (double)get_sum(size, i, 0));
    if (error > get_bf16_bound(size, i, 0)) fail_msg("place %zu is off by %g", i, error);
    is_rounded = is_rounded || error > 0.0;
  }
  /* In memory that the ranks share nothing is sent. */
  assert_int_equal(is_rounded, size > 1 && !in_window);
  expect_equal_bits(values, count);
  close_sum(&one);
}

/* The sum of many steps is as near as a single one: what rounding loses is sent later. */
static void bf16_loses_nothing_in_the_long_run(void **state)
{
  (void)state;
  const size_t count = 20000;
  const int steps = 64;
  const int size = clm__comm_get_size(get_job());
  sum one = open_sum(count, CLM__WIRE_BF16);
  float *const values = one.values;
  float *const totals = make_floats(count);
  for (int step = 0; step < steps; step++) {
    fill(values, count, 0);
    assert_int_equal(clm__bucket_start(one.bucket), CLM_OK);
    assert_int_equal(clm__bucket_wait(one.bucket), CLM_OK);
    for (size_t i = 0; i < count; i++) totals[i] += values[i];
  }
  for (size_t i = 0; i < count; i++) {
    const double exact = (double)get_sum(size, i, 0) * steps;
    const double bound = 2.0 * get_bf16_bound(size, i, 0) + 1e-5 * fabs(exact) + 1e-4;
    if (fabs((double)totals[i] - exact) > bound)
      fail_msg("place %zu: %g instead of %g", i, (double)totals[i], exact);
  }
  clm__mem_free(totals);
  close_sum(&one);
}

static void infinity_and_nan_pass_and_leave_no_trace(void **state)
{
  (void)state;
  const size_t count = 20000;
  const int size = clm__comm_get_size(get_job());
  sum one = open_sum(count, CLM__WIRE_BF16);
  float *const values = one.values;
  for (size_t i = 0; i < count; i++) values[i] = i % 2 == 0 ? INFINITY : NAN;
  assert_int_equal(clm__bucket_start(one.bucket), CLM_OK);
  assert_int_equal(clm__bucket_wait(one.bucket), CLM_OK);
  for (size_t i = 0; i < count; i++)
    if (i % 2 == 0 ? !isinf(values[i]) : !isnan(values[i])) fail_msg("place %zu is finite", i);
  for (size_t i = 0; i < count; i++) values[i] = 1.0F;
  assert_int_equal(clm__bucket_start(one.bucket), CLM_OK);
  assert_int_equal(clm__bucket_wait(one.bucket), CLM_OK);
  for (size_t i = 0; i < count; i++) assert_true(values[i] == (float)size);
  close_sum(&one);
}

static void the_same_run_gives_the_same_bits(void **state)
{
  (void)state;
  const size_t count = 25000;
  static const clm__wire wires[] = {CLM__WIRE_F32, CLM__WIRE_BF16};
  for (int w = 0; w < 2; w++) {
    uint64_t hashes[2] = {CLM__HASH_START, CLM__HASH_START};
    for (int run = 0; run < 2; run++) {
      sum one = open_sum(count, wires[w]);
      float *const values = one.values;
      for (int step = 0; step < 5; step++) {
        fill(values, count, step);
        assert_int_equal(clm__bucket_start(one.bucket), CLM_OK);
        assert_int_equal(clm__bucket_wait(one.bucket), CLM_OK);
        hashes[run] = clm__hash_bytes(hashes[run], values, count * sizeof *values);
      }
      close_sum(&one);
    }
    assert_true(hashes[0] == hashes[1]);
  }
}

/* Where the system shares no memory, on one rank or on all, everything else is as before. */
static void without_shared_memory_ranks_send_messages(void **state)
{
  (void)state;
  const size_t count = 20000;
  const int size = clm__comm_get_size(get_job());
  for (int without = 0; without < size; without++) {
    if (clm__comm_get_rank(get_job()) == without)
      assert_int_equal(setenv("CLEMATIS_TEST_NO_SHARED_MEMORY", "1", 1), 0);
    clm__window *window = NULL;
    assert_int_equal(clm__window_create(get_job(), count * sizeof(float), 1, &window), CLM_OK);
    assert_int_equal(unsetenv("CLEMATIS_TEST_NO_SHARED_MEMORY"), 0);
    assert_false(clm__window_is_shared(window));
    float *const values = clm__window_get_bytes(window);
    clm__bucket *const bucket = make_bucket(values, count, CLM__WIRE_F32, window);
    fill(values, count, 0);
    assert_int_equal(clm__bucket_start(bucket), CLM_OK);
    assert_int_equal(clm__bucket_wait(bucket), CLM_OK);
    expect_sums(values, count, 0);
    clm__bucket_destroy(bucket);
    clm__window_destroy(window);
  }
}

/* Memory that only one rank lacks is missed by all. */
static void a_window_fails_on_all_ranks_alike(void **state)
{
  (void)state;
  const bool is_poor = clm__comm_get_rank(get_job()) == clm__comm_get_size(get_job()) - 1;
  clm__window *window = NULL;
  assert_int_equal(setenv("CLEMATIS_TEST_NO_SHARED_MEMORY", "1", 1), 0);
  const size_t size_bytes = is_poor ? SIZE_MAX : 64;
  assert_int_equal(clm__window_create(get_job(), size_bytes, 1, &window), CLM_NO_MEMORY);
  assert_int_equal(unsetenv("CLEMATIS_TEST_NO_SHARED_MEMORY"), 0);
  assert_null(window);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(sums_equal_those_of_the_host, use_messages),
      cmocka_unit_test_setup(sums_equal_those_of_the_host, use_window),
      cmocka_unit_test_setup(many_buckets_in_flight_in_any_order, use_messages),
      cmocka_unit_test_setup(many_buckets_in_flight_in_any_order, use_window),
      cmocka_unit_test_setup(a_step_allocates_nothing, use_messages),
      cmocka_unit_test_setup(a_step_allocates_nothing, use_window),
      cmocka_unit_test_setup(polling_alone_completes_a_sum, use_messages),
      cmocka_unit_test_setup(polling_alone_completes_a_sum, use_window),
      cmocka_unit_test_setup(a_meeting_moves_buckets_on, use_messages),
      cmocka_unit_test_setup(a_meeting_moves_buckets_on, use_window),
      cmocka_unit_test_setup(bf16_is_near_and_equal_on_all_ranks, use_messages),
      cmocka_unit_test_setup(bf16_is_near_and_equal_on_all_ranks, use_window),
      cmocka_unit_test_setup(bf16_loses_nothing_in_the_long_run, use_messages),
      cmocka_unit_test_setup(bf16_loses_nothing_in_the_long_run, use_window),
      cmocka_unit_test_setup(infinity_and_nan_pass_and_leave_no_trace, use_messages),
      cmocka_unit_test_setup(infinity_and_nan_pass_and_leave_no_trace, use_window),
      cmocka_unit_test_setup(the_same_run_gives_the_same_bits, use_messages),
      cmocka_unit_test_setup(the_same_run_gives_the_same_bits, use_window),
      cmocka_unit_test(without_shared_memory_ranks_send_messages),
      cmocka_unit_test(a_window_fails_on_all_ranks_alike),
  };
  return cmocka_run_group_tests(tests, open_job, close_job);
}
