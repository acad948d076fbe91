/* ctest: ranks=2,3 timeout=60 */
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "comm/bucket.h"
#include "job.h"
#include "sys/clock.h"

extern char **environ;

/* Stops this process; a child of it lets it go on after a second and a half. */
static void stop_for_a_while(void)
{
  char command[64];
  (void)snprintf(command, sizeof command, "sleep 1.5; kill -CONT %ld", (long)getpid());
  char *const arguments[] = {(char[]){"sh"}, (char[]){"-c"}, command, NULL};
  pid_t child = 0;
  assert_int_equal(posix_spawnp(&child, "sh", NULL, NULL, arguments, environ), 0);
  assert_int_equal(raise(SIGSTOP), 0);
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
}

static void expect_names(int silent)
{
  clm__comm *const comm = get_job();
  const char *const message = clm_error_last()->message;
  for (int rank = 0; rank < clm__comm_get_size(comm); rank++) {
    char name[300];
    (void)snprintf(name, sizeof name, "rank %d (%s)", rank, clm__comm_get_host(comm, rank));
    if ((strstr(message, name) != NULL) != (rank == silent)) fail_msg("wrong words: %s", message);
  }
}

/* The silent rank is named in time, and once it goes on the sum is still complete. */
static void check_silence(size_t count, bool in_window)
{
  static float plain[40000];
  clm__comm *const comm = get_job();
  const int size = clm__comm_get_size(comm);
  const int rank = clm__comm_get_rank(comm);
  const int silent = size - 1;
  clm__bucket *bucket = NULL;
  clm__window *window = NULL;
  if (in_window)
    assert_int_equal(clm__window_create(comm, count * sizeof(float), 1, &window), CLM_OK);
  float *const values = in_window ? clm__window_get_bytes(window) : plain;
  const clm__bucket_config config = {.values = values, .count = count, .window = window};
  assert_int_equal(clm__bucket_create(comm, &config, &bucket), CLM_OK);
  for (size_t i = 0; i < count; i++) values[i] = get_brought(rank, i, 0);
  assert_int_equal(clm__comm_barrier(comm), CLM_OK);
  if (rank == silent) stop_for_a_while();
  assert_int_equal(clm__bucket_start(bucket), CLM_OK);
  if (rank != silent) {
    clm__comm_set_timeout(comm, 300);
    const double before = clm__clock_seconds();
    assert_int_equal(clm__bucket_wait(bucket), CLM_PEER_FAILED);
    const double seconds = clm__clock_seconds() - before;
    assert_true(seconds >= 0.29 && seconds < 1.4);
    expect_names(silent);
    assert_false(clm__bucket_is_done(bucket));
  }
  clm__comm_set_timeout(comm, 20000);
  assert_int_equal(clm__bucket_wait(bucket), CLM_OK);
  for (size_t i = 0; i < count; i++) assert_true(values[i] == get_sum(size, i, 0));
  clm__bucket_destroy(bucket);
  clm__window_destroy(window);
}

static void a_silent_rank_is_named_in_time(void **state)
{
  (void)state;
  check_silence(40000, false);
}

static void a_silent_rank_is_named_by_a_small_bucket(void **state)
{
  (void)state;
  check_silence(1, false);
}

static void a_silent_rank_is_named_in_shared_memory(void **state)
{
  (void)state;
  check_silence(40000, true);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_silent_rank_is_named_in_time),
      cmocka_unit_test(a_silent_rank_is_named_by_a_small_bucket),
      cmocka_unit_test(a_silent_rank_is_named_in_shared_memory),
  };
  return cmocka_run_group_tests(tests, open_job, close_job);
}
