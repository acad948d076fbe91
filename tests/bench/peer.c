#include "bench/peer.h"

#include "base/mem.h"
#include "sys/file.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANSWER_MAX (1 << 16)

static void run_python(int in, int out, const char *python, const char *script, const char *engine)
{
  if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0) _exit(127);
  if (freopen("/dev/null", "w", stderr) == NULL) _exit(127);
  char *const arguments[] = {(char *)python, (char *)script, (char *)engine, NULL};
  (void)execvp(python, arguments);
  _exit(127);
}

/* Reads a line that begins with "ok ", and gives what follows. */
static clm_status read_answer(const bench_peer *peer, char *answer)
{
  CLM_REQUIRE(fgets(answer, ANSWER_MAX, peer->from) != NULL, CLM_IO,
              "the measurement of %s ended early", peer->engine);
  answer[strcspn(answer, "\n")] = '\0';
  CLM_REQUIRE(strncmp(answer, "ok ", 3) == 0, CLM_UNSUPPORTED, "%s: %s", peer->engine, answer);
  return CLM_OK;
}

/* A pipe that the peers started later do not hold open. */
static bool make_pipe(int ends[2])
{
  if (pipe(ends) != 0) return false;
  return fcntl(ends[0], F_SETFD, FD_CLOEXEC) == 0 && fcntl(ends[1], F_SETFD, FD_CLOEXEC) == 0;
}

static clm_status start(bench_peer *peer, const char *python, const char *script)
{
  int down[2], up[2];
  CLM_REQUIRE(make_pipe(down) && make_pipe(up), CLM_IO, "no pipe to %s could be made", python);
  peer->process = fork();
  CLM_REQUIRE(peer->process >= 0, CLM_IO, "%s could not be started", python);
  if (peer->process == 0) run_python(down[0], up[1], python, script, peer->engine);
  (void)close(down[0]);
  (void)close(up[1]);
  peer->to = fdopen(down[1], "w");
  peer->from = fdopen(up[0], "r");
  CLM_REQUIRE(peer->to != NULL && peer->from != NULL, CLM_IO, "no pipe to %s", python);
  return CLM_OK;
}

clm_status peer_open(bench_peer *peer, const char *python, const char *scripts, const char *engine)
{
  *peer = (bench_peer){.engine = engine, .process = -1};
  char *script = NULL, *answer = NULL;
  CLM_TRY(clm__file_join(scripts, "peer.py", &script));
  clm_status status = start(peer, python, script);
  clm__mem_free(script);
  if (status == CLM_OK) status = clm__mem_alloc(ANSWER_MAX, 1, &answer);
  if (status == CLM_OK) status = read_answer(peer, answer);
  if (status == CLM_OK) (void)snprintf(peer->name, sizeof peer->name, "%s", answer + 3);
  clm__mem_free(answer);
  return status;
}

void peer_close(bench_peer *peer)
{
  if (peer->to != NULL) (void)fclose(peer->to); /* the end of its input ends it */
  if (peer->from != NULL) (void)fclose(peer->from);
  if (peer->process > 0) (void)waitpid(peer->process, NULL, 0);
  *peer = (bench_peer){.process = -1};
}

static clm_status parse_times(const bench_peer *peer, const char *text, int repeats,
                              samples_time *times)
{
  for (int i = 0; i < repeats; i++) {
    char *middle = NULL, *end = NULL;
    times[i].wall = strtod(text, &middle);
    times[i].busy = strtod(middle, &end);
    CLM_REQUIRE(end != middle, CLM_IO, "%s gave %d times of %d", peer->engine, i, repeats);
    text = end;
  }
  return CLM_OK;
}

clm_status peer_measure(const bench_peer *peer, const char *task, int repeats, samples_time *times)
{
  char *answer = NULL;
  CLM_REQUIRE(fprintf(peer->to, "%d\t%s\n", repeats, task) > 0 && fflush(peer->to) == 0, CLM_IO,
              "%s does not listen any more", peer->engine);
  CLM_TRY(clm__mem_alloc(ANSWER_MAX, 1, &answer));
  clm_status status = read_answer(peer, answer);
  if (status == CLM_OK) status = parse_times(peer, answer + 3, repeats, times);
  clm__mem_free(answer);
  return status;
}
