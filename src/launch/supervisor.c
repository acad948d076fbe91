#include "launch/supervisor.h"

#include "base/log.h"
#include "launch/process.h"
#include "launch/signals.h"
#include "sys/clock.h"

#include <math.h>

#define KILL_SECONDS 10.0
/* `timeout` signals its program twice, without a pause: that is one request. */
#define SAME_REQUEST_SECONDS 0.5
#define POLL_SECONDS 0.2
#define BACKOFF_SECONDS_MAX 60.0
#define EXIT_SAVED 75
#define EXIT_HOST_LOST 69

/* How far the stopping of a program has gone. */
typedef enum stop_level { STOP_NOT, STOP_ASKED, STOP_TERMINATED, STOP_KILLED } stop_level;

typedef struct watched_job {
  const clm__supervision *supervision;
  double end;     /* when the time of the job is over */
  bool is_wanted; /* a stop was asked for */
  pid_t pid;
  stop_level level;
  double since;      /* when the level was reached */
  double lone_since; /* when the last rank of this machine ended; 0: none has been seen */
  bool is_lone;      /* mpirun was ended because its ranks had */
} watched_job;

/* mpirun hands SIGUSR2 on to all ranks, which then agree, save and end with 75. */
static void go_to(watched_job *watch, stop_level level)
{
  static const int signals[] = {0, SIGUSR2, SIGTERM, SIGKILL};
  watch->level = level;
  watch->since = clm__clock_seconds();
  clm__process_signal(watch->pid, signals[level], level == STOP_KILLED);
}

static void advance(watched_job *watch, int signal_number)
{
  const clm__supervision *supervision = watch->supervision;
  const double now = clm__clock_seconds();
  const double waited = now - watch->since;
  if (watch->level != STOP_NOT && waited < SAME_REQUEST_SECONDS) signal_number = 0;
  if (watch->level == STOP_NOT && (signal_number != 0 || now >= watch->end)) {
    watch->is_wanted = true;
    clm__log(supervision->log, CLM_LOG_WARNING, "%s: asking the job to save and end",
             signal_number != 0 ? "a stop was asked for" : "the time is over");
    go_to(watch, STOP_ASKED);
  } else if (watch->level == STOP_ASKED &&
             (signal_number != 0 || waited >= supervision->stop_grace_seconds)) {
    clm__log(supervision->log, CLM_LOG_WARNING, "ending the job without waiting for it");
    go_to(watch, STOP_TERMINATED);
  } else if (watch->level == STOP_TERMINATED && (signal_number != 0 || waited >= KILL_SECONDS)) {
    go_to(watch, STOP_KILLED);
  }
}

/* Open MPI 4 waits for the daemon of a host that has vanished until the network gives up, which
 * takes a quarter of an hour. The ranks notice it sooner, and end. */
static void look_for_ranks(watched_job *watch)
{
  const clm__supervision *supervision = watch->supervision;
  const double now = clm__clock_seconds();
  if (supervision->rank_name == NULL || watch->level == STOP_KILLED) return;
  if (clm__process_has_child(watch->pid, supervision->rank_name)) {
    watch->lone_since = now;
  } else if (watch->lone_since > 0.0 && now - watch->lone_since >= supervision->lone_seconds) {
    clm__log(supervision->log, CLM_LOG_WARNING,
             "the ranks of this machine ended %.0f s ago, and mpirun still waits for other hosts, "
             "which may be lost: ending it",
             now - watch->lone_since);
    watch->is_lone = true;
    go_to(watch, STOP_KILLED);
  }
}

static clm_status run_once(watched_job *watch, const clm__words *argv, int *exit_code)
{
  const clm__process_start start = {.argv = argv, .env = watch->supervision->env};
  CLM_TRY(clm__process_run(&start, &watch->pid));
  watch->level = STOP_NOT;
  watch->lone_since = 0.0;
  watch->is_lone = false;
  while (!clm__process_has_ended(watch->pid, exit_code)) {
    advance(watch, clm__signals_wait(POLL_SECONDS));
    look_for_ranks(watch);
  }
  if (watch->is_lone) *exit_code = EXIT_HOST_LOST;
  return CLM_OK;
}

/* Whether trying again may help. Statuses of a wrong command, bad data, a missing input or a wrong
 * configuration will be the same next time. */
static bool is_worth_a_restart(int exit_code)
{
  switch (exit_code) {
  case 0:
  case 64:
  case 65:
  case 66:
  case 78:
    return false;
  default:
    return true;
  }
}

/* Waits before a restart; false where a stop was asked for. */
static bool back_off(const clm__supervision *supervision, int failures)
{
  const double seconds = supervision->backoff_seconds * pow(2.0, failures - 1);
  const double end = clm__clock_seconds() + fmin(seconds, BACKOFF_SECONDS_MAX);
  while (clm__clock_seconds() < end)
    if (clm__signals_wait(end - clm__clock_seconds()) != 0) return false;
  return true;
}

static uint64_t ask_progress(const clm__supervision *supervision)
{
  return supervision->progress != NULL ? supervision->progress(supervision->user) : 0;
}

static clm_status try_once(watched_job *watch, int attempt, int *exit_code)
{
  clm__words argv = {0};
  clm_status status = watch->supervision->prepare(watch->supervision->user, attempt, &argv);
  if (status == CLM_STOPPED) {
    watch->is_wanted = true;
    *exit_code = EXIT_SAVED;
    status = CLM_OK;
  } else if (status == CLM_OK) {
    status = run_once(watch, &argv, exit_code);
  }
  clm__words_fini(&argv);
  return status;
}

static clm_status supervise(watched_job *watch, int *exit_code)
{
  const clm__supervision *supervision = watch->supervision;
  int failures = 0;
  for (int attempt = 0;; attempt++) {
    const uint64_t before = ask_progress(supervision);
    CLM_TRY(try_once(watch, attempt, exit_code));
    if (watch->is_wanted || !is_worth_a_restart(*exit_code)) return CLM_OK;
    failures = ask_progress(supervision) > before ? 1 : failures + 1;
    if (failures > supervision->max_restarts) {
      if (supervision->max_restarts > 0)
        clm__log(supervision->log, CLM_LOG_WARNING,
                 "the job ended with status %d; given up after %d restarts without progress",
                 *exit_code, supervision->max_restarts);
      return CLM_OK;
    }
    clm__log(supervision->log, CLM_LOG_WARNING,
             "the job ended with status %d; restart %d of at most %d without progress", *exit_code,
             failures, supervision->max_restarts);
    if (!back_off(supervision, failures)) return CLM_OK;
  }
}

clm_status clm__supervise(const clm__supervision *supervision, int *exit_code)
{
  sigset_t before;
  int code = 0;
  watched_job watch = {.supervision = supervision, .end = INFINITY};
  if (supervision->timeout_seconds > 0.0)
    watch.end = clm__clock_seconds() + supervision->timeout_seconds;
  clm__signals_hold(&before);
  const clm_status status = supervise(&watch, &code);
  clm__signals_release(&before);
  if (status == CLM_OK) *exit_code = code;
  return status;
}
