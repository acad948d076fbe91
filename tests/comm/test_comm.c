/* ctest: ranks=1,2,3 timeout=60 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "comm/pair.h"
#include "job.h"

static void every_rank_knows_who_it_is(void **state)
{
  (void)state;
  clm__comm *const comm = get_job();
  const int size = clm__comm_get_size(comm);
  const int rank = clm__comm_get_rank(comm);
  const char *const promised = getenv("OMPI_COMM_WORLD_SIZE");
  assert_int_equal(size, promised != NULL ? atoi(promised) : 1);
  assert_in_range(rank, 0, size - 1);
  assert_int_equal(clm__comm_get_local_size(comm), size);
  assert_int_equal(clm__comm_get_local_rank(comm), rank);
  char host[256] = "";
  assert_int_equal(gethostname(host, sizeof host - 1), 0);
  for (int i = 0; i < size; i++) assert_string_equal(clm__comm_get_host(comm, i), host);
}

static void gather_brings_the_structs_of_all_in_order(void **state)
{
  (void)state;
  typedef struct part {
    int rank;
    double half;
    char text[CLM__COMM_GATHER_MAX - 16];
  } part;
  clm__comm *const comm = get_job();
  const int rank = clm__comm_get_rank(comm);
  for (int again = 0; again < 20; again++) {
    part mine = {.rank = rank + again, .half = 0.5 * rank};
    (void)snprintf(mine.text, sizeof mine.text, "I am %d", rank);
    part all[8] = {0};
    assert_int_equal(clm__comm_gather(comm, &mine, sizeof mine, all), CLM_OK);
    for (int i = 0; i < clm__comm_get_size(comm); i++) {
      char text[32];
      (void)snprintf(text, sizeof text, "I am %d", i);
      assert_int_equal(all[i].rank, i + again);
      assert_true(all[i].half == 0.5 * i);
      assert_string_equal(all[i].text, text);
    }
  }
}

static void nobody_passes_a_barrier_before_all_are_there(void **state)
{
  (void)state;
  clm__comm *const comm = get_job();
  for (int again = 0; again < 20; again++) assert_int_equal(clm__comm_barrier(comm), CLM_OK);
}

static void check_broadcast(size_t size_bytes)
{
  clm__comm *const comm = get_job();
  unsigned char *bytes = NULL;
  assert_int_equal(clm__mem_alloc(size_bytes, 1, &bytes), CLM_OK);
  for (size_t i = 0; i < size_bytes && clm__comm_get_rank(comm) == 0; i++)
    bytes[i] = (unsigned char)(i * 7 + i / 251);
  assert_int_equal(clm__comm_broadcast(comm, bytes, size_bytes), CLM_OK);
  for (size_t i = 0; i < size_bytes; i++)
    if (bytes[i] != (unsigned char)(i * 7 + i / 251)) fail_msg("byte %zu differs", i);
  clm__mem_free(bytes);
}

static void broadcast_brings_the_bytes_of_rank_0(void **state)
{
  (void)state;
  check_broadcast(0);
  check_broadcast(1);
  check_broadcast(4099);
  check_broadcast(((size_t)33 << 20) + 5);
}

static void all_agree_where_all_are_well(void **state)
{
  (void)state;
  assert_int_equal(clm__comm_agree(get_job(), CLM_OK, NULL), CLM_OK);
}

/* The message that all ranks get where `who` alone has failed. */
static void expect_words_of(int who, const char *words)
{
  clm__comm *const comm = get_job();
  char expected[CLM_ERROR_MESSAGE_SIZE];
  (void)snprintf(expected, sizeof expected, "rank %d (%s): %s", who, clm__comm_get_host(comm, who),
                 words);
  if (clm__comm_get_size(comm) > 1 || getenv("OMPI_COMM_WORLD_SIZE") != NULL)
    assert_string_equal(clm_error_last()->message, expected);
  else
    assert_string_equal(clm_error_last()->message, words);
}

static void all_learn_of_the_one_that_failed(void **state)
{
  (void)state;
  clm__comm *const comm = get_job();
  for (int who = 0; who < clm__comm_get_size(comm); who++) {
    const bool is_me = clm__comm_get_rank(comm) == who;
    const clm_status mine = is_me ? CLM_NO_INPUT : CLM_OK;
    assert_int_equal(clm__comm_agree(comm, mine, "no such folder"), CLM_NO_INPUT);
    expect_words_of(who, "no such folder");
    clm_error_clear();
  }
  assert_int_equal(clm__comm_barrier(comm), CLM_OK);
}

static void the_worst_outcome_wins_and_the_lowest_rank_speaks(void **state)
{
  (void)state;
  clm__comm *const comm = get_job();
  const int last = clm__comm_get_size(comm) - 1;
  const bool is_last = clm__comm_get_rank(comm) == last;
  assert_int_equal(clm__comm_agree(comm, CLM_STOPPED, "stopped"), CLM_STOPPED);
  expect_words_of(0, "stopped");
  assert_int_equal(clm__comm_agree(comm, is_last ? CLM_PEER_FAILED : CLM_STOPPED, "peer"),
                   CLM_PEER_FAILED);
  expect_words_of(last, "peer");
  assert_int_equal(clm__comm_agree(comm, is_last ? CLM_IO : CLM_PEER_FAILED, "disk"), CLM_IO);
  expect_words_of(last, "disk");
  char words[32];
  (void)snprintf(words, sizeof words, "words of %d", clm__comm_get_rank(comm));
  assert_int_equal(clm__comm_agree(comm, CLM_BAD_DATA, words), CLM_BAD_DATA);
  expect_words_of(0, "words of 0");
}

/* The ranks are on one machine, whose clock they share. */
static void ranks_learn_what_rank_0s_clock_is_ahead(void **state)
{
  (void)state;
  clm__comm *const comm = get_job();
  clm__clock_offset offset = {.seconds = 7.0};
  assert_int_equal(clm__pair_compare_clocks(comm, &offset), CLM_OK);
  assert_true(fabs(offset.seconds) <= offset.error_seconds + 1e-6);
  assert_true(offset.error_seconds < 1.0);
  if (clm__comm_get_rank(comm) == 0) assert_true(offset.error_seconds == 0.0);
  if (clm__comm_get_rank(comm) > 0) assert_true(offset.error_seconds > 0.0);
}

static void bytes_of_a_rank_come_to_rank_0(void **state)
{
  (void)state;
  clm__comm *const comm = get_job();
  const int own = clm__comm_get_rank(comm);
  const size_t size_bytes = ((size_t)16 << 20) + 1;
  unsigned char *bytes = NULL;
  assert_int_equal(clm__mem_alloc(size_bytes, 1, &bytes), CLM_OK);
  for (int from = 1; from < clm__comm_get_size(comm); from++) {
    if (own != 0 && own != from) continue;
    bytes[0] = bytes[size_bytes - 1] = (unsigned char)own;
    assert_int_equal(clm__pair_send(comm, from, bytes, size_bytes), CLM_OK);
    assert_int_equal(bytes[0], from);
    assert_int_equal(bytes[size_bytes - 1], from);
    assert_int_equal(clm__pair_send(comm, from, bytes, 0), CLM_OK);
  }
  clm__mem_free(bytes);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_rank_knows_who_it_is),
      cmocka_unit_test(gather_brings_the_structs_of_all_in_order),
      cmocka_unit_test(nobody_passes_a_barrier_before_all_are_there),
      cmocka_unit_test(broadcast_brings_the_bytes_of_rank_0),
      cmocka_unit_test(all_agree_where_all_are_well),
      cmocka_unit_test(all_learn_of_the_one_that_failed),
      cmocka_unit_test(ranks_learn_what_rank_0s_clock_is_ahead),
      cmocka_unit_test(bytes_of_a_rank_come_to_rank_0),
      cmocka_unit_test(the_worst_outcome_wins_and_the_lowest_rank_speaks),
  };
  return cmocka_run_group_tests(tests, open_job, close_job);
}
