/* Tuning seen from outside: one worker after the other, until one has got through. */
#define _GNU_SOURCE
#include "clematis/tune.h"

#include "base/log.h"
#include "base/mem.h"
#include "sys/clock.h"
#include "train/tune_worker.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct tuning {
  const clm_tune_config *config;
  clm_tune_summary *summary;
  clm__tune_orders orders;
  clm__tune_crash *crashes;
  clm__tune_candidates told;        /* of the result that follows */
  char trying[CLM__TUNE_NAME_SIZE]; /* by the worker, "" none */
  clm__tune_event place;            /* the last event that had one */
  bool has_ended;
  clm_status status; /* of the worker that got through */
  char message[CLM_ERROR_MESSAGE_SIZE];
} tuning;

clm_tune_config clm_tune_config_default(void)
{
  return (clm_tune_config){.run = clm_run_config_default(),
                           .image_height = 180,
                           .image_width = 180,
                           .budget_seconds = 600,
                           .patience_seconds = 120};
}

/* ---- what a worker tells ---- */

static clm_status keep_candidate(tuning *t, const clm__tune_event *event)
{
  clm__tune_candidate *item = NULL;
  CLM_TRY(clm__tune_candidates_add(&t->told, &event->candidate.values, &item));
  *item = event->candidate;
  t->summary->bad += item->verdict == CLM_TUNE_WRONG || item->verdict == CLM_TUNE_CRASHED;
  return CLM_OK;
}

static clm_status hand_on(tuning *t, const clm__tune_event *event)
{
  clm_tune_candidate *list = NULL;
  if (t->config->on_result == NULL) return CLM_OK;
  CLM_TRY(clm__mem_alloc(t->told.count, sizeof *list, &list));
  for (size_t i = 0; i < t->told.count; i++) {
    const clm__tune_candidate *item = &t->told.items[i];
    list[i] = (clm_tune_candidate){.name = item->name,
                                   .note = item->note,
                                   .verdict = item->verdict,
                                   .error = item->error,
                                   .allowed = item->allowed,
                                   .seconds = item->seconds,
                                   .was_used = item->was_used,
                                   .is_used = item->is_used};
  }
  const clm_tune_result result = {.device = event->device,
                                  .what = event->key.op_pass,
                                  .shape = event->key.shape,
                                  .candidates = list,
                                  .count = t->told.count,
                                  .number = event->number,
                                  .total = event->total};
  t->config->on_result(t->config->user, &result);
  clm__mem_free(list);
  return CLM_OK;
}

static clm_status finish_result(tuning *t, const clm__tune_event *event)
{
  t->orders.first_task = event->task + 1;
  t->summary->recorded += event->is_recorded;
  if (!event->is_recorded)
    clm__log(t->config->run.log, CLM_LOG_WARNING,
             "no candidate for %s %s is good on %s: nothing is recorded", event->key.op_pass,
             event->key.shape, event->device);
  const clm_status status = hand_on(t, event);
  clm__tune_candidates_fini(&t->told);
  return status;
}

static clm_status handle(tuning *t, const clm__tune_event *event)
{
  switch (event->kind) {
  case CLM__TUNE_FILE:
    (void)snprintf(t->summary->file, sizeof t->summary->file, "%s", event->text);
    return CLM_OK;
  case CLM__TUNE_TRYING:
    t->place = *event;
    (void)snprintf(t->trying, sizeof t->trying, "%s", event->text);
    return CLM_OK;
  case CLM__TUNE_CANDIDATE:
    return keep_candidate(t, event);
  case CLM__TUNE_RESULT:
    return finish_result(t, event);
  case CLM__TUNE_SKIPPED:
    t->orders.first_task = event->task + 1;
    t->summary->skipped++;
    return CLM_OK;
  case CLM__TUNE_LEFT:
    t->orders.first_task = event->task + 1;
    t->summary->left++;
    return CLM_OK;
  case CLM__TUNE_LOG:
    clm__log(t->config->run.log, event->level, "%s", event->text);
    return CLM_OK;
  default:
    t->has_ended = true;
    t->status = event->status;
    (void)snprintf(t->message, sizeof t->message, "%s", event->text);
    return CLM_OK;
  }
}

/* ---- a worker's life ---- */

/* One event; false at the end of the pipe. *is_patient: false where none came in time. */
static bool read_event(const tuning *t, int pipe, clm__tune_event *event, bool *is_patient)
{
  size_t got = 0;
  while (got < sizeof *event) {
    struct pollfd waiting = {.fd = pipe, .events = POLLIN};
    const int ready = poll(&waiting, 1, (int)fmin(t->config->patience_seconds * 1e3, 1e9));
    if (ready < 0 && errno == EINTR) continue;
    *is_patient = ready != 0;
    if (ready <= 0) return false;
    const ssize_t count = read(pipe, (char *)event + got, sizeof *event - got);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    got += (size_t)count;
  }
  return true;
}

static clm_status read_events(tuning *t, int pipe, bool *is_patient)
{
  clm__tune_event event;
  while (read_event(t, pipe, &event, is_patient)) CLM_TRY(handle(t, &event));
  return CLM_OK;
}

static int wait_for(pid_t pid)
{
  int state = 0;
  while (waitpid(pid, &state, 0) < 0 && errno == EINTR) continue;
  return state;
}

/* Says how a worker came to its end before its work did. */
static void say_end(const tuning *t, int state, bool is_patient, char note[CLM__TUNE_NOTE_SIZE])
{
  if (t->has_ended)
    (void)snprintf(note, CLM__TUNE_NOTE_SIZE, "%.*s", (int)strcspn(t->message, "\n"), t->message);
  else if (!is_patient)
    (void)snprintf(note, CLM__TUNE_NOTE_SIZE, "it did not answer for %g seconds",
                   t->config->patience_seconds);
  else if (WIFSIGNALED(state))
    (void)snprintf(note, CLM__TUNE_NOTE_SIZE, "its process ended with signal %d (%s)",
                   WTERMSIG(state), strsignal(WTERMSIG(state)));
  else
    (void)snprintf(note, CLM__TUNE_NOTE_SIZE, "its process ended with status %d",
                   WEXITSTATUS(state));
}

static clm_status keep_crash(tuning *t, const char *note)
{
  CLM_TRY(clm__mem_resize(t->orders.crash_count + 1, sizeof *t->crashes, &t->crashes));
  clm__tune_crash *crash = &t->crashes[t->orders.crash_count++];
  *crash = (clm__tune_crash){.task = t->place.task};
  memcpy(crash->name, t->trying, sizeof crash->name);
  (void)snprintf(crash->note, sizeof crash->note, "%s", note);
  t->orders.crashes = t->crashes;
  clm__log(t->config->run.log, CLM_LOG_WARNING, "%s, %s %s: %s is never used: %s", t->place.device,
           t->place.key.op_pass, t->place.key.shape, t->trying, note);
  return CLM_OK;
}

/* A candidate on trial is to blame for what ended the worker, and the next one leaves it out. */
static clm_status judge_end(tuning *t, int state, bool is_patient, bool *is_done)
{
  char note[CLM__TUNE_NOTE_SIZE];
  *is_done = t->has_ended && (t->status == CLM_OK || t->trying[0] == '\0');
  if (*is_done && t->status == CLM_OK) return CLM_OK;
  if (*is_done) CLM_FAIL(t->status, "%s", t->message);
  const int number = WIFSIGNALED(state) ? WTERMSIG(state) : 0;
  CLM_REQUIRE(number != SIGINT && number != SIGTERM, CLM_STOPPED, "tuning was stopped");
  say_end(t, state, is_patient, note);
  CLM_REQUIRE(t->trying[0] != '\0', CLM_DEVICE_FAILED, "tuning cannot go on: %s", note);
  return keep_crash(t, note);
}

static clm_status run_worker(tuning *t, bool *is_done)
{
  int pipes[2];
  bool is_patient = true;
  CLM_REQUIRE(pipe2(pipes, O_CLOEXEC) == 0, CLM_IO, "no pipe to the process that tunes: %s",
              strerror(errno));
  const pid_t pid = fork();
  if (pid == 0) {
    (void)close(pipes[0]);
    clm__tune_work(&t->orders, pipes[1]);
    _exit(0);
  }
  (void)close(pipes[1]);
  if (pid < 0) (void)close(pipes[0]);
  CLM_REQUIRE(pid > 0, CLM_NO_MEMORY, "no process to tune in: %s", strerror(errno));
  clm__tune_candidates_fini(&t->told);
  t->has_ended = false;
  t->trying[0] = '\0';
  const clm_status status = read_events(t, pipes[0], &is_patient);
  (void)close(pipes[0]);
  if (!is_patient || status != CLM_OK) (void)kill(pid, SIGKILL);
  const int state = wait_for(pid);
  CLM_TRY(status);
  return judge_end(t, state, is_patient, is_done);
}

static clm_status check_config(const clm_tune_config *config)
{
  CLM_REQUIRE(config->run.batch_size >= 1, CLM_USAGE, "the batch size is %d; it must be at least 1",
              config->run.batch_size);
  CLM_REQUIRE(config->budget_seconds >= 0, CLM_USAGE,
              "the budget is %g seconds; it must not be negative", config->budget_seconds);
  CLM_REQUIRE(config->patience_seconds > 0, CLM_USAGE,
              "the patience is %g seconds; it must be more than 0", config->patience_seconds);
  return CLM_OK;
}

clm_status clm_tune(const clm_tune_config *config, clm_tune_summary *summary)
{
  clm_tune_summary done = {0};
  tuning t = {.config = config, .summary = &done, .orders = {.config = config}};
  CLM_TRY(check_config(config));
  t.orders.deadline =
      config->budget_seconds > 0 ? clm__clock_seconds() + config->budget_seconds : INFINITY;
  clm_status status = CLM_OK;
  for (bool is_done = false; status == CLM_OK && !is_done;) status = run_worker(&t, &is_done);
  clm__tune_candidates_fini(&t.told);
  clm__mem_free(t.crashes);
  CLM_TRY(status);
  *summary = done;
  return CLM_OK;
}
