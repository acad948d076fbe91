#define _GNU_SOURCE
/* The supervisor with small scripts in mpirun's place: exit statuses, signals, restarts, time. */
#include <stdarg.h>
#include <stddef.h>

#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "launch/process.h"
#include "launch/signals.h"
#include "launch/supervisor.h"
#include "sys/clock.h"
#include "sys/thread.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A job that is a script, and what became of it. */
typedef struct fake_job {
  const char *script; /* $1 is the number of the attempt */
  int attempts;
  uint64_t progress;
  uint64_t progress_step; /* added with every attempt */
  clm_status prepare_status;
} fake_job;

static clm_status prepare(void *user, int attempt, clm__words *argv)
{
  fake_job *job = user;
  char number[16];
  if (job->prepare_status != CLM_OK) CLM_FAIL(job->prepare_status, "cannot prepare");
  (void)snprintf(number, sizeof number, "%d", attempt);
  const char *const words[] = {"sh", "-c", job->script, "sh", number};
  job->attempts++;
  job->progress += job->progress_step;
  return clm__words_add_list(argv, words, 5);
}

static uint64_t get_progress(void *user) { return ((fake_job *)user)->progress; }

static clm__supervision supervision_of(fake_job *job)
{
  return (clm__supervision){.user = job,
                            .prepare = prepare,
                            .progress = get_progress,
                            .max_restarts = 2,
                            .stop_grace_seconds = 5.0,
                            .backoff_seconds = 0.01};
}

static int run(fake_job *job)
{
  const clm__supervision supervision = supervision_of(job);
  int code = -1;
  assert_int_equal(clm__supervise(&supervision, &code), CLM_OK);
  return code;
}

static void final_statuses_end_the_job(void **state)
{
  static const struct {
    const char *script;
    int code;
  } cases[] = {{"exit 0", 0}, {"exit 64", 64}, {"exit 65", 65}, {"exit 66", 66}, {"exit 78", 78}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    fake_job job = {.script = cases[i].script};
    assert_int_equal(run(&job), cases[i].code);
    assert_int_equal(job.attempts, 1);
  }
}

/* As mpirun, whose rank here has ended, when a host no longer answers. */
static void what_waits_without_ranks_is_ended(void **state)
{
  (void)state;
  fake_job job = {.script = "sleep 1; exec tail -f /dev/null"};
  clm__supervision supervision = supervision_of(&job);
  supervision.max_restarts = 0;
  supervision.rank_name = "sleep";
  supervision.lone_seconds = 0.5;
  int code = -1;
  const double begin = clm__clock_seconds();
  assert_int_equal(clm__supervise(&supervision, &code), CLM_OK);
  assert_int_equal(code, 69);
  assert_true(clm__clock_seconds() - begin < 20.0);
}

/* A job whose ranks were never seen is left alone. */
static void unseen_ranks_end_nothing(void **state)
{
  (void)state;
  fake_job job = {.script = "sleep 1; exit 7"};
  clm__supervision supervision = supervision_of(&job);
  supervision.max_restarts = 0;
  supervision.rank_name = "no-such-program";
  supervision.lone_seconds = 0.1;
  int code = -1;
  assert_int_equal(clm__supervise(&supervision, &code), CLM_OK);
  assert_int_equal(code, 7);
}

static void failures_are_restarted(void **state)
{
  fake_job given_up = {.script = "exit 9"};
  fake_job killed = {.script = "kill -9 $$"};
  fake_job recovers = {.script = "[ $1 -ge 2 ]"};
  fake_job saved = {.script = "[ $1 -ge 1 ] || exit 75"};
  (void)state;
  assert_int_equal(run(&given_up), 9);
  assert_int_equal(given_up.attempts, 3);
  assert_int_equal(run(&killed), 137);
  assert_int_equal(run(&recovers), 0);
  assert_int_equal(recovers.attempts, 3);
  assert_int_equal(run(&saved), 0);
  assert_int_equal(saved.attempts, 2);
}

static void progress_resets_the_count(void **state)
{
  fake_job job = {.script = "[ $1 -ge 6 ] || exit 9", .progress_step = 1};
  (void)state;
  assert_int_equal(run(&job), 0);
  assert_int_equal(job.attempts, 7);
}

/* Pauses of 0.1, 0.2, 0.4 ... s, which begin anew behind progress. */
static void progress_resets_the_pause(void **state)
{
  (void)state;
  for (int progresses = 0; progresses <= 1; progresses++) {
    fake_job job = {.script = "[ $1 -ge 5 ] || exit 9", .progress_step = (uint64_t)progresses};
    clm__supervision supervision = supervision_of(&job);
    supervision.max_restarts = 5;
    supervision.backoff_seconds = 0.1;
    int code = -1;
    const double begin = clm__clock_seconds();
    assert_int_equal(clm__supervise(&supervision, &code), CLM_OK);
    const double seconds = clm__clock_seconds() - begin;
    assert_int_equal(code, 0);
    if (progresses > 0)
      assert_true(seconds >= 0.5 && seconds < 3.1);
    else
      assert_true(seconds >= 3.1);
  }
}

static void no_restart_where_none_is_wanted(void **state)
{
  fake_job job = {.script = "exit 9"};
  clm__supervision supervision = supervision_of(&job);
  int code = 0;
  (void)state;
  supervision.max_restarts = 0;
  assert_int_equal(clm__supervise(&supervision, &code), CLM_OK);
  assert_int_equal(code, 9);
  assert_int_equal(job.attempts, 1);
}

/* Sends a signal to this process after a while, some number of times. */
typedef struct signal_sender {
  int number;
  int times;
  useconds_t pause_us;
} signal_sender;

static void *send_signal(void *argument)
{
  const signal_sender *sender = argument;
  (void)usleep(300000);
  for (int i = 0; i < sender->times; i++) {
    if (i > 0) (void)usleep(sender->pause_us);
    (void)kill(getpid(), sender->number);
  }
  return NULL;
}

/* Runs a job while signals come; the time it took. */
static double run_with_signals(fake_job *job, signal_sender sender, int *code)
{
  const clm__supervision supervision = supervision_of(job);
  clm__thread thread = {0};
  const double start = clm__clock_seconds();
  /* Held first, or an early signal would end the test. */
  sigset_t before;
  clm__signals_hold(&before);
  assert_int_equal(clm__thread_start(&thread, "sender", send_signal, &sender), CLM_OK);
  assert_int_equal(clm__supervise(&supervision, code), CLM_OK);
  clm__thread_join(&thread);
  clm__signals_release(&before);
  return clm__clock_seconds() - start;
}

static void a_stop_is_handed_on_as_usr2(void **state)
{
  static const int numbers[] = {SIGTERM, SIGINT, SIGUSR1, SIGUSR2};
  (void)state;
  for (size_t i = 0; i < 4; i++) {
    fake_job job = {.script = "trap 'exit 75' USR2; while :; do sleep 0.05; done"};
    int code = 0;
    (void)run_with_signals(&job, (signal_sender){numbers[i], 1, 0}, &code);
    assert_int_equal(code, 75);
    assert_int_equal(job.attempts, 1);
  }
}

static void a_second_signal_does_not_wait(void **state)
{
  fake_job job = {.script = "trap '' USR2; trap 'exit 3' TERM; while :; do sleep 0.05; done"};
  int code = 0;
  (void)state;
  assert_true(run_with_signals(&job, (signal_sender){SIGTERM, 2, 600000}, &code) < 4.0);
  assert_int_equal(code, 3);
}

/* As `timeout` does it. */
static void signals_in_a_row_are_one_request(void **state)
{
  fake_job job = {.script = "trap 'exit 3' TERM; trap asked=1 USR2; turns=0\n"
                            "until [ $turns -ge 8 ]; do\n"
                            "  sleep 0.05; turns=$((turns + ${asked:-0}))\n"
                            "done; exit 75"};
  int code = 0;
  (void)state;
  (void)run_with_signals(&job, (signal_sender){SIGTERM, 3, 20000}, &code);
  assert_int_equal(code, 75);
}

static void a_third_signal_kills(void **state)
{
  fake_job job = {.script = "trap '' USR2 TERM; while :; do sleep 0.05; done"};
  int code = 0;
  (void)state;
  assert_true(run_with_signals(&job, (signal_sender){SIGINT, 3, 600000}, &code) < 4.0);
  assert_int_equal(code, 137);
}

static void the_time_ends_the_job(void **state)
{
  fake_job job = {.script = "trap 'exit 75' USR2; while :; do sleep 0.05; done"};
  clm__supervision supervision = supervision_of(&job);
  int code = 0;
  (void)state;
  supervision.timeout_seconds = 0.3;
  assert_int_equal(clm__supervise(&supervision, &code), CLM_OK);
  assert_int_equal(code, 75);
}

static void the_grace_ends(void **state)
{
  fake_job job = {.script = "trap '' USR2; trap 'exit 4' TERM; while :; do sleep 0.05; done"};
  clm__supervision supervision = supervision_of(&job);
  int code = 0;
  (void)state;
  supervision.timeout_seconds = 0.2;
  supervision.stop_grace_seconds = 0.3;
  assert_int_equal(clm__supervise(&supervision, &code), CLM_OK);
  assert_int_equal(code, 4);
}

static void nothing_is_left_behind(void **state)
{
  fake_job job = {.script = "sleep 600 & echo $! > \"$TMPDIR_PID\"; exit 0"};
  char path[] = "/tmp/clematis-pid-XXXXXX";
  clm__words env = {0};
  (void)state;
  const int fd = mkstemp(path);
  assert_true(fd >= 0);
  clm__supervision supervision = supervision_of(&job);
  int code = 1;
  assert_int_equal(clm__words_addf(&env, "TMPDIR_PID=%s", path), CLM_OK);
  supervision.env = &env;
  assert_int_equal(clm__supervise(&supervision, &code), CLM_OK);
  char digits[16] = {0};
  assert_true(read(fd, digits, sizeof digits - 1) > 0);
  (void)close(fd);
  (void)unlink(path);
  const pid_t left = (pid_t)strtol(digits, NULL, 10);
  for (int i = 0; i < 50 && kill(left, 0) == 0; i++) {
    /* A killed orphan may wait for its collector as a zombie where there is no init. */
    char state_path[64];
    char line[256] = {0};
    (void)snprintf(state_path, sizeof state_path, "/proc/%d/stat", (int)left);
    FILE *file = fopen(state_path, "r");
    const bool is_gone =
        file == NULL || fgets(line, sizeof line, file) == NULL || strstr(line, ") Z ") != NULL;
    if (file != NULL) (void)fclose(file);
    if (is_gone) break;
    assert_true(i < 49);
    (void)usleep(20000);
  }
  clm__words_fini(&env);
}

static void a_program_that_is_not_there(void **state)
{
  static const char *const names[] = {"/no/such/mpirun"};
  clm__words words = {0};
  const clm__process_start start = {.argv = &words};
  pid_t pid = 7;
  (void)state;
  assert_int_equal(clm__words_add_list(&words, names, 1), CLM_OK);
  assert_int_equal(clm__process_run(&start, &pid), CLM_NO_INPUT);
  assert_int_equal(pid, 7);
  clm__words_fini(&words);
}

static void preparing_may_fail_or_be_stopped(void **state)
{
  fake_job failing = {.script = "exit 0", .prepare_status = CLM_PEER_FAILED};
  fake_job stopped = {.script = "exit 0", .prepare_status = CLM_STOPPED};
  clm__supervision supervision = supervision_of(&failing);
  int code = -1;
  (void)state;
  assert_int_equal(clm__supervise(&supervision, &code), CLM_PEER_FAILED);
  assert_int_equal(code, -1);
  assert_int_equal(run(&stopped), 75);
}

static void captured_output_has_a_time_limit(void **state)
{
  static const char *const slow[] = {"sh", "-c", "echo begun; sleep 30"};
  clm__words words = {0};
  clm__str output = {0};
  int code = 0;
  (void)state;
  assert_int_equal(clm__words_add_list(&words, slow, 3), CLM_OK);
  assert_int_equal(clm__process_capture(&words, 0.4, &output, &code), CLM_OK);
  assert_int_equal(code, 124);
  assert_string_equal(clm__str_get(&output), "begun\n");
  clm__words_fini(&words);
  clm__str_fini(&output);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(final_statuses_end_the_job),
      cmocka_unit_test(what_waits_without_ranks_is_ended),
      cmocka_unit_test(unseen_ranks_end_nothing),
      cmocka_unit_test(failures_are_restarted),
      cmocka_unit_test(progress_resets_the_count),
      cmocka_unit_test(progress_resets_the_pause),
      cmocka_unit_test(no_restart_where_none_is_wanted),
      cmocka_unit_test(a_stop_is_handed_on_as_usr2),
      cmocka_unit_test(a_second_signal_does_not_wait),
      cmocka_unit_test(signals_in_a_row_are_one_request),
      cmocka_unit_test(a_third_signal_kills),
      cmocka_unit_test(the_time_ends_the_job),
      cmocka_unit_test(the_grace_ends),
      cmocka_unit_test(nothing_is_left_behind),
      cmocka_unit_test(a_program_that_is_not_there),
      cmocka_unit_test(preparing_may_fail_or_be_stopped),
      cmocka_unit_test(captured_output_has_a_time_limit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
