#include "cli/stop.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static const int stop_signals[] = {SIGINT, SIGTERM, SIGUSR1, SIGUSR2};
#define STOP_SIGNAL_COUNT (sizeof stop_signals / sizeof stop_signals[0])

/* A signal handler can reach static storage only. */
static volatile sig_atomic_t is_wanted;

static void on_signal(int number)
{
  static const char message[] = "\nclematis: stopping after this step (again to end at once)\n";
  (void)number;
  is_wanted = 1;
  for (size_t i = 0; i < STOP_SIGNAL_COUNT; i++) (void)signal(stop_signals[i], SIG_DFL);
  /* Nothing can be done where even this cannot be written. */
  if (write(STDERR_FILENO, message, sizeof message - 1) < 0) return;
}

void clm__stop_listen(void)
{
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  (void)sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < STOP_SIGNAL_COUNT; i++) (void)sigaction(stop_signals[i], &action, NULL);
}

int clm__stop_is_wanted(void) { return is_wanted; }
