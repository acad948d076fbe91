#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "comm/bucket.h"
#include "comm/comm.h"
#include "comm/wire.h"

static void alone_everything_works(void **state)
{
  (void)state;
  clm__comm *comm = NULL;
  assert_int_equal(clm__comm_open(NULL, &comm), CLM_OK);
  assert_int_equal(clm__comm_get_size(comm), 1);
  assert_int_equal(clm__comm_get_rank(comm), 0);
  assert_int_equal(clm__comm_get_local_size(comm), 1);
  assert_int_equal(clm__comm_get_local_rank(comm), 0);
  assert_true(clm__comm_get_host(comm, 0)[0] != '\0');
  assert_int_equal(clm__comm_barrier(comm), CLM_OK);
  int mine = 5;
  int all = 0;
  assert_int_equal(clm__comm_gather(comm, &mine, sizeof mine, &all), CLM_OK);
  assert_int_equal(all, 5);
  assert_int_equal(clm__comm_broadcast(comm, &mine, sizeof mine), CLM_OK);
  assert_int_equal(mine, 5);
  assert_int_equal(clm__comm_agree(comm, CLM_OK, NULL), CLM_OK);
  assert_int_equal(clm__comm_agree(comm, CLM_IO, "disk full"), CLM_IO);
  assert_string_equal(clm_error_last()->message, "disk full");
  clm__comm_close(comm);
}

static void alone_a_sum_is_the_values(void **state)
{
  (void)state;
  clm__comm *comm = NULL;
  assert_int_equal(clm__comm_open_alone(NULL, &comm), CLM_OK);
  float values[3] = {1.0F, -0.0F, 1.0000001F};
  const clm__bucket_config config = {.values = values, .count = 3, .wire = CLM__WIRE_BF16};
  clm__bucket *bucket = NULL;
  assert_int_equal(clm__bucket_create(comm, &config, &bucket), CLM_OK);
  assert_int_equal(clm__bucket_start(bucket), CLM_OK);
  assert_int_equal(clm__comm_poll(comm), CLM_OK);
  assert_true(clm__bucket_is_done(bucket));
  assert_int_equal(clm__bucket_wait(bucket), CLM_OK);
  assert_true(values[0] == 1.0F && signbit(values[1]) && values[2] == 1.0000001F);
  clm__bucket_destroy(bucket);
  clm__comm_close(comm);
}

static void nothing_can_be_closed_and_destroyed(void **state)
{
  (void)state;
  clm__comm_close(NULL);
  clm__bucket_destroy(NULL);
}

static void all_memory_is_given_back(void **state)
{
  (void)state;
  const uint64_t before = clm__mem_get_counts().blocks_live;
  alone_everything_works(state);
  alone_a_sum_is_the_values(state);
  assert_true(clm__mem_get_counts().blocks_live == before);
}

static void bf16_rounds_to_nearest_even(void **state)
{
  (void)state;
  static const float values[] = {1.0F,          0x1.01p0F,  0x1.03p0F,
                                 0x1.010002p0F, -0x1.01p0F, 0x1.fffffep127F};
  static const uint16_t expected[] = {0x3f80, 0x3f80, 0x3f82, 0x3f81, 0xbf80, 0x7f80};
  uint16_t coded[6];
  float residual[6] = {0};
  clm__wire_encode_bf16(coded, residual, values, 6);
  assert_memory_equal(coded, expected, sizeof expected);
  assert_true(residual[1] == 0x1p-8F && residual[2] == -0x1p-8F && residual[5] == 0.0F);
  /* What was lost is sent next time. */
  const float nothing[6] = {0};
  float back[6];
  clm__wire_encode_bf16(coded, residual, nothing, 6);
  clm__wire_decode_bf16(back, coded, 6);
  assert_true(back[0] == 0.0F && back[1] == 0x1p-8F && residual[1] == 0.0F);
}

static void a_nan_of_any_kind_stays_one(void **state)
{
  (void)state;
  const uint32_t bits[] = {0x7f800001U, 0x7fffffffU, 0xffffffffU, 0xff800001U};
  float values[4];
  memcpy(values, bits, sizeof values);
  uint16_t coded[4];
  float residual[4] = {0};
  clm__wire_encode_bf16(coded, residual, values, 4);
  clm__wire_decode_bf16(values, coded, 4);
  for (int i = 0; i < 4; i++) assert_true(isnan(values[i]) && residual[i] == 0.0F);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(alone_everything_works),
      cmocka_unit_test(alone_a_sum_is_the_values),
      cmocka_unit_test(nothing_can_be_closed_and_destroyed),
      cmocka_unit_test(all_memory_is_given_back),
      cmocka_unit_test(bf16_rounds_to_nearest_even),
      cmocka_unit_test(a_nan_of_any_kind_stays_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
