#include "launch/signals.h"

#include <pthread.h>
#include <time.h>

static void get_set(sigset_t *set)
{
  static const int numbers[] = {SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGCHLD};
  (void)sigemptyset(set);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) (void)sigaddset(set, numbers[i]);
}

void clm__signals_hold(sigset_t *before)
{
  sigset_t set;
  get_set(&set);
  (void)pthread_sigmask(SIG_BLOCK, &set, before);
}

int clm__signals_wait(double seconds)
{
  sigset_t set;
  get_set(&set);
  if (seconds < 0.0) seconds = 0.0;
  const struct timespec limit = {.tv_sec = (time_t)seconds,
                                 .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
  const int number = sigtimedwait(&set, NULL, &limit);
  return number > 0 && number != SIGCHLD ? number : 0;
}

void clm__signals_release(const sigset_t *before)
{
  sigset_t set;
  const struct timespec now = {0};
  get_set(&set);
  while (sigtimedwait(&set, NULL, &now) > 0) continue;
  (void)pthread_sigmask(SIG_SETMASK, before, NULL);
}
