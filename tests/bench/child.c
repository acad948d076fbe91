#include "bench/child.h"

#include "sys/clock.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* Spawned, not forked: copying the page tables of this process would count as the child's time. */
static bool spawn(const child_config *config, pid_t *process)
{
  const char *output = config->output != NULL ? config->output : "/dev/null";
  posix_spawn_file_actions_t files;
  if (posix_spawn_file_actions_init(&files) != 0) return false;
  const bool spawned =
      posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_TRUNC,
                                       0644) == 0 &&
      posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO) == 0 &&
      posix_spawnp(process, config->arguments[0], &files, NULL, (char *const *)config->arguments,
                   environ) == 0;
  (void)posix_spawn_file_actions_destroy(&files);
  return spawned;
}

/* Processor seconds of all children that have ended. */
static double children_busy(void)
{
  struct rusage usage = {0};
  (void)getrusage(RUSAGE_CHILDREN, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
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
  pid_t process = -1;
  int state = 0;
  const double busy = children_busy();
  const double begin = clm__clock_seconds();
  CLM_REQUIRE(spawn(config, &process), CLM_IO, "%s could not be started", config->arguments[0]);
  if (config->watch_memory)
    state = wait_watching(process, &found.peak_bytes);
  else
    (void)waitpid(process, &state, 0);
  found.seconds = clm__clock_seconds() - begin;
  found.busy = children_busy() - busy;
  CLM_REQUIRE(WIFEXITED(state) && WEXITSTATUS(state) == 0, CLM_IO, "%s ended with status %d",
              config->arguments[0], WIFEXITED(state) ? WEXITSTATUS(state) : -1);
  *figures = found;
  return CLM_OK;
}
