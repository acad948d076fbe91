/* ctest: ranks=1,2,3 timeout=60 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
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

static clm__bucket *make_bucket(float *values, size_t count, clm__wire wire)
{
  clm__bucket *bucket = NULL;
  const clm__bucket_config config = {.values = values, .count = count, .wire = wire};
  assert_int_equal(clm__bucket_create(get_job(), &config, &bucket), CLM_OK);
  assert_true(clm__bucket_is_done(bucket));
  return bucket;
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
    float *const values = make_floats(count);
    clm__bucket *const bucket = make_bucket(values, count, CLM__WIRE_F32);
    for (int step = 0; step < 3; step++) {
      fill(values, count, step);
      assert_int_equal(clm__bucket_start(bucket), CLM_OK);
      assert_int_equal(clm__bucket_wait(bucket), CLM_OK);
      expect_sums(values, count, step);
    }
    expect_equal_bits(values, count);
    clm__bucket_destroy(bucket);
    clm__mem_free(values);
  }
}

enum { BUCKETS = 12, STEPS = 10 };

typedef struct many {
  float *values[BUCKETS];
  size_t counts[BUCKETS];
  clm__bucket *buckets[BUCKETS];
} many;

static void make_many(many *all)
{
  for (int b = 0; b < BUCKETS; b++) {
    all->counts[b] = (size_t)(b * b * 257 + b);
    all->values[b] = make_floats(all->counts[b]);
    all->buckets[b] = make_bucket(all->values[b], all->counts[b], CLM__WIRE_F32);
  }
}

static void free_many(many *all)
{
  for (int b = 0; b < BUCKETS; b++) {
    clm__bucket_destroy(all->buckets[b]);
    clm__mem_free(all->values[b]);
  }
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
  float *const values = make_floats(count);
  clm__bucket *const bucket = make_bucket(values, count, CLM__WIRE_F32);
  fill(values, count, 3);
  assert_int_equal(clm__bucket_start(bucket), CLM_OK);
  while (!clm__bucket_is_done(bucket)) assert_int_equal(clm__comm_poll(get_job()), CLM_OK);
  expect_sums(values, count, 3);
  clm__bucket_destroy(bucket);
  clm__mem_free(values);
}

/* A rank that has gone on to a meeting still does its part of the buckets that others wait for. */
static void a_meeting_moves_buckets_on(void **state)
{
  (void)state;
  const size_t count = 200000;
  float *const values = make_floats(count);
  clm__bucket *const bucket = make_bucket(values, count, CLM__WIRE_F32);
  fill(values, count, 4);
  assert_int_equal(clm__bucket_start(bucket), CLM_OK);
  if (clm__comm_get_rank(get_job()) != 0) assert_int_equal(clm__bucket_wait(bucket), CLM_OK);
  assert_int_equal(clm__comm_barrier(get_job()), CLM_OK);
  assert_int_equal(clm__bucket_wait(bucket), CLM_OK);
  expect_sums(values, count, 4);
  clm__bucket_destroy(bucket);
  clm__mem_free(values);
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
  float *const values = make_floats(count);
  clm__bucket *const bucket = make_bucket(values, count, CLM__WIRE_BF16);
  fill(values, count, 0);
  assert_int_equal(clm__bucket_start(bucket), CLM_OK);
  assert_int_equal(clm__bucket_wait(bucket), CLM_OK);
  bool is_rounded = false;
  for (size_t i = 0; i < count; i++) {
    const double error = fabs((double)values[i] - (double)get_sum(size, i, 0));
    if (error > get_bf16_bound(size, i, 0)) fail_msg("place %zu is off by %g", i, error);
    is_rounded = is_rounded || error > 0.0;
  }
  assert_int_equal(is_rounded, size > 1);
  expect_equal_bits(values, count);
  clm__bucket_destroy(bucket);
  clm__mem_free(values);
}

/* The sum of many steps is as near as a single one: what rounding loses is sent later. */
static void bf16_loses_nothing_in_the_long_run(void **state)
{
  (void)state;
  const size_t count = 20000;
  const int steps = 64;
  const int size = clm__comm_get_size(get_job());
  float *const values = make_floats(count);
  float *const totals = make_floats(count);
  clm__bucket *const bucket = make_bucket(values, count, CLM__WIRE_BF16);
  for (int step = 0; step < steps; step++) {
    fill(values, count, 0);
    assert_int_equal(clm__bucket_start(bucket), CLM_OK);
    assert_int_equal(clm__bucket_wait(bucket), CLM_OK);
    for (size_t i = 0; i < count; i++) totals[i] += values[i];
  }
  for (size_t i = 0; i < count; i++) {
    const double exact = (double)get_sum(size, i, 0) * steps;
    const double bound = 2.0 * get_bf16_bound(size, i, 0) + 1e-5 * fabs(exact) + 1e-4;
    if (fabs((double)totals[i] - exact) > bound)
      fail_msg("place %zu: %g instead of %g", i, (double)totals[i], exact);
  }
  clm__bucket_destroy(bucket);
  clm__mem_free(totals);
  clm__mem_free(values);
}

static void infinity_and_nan_pass_and_leave_no_trace(void **state)
{
  (void)state;
  const size_t count = 20000;
  const int size = clm__comm_get_size(get_job());
  float *const values = make_floats(count);
  clm__bucket *const bucket = make_bucket(values, count, CLM__WIRE_BF16);
  for (size_t i = 0; i < count; i++) values[i] = i % 2 == 0 ? INFINITY : NAN;
  assert_int_equal(clm__bucket_start(bucket), CLM_OK);
  assert_int_equal(clm__bucket_wait(bucket), CLM_OK);
  for (size_t i = 0; i < count; i++)
    if (i % 2 == 0 ? !isinf(values[i]) : !isnan(values[i])) fail_msg("place %zu is finite", i);
  for (size_t i = 0; i < count; i++) values[i] = 1.0F;
  assert_int_equal(clm__bucket_start(bucket), CLM_OK);
  assert_int_equal(clm__bucket_wait(bucket), CLM_OK);
  for (size_t i = 0; i < count; i++) assert_true(values[i] == (float)size);
  clm__bucket_destroy(bucket);
  clm__mem_free(values);
}

static void the_same_run_gives_the_same_bits(void **state)
{
  (void)state;
  const size_t count = 25000;
  static const clm__wire wires[] = {CLM__WIRE_F32, CLM__WIRE_BF16};
  for (int w = 0; w < 2; w++) {
    uint64_t hashes[2] = {CLM__HASH_START, CLM__HASH_START};
    for (int run = 0; run < 2; run++) {
      float *const values = make_floats(count);
      clm__bucket *const bucket = make_bucket(values, count, wires[w]);
      for (int step = 0; step < 5; step++) {
        fill(values, count, step);
        assert_int_equal(clm__bucket_start(bucket), CLM_OK);
        assert_int_equal(clm__bucket_wait(bucket), CLM_OK);
        hashes[run] = clm__hash_bytes(hashes[run], values, count * sizeof *values);
      }
      clm__bucket_destroy(bucket);
      clm__mem_free(values);
    }
    assert_true(hashes[0] == hashes[1]);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums_equal_those_of_the_host),
      cmocka_unit_test(many_buckets_in_flight_in_any_order),
      cmocka_unit_test(a_step_allocates_nothing),
      cmocka_unit_test(polling_alone_completes_a_sum),
      cmocka_unit_test(a_meeting_moves_buckets_on),
      cmocka_unit_test(bf16_is_near_and_equal_on_all_ranks),
      cmocka_unit_test(bf16_loses_nothing_in_the_long_run),
      cmocka_unit_test(infinity_and_nan_pass_and_leave_no_trace),
      cmocka_unit_test(the_same_run_gives_the_same_bits),
  };
  return cmocka_run_group_tests(tests, open_job, close_job);
}
