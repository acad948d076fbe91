#define _GNU_SOURCE
#include "launch/process.h"

#include "launch/signals.h"
#include "sys/clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define OUTPUT_BYTES_MAX ((size_t)1 << 20)
#define NAME_LENGTH_MAX 15 /* of what Linux keeps of a program's name */

/* Our environment with that of the start on top; the words of the result are borrowed. */
static clm_status merge_env(const clm__words *env, clm__words *merged)
{
  for (char **at = environ; *at != NULL; at++) CLM_TRY(clm__words_add(merged, *at));
  for (size_t i = 0; env != NULL && i < env->count; i++) {
    clm__str name = {0};
    const size_t length = strcspn(env->items[i], "=");
    clm_status status = clm__str_add_bytes(&name, env->items[i], length);
    if (status == CLM_OK)
      status = clm__words_set_variable(merged, clm__str_get(&name), env->items[i] + length + 1);
    clm__str_fini(&name);
    CLM_TRY(status);
  }
  return CLM_OK;
}

static int set_actions(const clm__process_start *start, posix_spawn_file_actions_t *actions)
{
  int code = posix_spawn_file_actions_init(actions);
  if (code != 0) return code;
  code = start->input_fd > 0
             ? posix_spawn_file_actions_adddup2(actions, start->input_fd, STDIN_FILENO)
             : posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (code == 0 && start->is_silent)
    code = posix_spawn_file_actions_addopen(actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  if (code == 0 && start->is_silent)
    code = posix_spawn_file_actions_adddup2(actions, STDOUT_FILENO, STDERR_FILENO);
  if (code == 0 && start->output_fd > 0)
    code = posix_spawn_file_actions_adddup2(actions, start->output_fd, STDOUT_FILENO);
  if (code == 0 && start->output_fd > 0)
    code = posix_spawn_file_actions_adddup2(actions, start->output_fd, STDERR_FILENO);
  return code;
}

static int set_attributes(posix_spawnattr_t *attributes)
{
  sigset_t all;
  sigset_t none;
  (void)sigfillset(&all);
  (void)sigemptyset(&none);
  int code = posix_spawnattr_init(attributes);
  if (code == 0) code = posix_spawnattr_setpgroup(attributes, 0);
  if (code == 0) code = posix_spawnattr_setsigdefault(attributes, &all);
  if (code == 0) code = posix_spawnattr_setsigmask(attributes, &none);
  if (code == 0)
    code = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF |
                                                    POSIX_SPAWN_SETSIGMASK);
  return code;
}

clm_status clm__process_run(const clm__process_start *start, pid_t *pid)
{
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  clm__words env = {0};
  const clm_status status = merge_env(start->env, &env);
  if (status != CLM_OK) {
    clm__words_fini(&env);
    return status;
  }
  int code = set_actions(start, &actions);
  if (code == 0) code = set_attributes(&attributes);
  const char *program = start->argv->items[0];
  pid_t started = 0;
  if (code == 0)
    code = posix_spawnp(&started, program, &actions, &attributes, start->argv->items, env.items);
  (void)posix_spawn_file_actions_destroy(&actions);
  (void)posix_spawnattr_destroy(&attributes);
  clm__words_fini(&env);
  CLM_REQUIRE(code != ENOENT, CLM_NO_INPUT, "cannot start %s: there is no such program", program);
  CLM_REQUIRE(code == 0, CLM_IO, "cannot start %s: %s", program, strerror(code));
  *pid = started;
  return CLM_OK;
}

bool clm__process_has_ended(pid_t pid, int *exit_code)
{
  siginfo_t info = {0};
  int state = 0;
  if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0)
    return false;
  /* Before its number is free for others. */
  (void)kill(-pid, SIGKILL);
  if (waitpid(pid, &state, 0) != pid)
    *exit_code = 127;
  else
    *exit_code = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
  return true;
}

static bool runs(long pid, const char *name)
{
  char path[64];
  char found[NAME_LENGTH_MAX + 2] = "";
  (void)snprintf(path, sizeof path, "/proc/%ld/comm", pid);
  FILE *file = fopen(path, "re");
  if (file == NULL) return false;
  const bool is_read = fgets(found, sizeof found, file) != NULL;
  (void)fclose(file);
  found[strcspn(found, "\n")] = '\0';
  return is_read && strncmp(found, name, NAME_LENGTH_MAX) == 0;
}

static bool thread_has_child(pid_t pid, const char *thread, const char *name)
{
  char path[512];
  long child = 0;
  bool is_found = false;
  (void)snprintf(path, sizeof path, "/proc/%ld/task/%s/children", (long)pid, thread);
  FILE *file = fopen(path, "re");
  if (file == NULL) return false;
  while (!is_found && fscanf(file, "%ld", &child) == 1) is_found = runs(child, name);
  (void)fclose(file);
  return is_found;
}

bool clm__process_has_child(pid_t pid, const char *name)
{
  char path[64];
  const struct dirent *entry = NULL;
  bool is_found = false;
  (void)snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
  DIR *threads = opendir(path);
  if (threads == NULL) return false;
  while (!is_found && (entry = readdir(threads)) != NULL)
    if (entry->d_name[0] != '.') is_found = thread_has_child(pid, entry->d_name, name);
  (void)closedir(threads);
  return is_found;
}

void clm__process_signal(pid_t pid, int number, bool group)
{
  (void)kill(group ? -pid : pid, number);
}

/* Adds what can be read now; false at the end. */
static bool read_some(int fd, clm__str *output, clm_status *status)
{
  char bytes[4096];
  const ssize_t count = read(fd, bytes, sizeof bytes);
  if (count <= 0) return count < 0 && (errno == EINTR || errno == EAGAIN);
  const size_t room = OUTPUT_BYTES_MAX - output->length;
  *status = clm__str_add_bytes(output, bytes, (size_t)count < room ? (size_t)count : room);
  return *status == CLM_OK;
}

static clm_status read_until(int fd, pid_t pid, double seconds, clm__str *output, bool *is_late)
{
  const double end = clm__clock_seconds() + seconds;
  clm_status status = CLM_OK;
  for (;;) {
    const double left = end - clm__clock_seconds();
    struct pollfd waiting = {.fd = fd, .events = POLLIN};
    if (left <= 0.0) break;
    if (poll(&waiting, 1, (int)(left * 1000.0) + 1) <= 0) continue;
    if (!read_some(fd, output, &status)) return status;
  }
  *is_late = true;
  clm__process_signal(pid, SIGKILL, true);
  return status;
}

static void wait_for(pid_t pid, int *exit_code)
{
  siginfo_t info;
  while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) continue;
  (void)clm__process_has_ended(pid, exit_code);
}

clm_status clm__process_capture(const clm__words *argv, double seconds, clm__str *output,
                                int *exit_code)
{
  int ends[2];
  pid_t pid = 0;
  bool is_late = false;
  CLM_REQUIRE(pipe2(ends, O_CLOEXEC) == 0, CLM_IO, "cannot make a pipe: %s", strerror(errno));
  const clm__process_start start = {.argv = argv, .output_fd = ends[1]};
  clm_status status = clm__process_run(&start, &pid);
  (void)close(ends[1]);
  if (status == CLM_OK) {
    status = read_until(ends[0], pid, seconds, output, &is_late);
    wait_for(pid, exit_code);
    if (is_late) *exit_code = 124;
  }
  (void)close(ends[0]);
  return status;
}

clm_status clm__process_feed(const clm__words *argv, const char *input, int *exit_code)
{
  pid_t pid = 0;
  size_t left = strlen(input);
  FILE *file = tmpfile();
  CLM_REQUIRE(file != NULL, CLM_IO, "cannot make a temporary file: %s", strerror(errno));
  const bool is_written = fwrite(input, 1, left, file) == left && fflush(file) == 0 &&
                          lseek(fileno(file), 0, SEEK_SET) == 0;
  const clm__process_start start = {.argv = argv, .input_fd = fileno(file)};
  clm_status status = CLM_OK;
  if (!is_written)
    status = clm__error_fail(CLM_IO, __FILE__, __LINE__, __func__,
                             "cannot write a temporary file: %s", strerror(errno));
  if (status == CLM_OK) status = clm__process_run(&start, &pid);
  (void)fclose(file);
  if (status == CLM_OK) wait_for(pid, exit_code);
  return status;
}
