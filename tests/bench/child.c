#include "bench/child.h"

#include "sys/clock.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void become(const child_config *config)
{
  const char *output = config->output != NULL ? config->output : "/dev/null";
  const int file = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0 || dup2(file, STDOUT_FILENO) < 0 || dup2(file, STDERR_FILENO) < 0) _exit(127);
  for (const char *const *v = config->variables; v != NULL && *v != NULL; v += 2)
    if (setenv(v[0], v[1], 1) != 0) _exit(127);
  (void)execvp(config->arguments[0], (char *const *)config->arguments);
  _exit(127);
}

/* The most it held so far. Not from getrusage, which counts what the parent held before exec. */
static uint64_t peak_of(pid_t process)
{
  char line[256], path[64];
  unsigned long long kib = 0;
  (void)snprintf(path, sizeof path, "/proc/%ld/status", (long)process);
  FILE *file = fopen(path, "r");
  if (file == NULL) return 0;
  while (fgets(line, sizeof line, file) != NULL)
    if (sscanf(line, "VmHWM: %llu", &kib) == 1) break;
  (void)fclose(file);
  return (uint64_t)kib << 10;
}

static int wait_watching(pid_t process, uint64_t *peak_bytes)
{
  const struct timespec pause = {.tv_nsec = 50000000};
  int state = 0;
  while (waitpid(process, &state, WNOHANG) == 0) {
    const uint64_t now = peak_of(process);
    if (now > *peak_bytes) *peak_bytes = now;
    (void)nanosleep(&pause, NULL);
  }
  return state;
}

clm_status child_run(const child_config *config, child_figures *figures)
{
  child_figures found = {0};
  int state = 0;
  const double begin = clm__clock_seconds();
  const pid_t process = fork();
  CLM_REQUIRE(process >= 0, CLM_IO, "%s could not be started", config->arguments[0]);
  if (process == 0) become(config);
  if (config->watch_memory)
    state = wait_watching(process, &found.peak_bytes);
  else
    (void)waitpid(process, &state, 0);
  found.seconds = clm__clock_seconds() - begin;
  CLM_REQUIRE(WIFEXITED(state) && WEXITSTATUS(state) == 0, CLM_IO, "%s ended with status %d",
              config->arguments[0], WIFEXITED(state) ? WEXITSTATUS(state) : -1);
  *figures = found;
  return CLM_OK;
}
