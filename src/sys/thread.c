#define _GNU_SOURCE
#include "sys/thread.h"

#include "base/num.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

clm_status clm__thread_start(clm__thread *thread, const char *name, void *(*run)(void *),
                             void *argument)
{
  sigset_t all;
  sigset_t before;
  (void)sigfillset(&all);
  (void)pthread_sigmask(SIG_BLOCK, &all, &before);
  const int code = pthread_create(&thread->id, NULL, run, argument);
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  CLM_REQUIRE(code == 0, CLM_NO_MEMORY, "cannot start thread %s: %s", name, strerror(code));
  thread->running = true;
  (void)pthread_setname_np(thread->id, name);
  return CLM_OK;
}

void clm__thread_join(clm__thread *thread)
{
  if (!thread->running) return;
  (void)pthread_join(thread->id, NULL);
  thread->running = false;
}

void clm__thread_give_way(void)
{
#ifdef SYS_gettid
  const int nice_value = 10;
  (void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), nice_value);
#endif
}

/* The quota of the control group (v2) in whole processors, 0 where there is none. */
static int quota_processors(void)
{
  FILE *file = fopen("/sys/fs/cgroup/cpu.max", "re");
  if (file == NULL) return 0;
  long long quota = 0;
  long long period = 0;
  const int fields = fscanf(file, "%lld %lld", &quota, &period);
  (void)fclose(file);
  if (fields != 2 || quota <= 0 || period <= 0) return 0;
  return (int)((quota + period - 1) / period);
}

int clm__thread_processors(void)
{
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  const int allowed = clm__max_int(CPU_COUNT(&set), 1);
  const int quota = quota_processors();
  return quota > 0 ? clm__min_int(quota, allowed) : allowed;
}
