#define _POSIX_C_SOURCE 200809L
#include "bench/turns.h"

#include "base/mem.h"
#include "sys/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { PATIENCE_MS = 120 * 1000, PATH_SIZE = 1100 };

static void name_turn(const char *folder, int rank, char path[PATH_SIZE])
{
  (void)snprintf(path, PATH_SIZE, "%s/turn.%d", folder, rank);
}

static void name_reply(const char *folder, char path[PATH_SIZE])
{
  (void)snprintf(path, PATH_SIZE, "%s/reply", folder);
}

/* ---- the job ---- */

clm_status turns_wait(const char *folder, int rank, turn_order *order)
{
  char path[PATH_SIZE], line[64] = "";
  name_turn(folder, rank, path);
  FILE *file = fopen(path, "r");
  CLM_REQUIRE(file != NULL, CLM_IO, "%s: %s", path, strerror(errno));
  const bool is_read = fgets(line, sizeof line, file) != NULL;
  (void)fclose(file);
  CLM_REQUIRE(is_read && sscanf(line, "%d %d", &order->steps, &order->sums) == 2 &&
                  order->steps <= ACT_STEPS_MAX && order->sums <= ACT_STEPS_MAX,
              CLM_IO, "%s: not an order: %s", path, line);
  return CLM_OK;
}

static void put_list(FILE *file, const char *name, const double *values, int count)
{
  (void)fprintf(file, " %s", name);
  for (int i = 0; i < count; i++) (void)fprintf(file, " %.6f", values[i]);
}

clm_status turns_answer(const char *folder, const act_figures *figures)
{
  char path[PATH_SIZE];
  name_reply(folder, path);
  FILE *file = fopen(path, "w");
  CLM_REQUIRE(file != NULL, CLM_IO, "%s: %s", path, strerror(errno));
  (void)fprintf(file, "figures %d %d %.6f", figures->steps, figures->sums, figures->busy);
  put_list(file, "step", figures->step, figures->steps);
  put_list(file, "exposed", figures->exposed, figures->steps);
  put_list(file, "waited", figures->waited, figures->steps);
  put_list(file, "sum", figures->sum, figures->sums);
  put_list(file, "meet", figures->meet, figures->sums);
  (void)fputc('\n', file);
  CLM_REQUIRE(fclose(file) == 0, CLM_IO, "%s: %s", path, strerror(errno));
  return CLM_OK;
}

/* ---- who gives orders ---- */

static bool take_list(char **rest, const char *name, double *values, int count)
{
  const char *word = strtok_r(NULL, " \n", rest);
  if (word == NULL || strcmp(word, name) != 0) return false;
  for (int i = 0; i < count; i++) {
    word = strtok_r(NULL, " \n", rest);
    if (word == NULL) return false;
    values[i] = strtod(word, NULL);
  }
  return true;
}

clm_status turns_parse(const char *line, act_figures *figures)
{
  act_figures read = {0};
  char text[TURNS_LINE_SIZE], *rest = NULL;
  (void)snprintf(text, sizeof text, "%s", line);
  const bool has_head =
      sscanf(text, "figures %d %d %lf", &read.steps, &read.sums, &read.busy) == 3 &&
      read.steps <= ACT_STEPS_MAX && read.sums <= ACT_STEPS_MAX;
  CLM_REQUIRE(has_head, CLM_BAD_DATA, "no figures of a turn: %s", line);
  (void)strtok_r(text, " ", &rest);
  for (int i = 0; i < 3; i++) (void)strtok_r(NULL, " ", &rest);
  CLM_REQUIRE(take_list(&rest, "step", read.step, read.steps) &&
                  take_list(&rest, "exposed", read.exposed, read.steps) &&
                  take_list(&rest, "waited", read.waited, read.steps) &&
                  take_list(&rest, "sum", read.sum, read.sums) &&
                  take_list(&rest, "meet", read.meet, read.sums),
              CLM_BAD_DATA, "figures of a turn are missing: %s", line);
  *figures = read;
  return CLM_OK;
}

static clm_status make_pipes(bench_turns *turns)
{
  char path[PATH_SIZE];
  for (int rank = 0; rank < turns->ranks; rank++) {
    name_turn(turns->folder, rank, path);
    CLM_REQUIRE(mkfifo(path, 0600) == 0 || errno == EEXIST, CLM_IO, "%s: %s", path,
                strerror(errno));
  }
  name_reply(turns->folder, path);
  CLM_REQUIRE(mkfifo(path, 0600) == 0 || errno == EEXIST, CLM_IO, "%s: %s", path, strerror(errno));
  turns->reply = open(path, O_RDWR | O_CLOEXEC);
  CLM_REQUIRE(turns->reply > 0, CLM_IO, "%s: %s", path, strerror(errno));
  return CLM_OK;
}

clm_status turns_begin(bench_turns *turns, const char *folder, int ranks,
                       const char *const *arguments)
{
  *turns = (bench_turns){.ranks = ranks};
  (void)snprintf(turns->folder, sizeof turns->folder, "%s", folder);
  CLM_TRY(make_pipes(turns));
  pid_t process = 0;
  CLM_REQUIRE(posix_spawnp(&process, arguments[0], NULL, NULL, (char *const *)arguments, environ) ==
                  0,
              CLM_IO, "%s could not be started", arguments[0]);
  turns->process = process;
  return CLM_OK;
}

static clm_status check_alive(bench_turns *turns)
{
  int state = 0;
  if (waitpid(turns->process, &state, WNOHANG) != turns->process) return CLM_OK;
  turns->process = 0;
  CLM_FAIL(CLM_IO, "the measured job has ended with status %d",
           WIFEXITED(state) ? WEXITSTATUS(state) : -1);
}

/* A rank that waits has its pipe open; before that, opening says that nobody reads. */
static clm_status tell(bench_turns *turns, int rank, const char *line)
{
  char path[PATH_SIZE];
  int file = -1;
  name_turn(turns->folder, rank, path);
  for (double end = clm__clock_seconds() + 1e-3 * PATIENCE_MS; file < 0;) {
    file = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (file >= 0) break;
    CLM_TRY(check_alive(turns));
    CLM_REQUIRE(clm__clock_seconds() < end, CLM_IO, "rank %d does not come to its turn", rank);
    (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
  const ssize_t written = write(file, line, strlen(line));
  (void)close(file);
  CLM_REQUIRE(written == (ssize_t)strlen(line), CLM_IO, "%s takes no order", path);
  return CLM_OK;
}

static clm_status read_answer(bench_turns *turns, char line[TURNS_LINE_SIZE])
{
  size_t at = 0;
  struct pollfd ready = {.fd = turns->reply, .events = POLLIN};
  for (double end = clm__clock_seconds() + 1e-3 * PATIENCE_MS; at < TURNS_LINE_SIZE - 1;) {
    if (poll(&ready, 1, 1000) > 0) {
      const ssize_t got = read(turns->reply, line + at, TURNS_LINE_SIZE - 1 - at);
      at += got > 0 ? (size_t)got : 0;
    }
    line[at] = '\0';
    if (at > 0 && line[at - 1] == '\n') return CLM_OK;
    CLM_TRY(check_alive(turns));
    CLM_REQUIRE(clm__clock_seconds() < end, CLM_IO, "the measured job does not answer");
  }
  CLM_FAIL(CLM_IO, "the measured job's answer is too long");
}

clm_status turns_order(bench_turns *turns, const turn_order *order, act_figures *figures)
{
  char line[TURNS_LINE_SIZE];
  (void)snprintf(line, sizeof line, "%d %d\n", order->steps, order->sums);
  for (int rank = 0; rank < turns->ranks; rank++) CLM_TRY(tell(turns, rank, line));
  CLM_TRY(read_answer(turns, line));
  return turns_parse(line, figures);
}

void turns_end(bench_turns *turns)
{
  bool all_told = true;
  for (int rank = 0; rank < turns->ranks && turns->process > 0; rank++)
    all_told = tell(turns, rank, "0 0\n") == CLM_OK && all_told;
  if (!all_told) clm_error_clear();
  if (!all_told && turns->process > 0) (void)kill(turns->process, SIGTERM);
  if (turns->process > 0) (void)waitpid(turns->process, NULL, 0);
  if (turns->reply > 0) (void)close(turns->reply);
  *turns = (bench_turns){0};
}
