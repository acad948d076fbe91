#define _GNU_SOURCE
#include "sys/signal.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#define STOP_SIGNAL_COUNT 3
static const int stop_signals[STOP_SIGNAL_COUNT] = {SIGINT, SIGTERM, SIGUSR2};

/* A signal handler can reach static storage only. */
static atomic_int received;
static struct sigaction previous[STOP_SIGNAL_COUNT];
static bool installed;

static void on_signal(int number)
{
  atomic_store(&received, number);
  /* From now on the signal does what it does by default: the second one ends the process. */
  for (int i = 0; i < STOP_SIGNAL_COUNT; i++) (void)signal(stop_signals[i], SIG_DFL);
}

clm_status clm__signal_install(void)
{
  atomic_store(&received, 0);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  (void)sigemptyset(&action.sa_mask);
  for (int i = 0; i < STOP_SIGNAL_COUNT; i++) {
    struct sigaction before;
    CLM_REQUIRE(sigaction(stop_signals[i], &action, &before) == 0, CLM_INTERNAL,
                "cannot install a handler for signal %d", stop_signals[i]);
    if (!installed) previous[i] = before;
  }
  installed = true;
  return CLM_OK;
}

int clm__signal_received(void) { return atomic_load(&received); }

void clm__signal_restore(void)
{
  if (!installed) return;
  for (int i = 0; i < STOP_SIGNAL_COUNT; i++) (void)sigaction(stop_signals[i], &previous[i], NULL);
  installed = false;
}
