/* Ranks as threads: any order of arrival, and faults that a real network cannot be asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/mem.h"
#include "comm/bucket.h"
#include "job.h"
#include "sys/clock.h"
#include "sys/thread.h"
#include "thread_link.h"

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      printf("%s:%d: %s (%s)\n", __FILE__, __LINE__, #condition, clm_error_last()->message);       \
      return false;                                                                                \
    }                                                                                              \
  } while (0)

enum { BUCKETS = 4, STEPS = 3, COUNT_MAX = 9000 };
static const size_t counts[BUCKETS] = {COUNT_MAX, 5, 0, 4001};

/* What the ranks of a world of sums share. */
typedef struct sums {
  clm__wire wire;
  uint64_t hashes[WORLD_MAX];
} sums;

static bool start_all(clm__bucket **buckets, float values[BUCKETS][COUNT_MAX], int rank, int step)
{
  for (int b = 0; b < BUCKETS; b++) {
    for (size_t i = 0; i < counts[b]; i++) values[b][i] = get_brought(rank, i, step + b);
    CHECK(clm__bucket_start(buckets[b]) == CLM_OK);
  }
  return true;
}

static bool is_host_sum(float values[BUCKETS][COUNT_MAX], int size, int step)
{
  for (int b = 0; b < BUCKETS; b++)
    for (size_t i = 0; i < counts[b]; i++) CHECK(values[b][i] == get_sum(size, i, step + b));
  return true;
}

static bool sum_steps(clm__comm *comm, world *all)
{
  sums *const shared = all->shared;
  const int rank = clm__comm_get_rank(comm);
  float(*values)[COUNT_MAX] = NULL;
  CHECK(clm__mem_alloc(BUCKETS, sizeof *values, &values) == CLM_OK);
  clm__bucket *buckets[BUCKETS];
  for (int b = 0; b < BUCKETS; b++) {
    const clm__bucket_config config = {
        .values = values[b], .count = counts[b], .wire = shared->wire};
    CHECK(clm__bucket_create(comm, &config, &buckets[b]) == CLM_OK);
  }
  uint64_t hash = CLM__HASH_START;
  for (int step = 0; step < STEPS; step++) {
    CHECK(start_all(buckets, values, rank, step));
    for (int b = BUCKETS - 1; b >= 0; b--) CHECK(clm__bucket_wait(buckets[b]) == CLM_OK);
    CHECK(shared->wire == CLM__WIRE_BF16 || is_host_sum(values, all->size, step));
    hash = clm__hash_bytes(hash, values, BUCKETS * sizeof *values);
  }
  shared->hashes[rank] = hash;
  for (int b = 0; b < BUCKETS; b++) clm__bucket_destroy(buckets[b]);
  clm__mem_free(values);
  return true;
}

static void check_sums(int size, clm__wire wire)
{
  uint64_t first = 0;
  for (uint64_t seed = 1; seed <= 3; seed++) {
    sums shared = {.wire = wire};
    world all = {.size = size, .seed = seed, .broken_rank = -1, .run = sum_steps};
    all.shared = &shared;
    assert_true(run_world(&all));
    if (seed == 1) first = shared.hashes[0];
    for (int rank = 0; rank < size; rank++) {
      assert_true(shared.hashes[rank] == first);
      assert_true(all.clean[rank]);
    }
  }
}

static void sums_do_not_depend_on_the_order_of_arrival(void **state)
{
  (void)state;
  check_sums(2, CLM__WIRE_F32);
  check_sums(5, CLM__WIRE_F32);
  check_sums(8, CLM__WIRE_F32);
  check_sums(3, CLM__WIRE_BF16);
  check_sums(8, CLM__WIRE_BF16);
}

static bool tell_from_everyone(clm__comm *comm, world *all)
{
  static const char words[] = "a text of some length that goes down a tree";
  char text[sizeof words] = "";
  if (clm__comm_get_rank(comm) == 0) memcpy(text, words, sizeof words);
  CHECK(clm__comm_broadcast(comm, text, sizeof text) == CLM_OK);
  CHECK(strcmp(text, words) == 0);
  for (int who = 0; who < all->size; who++) {
    const clm_status mine = clm__comm_get_rank(comm) == who ? CLM_IO : CLM_OK;
    CHECK(clm__comm_agree(comm, mine, "disk full") == CLM_IO);
    char name[32];
    (void)snprintf(name, sizeof name, "rank %d (", who);
    CHECK(strncmp(clm_error_last()->message, name, strlen(name)) == 0);
    CHECK(strstr(clm_error_last()->message, "): disk full") != NULL);
  }
  return true;
}

static void every_rank_can_be_the_root_of_the_tree(void **state)
{
  (void)state;
  for (int size = 1; size <= WORLD_MAX; size++) {
    world all = {.size = size, .seed = 9, .broken_rank = -1, .run = tell_from_everyone};
    assert_true(run_world(&all));
    for (int rank = 0; rank < size; rank++) assert_true(all.clean[rank]);
  }
}

static bool miss_rank_1(clm__comm *comm, world *all)
{
  (void)all;
  if (clm__comm_get_rank(comm) == 1) {
    clm__comm_set_timeout(comm, 400);
    return true;
  }
  clm__comm_set_timeout(comm, 200);
  const clm_status met = clm__comm_agree(comm, CLM_OK, NULL);
  CHECK(met == CLM_INTERNAL || met == CLM_PEER_FAILED);
  const double before = clm__clock_seconds();
  CHECK(clm__comm_barrier(comm) == met);
  float value = 1.0F;
  CHECK(clm__comm_broadcast(comm, &value, sizeof value) == met);
  CHECK(clm__comm_poll(comm) == met);
  CHECK(clm__clock_seconds() - before < 0.1);
  return true;
}

static void a_rank_that_leaves_early_is_found_out(void **state)
{
  (void)state;
  world all = {.size = 3, .seed = 5, .broken_rank = -1, .run = miss_rank_1};
  assert_true(run_world(&all));
  for (int rank = 0; rank < 3; rank++) assert_false(all.clean[rank]);
}

static bool sleep_as_rank_2(clm__comm *comm, world *all)
{
  (void)all;
  if (clm__comm_get_rank(comm) == 2) {
    (void)nanosleep(&(struct timespec){.tv_nsec = 700000000}, NULL);
    CHECK(clm__comm_barrier(comm) == CLM_OK);
    clm__comm_set_timeout(comm, 1);
    return true;
  }
  clm__comm_set_timeout(comm, 200);
  const double before = clm__clock_seconds();
  CHECK(clm__comm_barrier(comm) == CLM_PEER_FAILED);
  CHECK(clm__clock_seconds() - before < 0.6);
  CHECK(strstr(clm_error_last()->message, "from rank 2 (") != NULL);
  CHECK(strstr(clm_error_last()->message, "rank 0") == NULL);
  CHECK(strstr(clm_error_last()->message, "rank 1") == NULL);
  CHECK(clm__comm_agree(comm, CLM_BAD_DATA, "my own words") == CLM_BAD_DATA);
  CHECK(strcmp(clm_error_last()->message, "my own words") == 0);
  return true;
}

static void a_rank_that_comes_too_late_is_named(void **state)
{
  (void)state;
  world all = {.size = 3, .seed = 5, .broken_rank = -1, .run = sleep_as_rank_2};
  assert_true(run_world(&all));
  for (int rank = 0; rank < 3; rank++) assert_false(all.clean[rank]);
}

static bool call_different_things(clm__comm *comm, world *all)
{
  (void)all;
  const int rank = clm__comm_get_rank(comm);
  int numbers[WORLD_MAX];
  const clm_status status =
      rank == 0 ? clm__comm_barrier(comm) : clm__comm_gather(comm, &rank, sizeof rank, numbers);
  CHECK(status == CLM_INTERNAL);
  CHECK(strstr(clm_error_last()->message, "rank 0 (") != NULL);
  CHECK(strstr(clm_error_last()->message, "waiting for all ranks") != NULL);
  CHECK(strstr(clm_error_last()->message, "with 4 bytes") != NULL);
  return true;
}

static void ranks_in_different_places_are_told(void **state)
{
  (void)state;
  world all = {.size = 2, .seed = 5, .broken_rank = -1, .run = call_different_things};
  assert_true(run_world(&all));
  assert_false(all.clean[0]);
}

static bool lose_the_network(clm__comm *comm, world *all)
{
  const int rank = clm__comm_get_rank(comm);
  static float values[2][20000];
  clm__bucket *bucket = NULL;
  const clm__bucket_config config = {.values = values[rank], .count = 20000};
  CHECK(clm__bucket_create(comm, &config, &bucket) == CLM_OK);
  /* What is in flight is never freed; this keeps it in sight of leak checkers. */
  ((clm__bucket **)all->shared)[rank] = bucket;
  if (rank == 0) {
    break_network(all);
    CHECK(clm__bucket_start(bucket) == CLM_OK);
    CHECK(clm__comm_poll(comm) == CLM_PEER_FAILED);
    CHECK(strcmp(clm_error_last()->message, "the cable is out") == 0);
    CHECK(clm__bucket_wait(bucket) == CLM_PEER_FAILED);
    CHECK(clm__comm_barrier(comm) == CLM_PEER_FAILED);
    CHECK(strcmp(clm_error_last()->message, "the cable is out") == 0);
  } else {
    clm__comm_set_timeout(comm, 200);
    CHECK(clm__bucket_start(bucket) == CLM_OK);
    CHECK(clm__bucket_wait(bucket) == CLM_PEER_FAILED);
    CHECK(strstr(clm_error_last()->message, "summing over the ranks") != NULL);
  }
  clm__bucket_destroy(bucket);
  CHECK(clm__comm_barrier(comm) == CLM_PEER_FAILED);
  return true;
}

static void a_broken_network_fails_everything_after(void **state)
{
  (void)state;
  static clm__bucket *kept[2];
  world all = {.size = 2, .seed = 5, .broken_rank = 0, .run = lose_the_network, .shared = kept};
  assert_true(run_world(&all));
  assert_false(all.clean[0]);
  assert_false(all.clean[1]);
}

typedef struct poller {
  clm__comm *comm;
  clm__bucket *bucket;
} poller;

static void *poll_until_done(void *argument)
{
  const poller *const self = argument;
  while (!clm__bucket_is_done(self->bucket))
    if (clm__comm_poll(self->comm) != CLM_OK) return NULL;
  return NULL;
}

static bool poll_from_another_thread(clm__comm *comm, world *all)
{
  const int rank = clm__comm_get_rank(comm);
  static float values[3][30000];
  clm__bucket *bucket = NULL;
  const clm__bucket_config config = {.values = values[rank], .count = 30000};
  CHECK(clm__bucket_create(comm, &config, &bucket) == CLM_OK);
  for (size_t i = 0; i < 30000; i++) values[rank][i] = get_brought(rank, i, 1);
  CHECK(clm__bucket_start(bucket) == CLM_OK);
  clm__thread helper = {0};
  poller argument = {comm, bucket};
  CHECK(clm__thread_start(&helper, "poller", poll_until_done, &argument) == CLM_OK);
  const clm_status status = clm__bucket_wait(bucket);
  clm__thread_join(&helper);
  CHECK(status == CLM_OK);
  for (size_t i = 0; i < 30000; i++) CHECK(values[rank][i] == get_sum(all->size, i, 1));
  clm__bucket_destroy(bucket);
  return true;
}

static void any_thread_may_poll_and_wait(void **state)
{
  (void)state;
  world all = {.size = 3, .seed = 2, .broken_rank = -1, .run = poll_from_another_thread};
  assert_true(run_world(&all));
}

static bool make_too_many(clm__comm *comm, world *all)
{
  (void)all;
  static clm__bucket *buckets[600];
  float value = 0.0F;
  int made = 0;
  const clm__bucket_config config = {.values = &value, .count = 1};
  while (made < 600 && clm__bucket_create(comm, &config, &buckets[made]) == CLM_OK) made++;
  CHECK(made > 400 && made < 600);
  CHECK(clm_error_last()->status == CLM_UNSUPPORTED);
  for (int i = 0; i < made; i++) clm__bucket_destroy(buckets[i]);
  const clm__bucket_config large = {.values = &value, .count = SIZE_MAX / 8};
  CHECK(clm__bucket_create(comm, &large, &buckets[0]) == CLM_UNSUPPORTED);
  return true;
}

static void what_is_too_much_is_refused(void **state)
{
  (void)state;
  world all = {.size = 1, .seed = 2, .broken_rank = -1, .run = make_too_many};
  assert_true(run_world(&all));
  assert_true(all.clean[0]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums_do_not_depend_on_the_order_of_arrival),
      cmocka_unit_test(every_rank_can_be_the_root_of_the_tree),
      cmocka_unit_test(a_rank_that_leaves_early_is_found_out),
      cmocka_unit_test(a_rank_that_comes_too_late_is_named),
      cmocka_unit_test(ranks_in_different_places_are_told),
      cmocka_unit_test(a_broken_network_fails_everything_after),
      cmocka_unit_test(any_thread_may_poll_and_wait),
      cmocka_unit_test(what_is_too_much_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
