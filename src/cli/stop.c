#include "cli/stop.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const int stop_signals[] = {SIGINT, SIGTERM, SIGUSR1, SIGUSR2};
#define STOP_SIGNAL_COUNT (sizeof stop_signals / sizeof stop_signals[0])
#define NOTE_SIZE 96

/* `timeout` signals the program and then its group, a scheduler a step and then its ranks: what
 * comes so soon after the first is the same request. */
#define SAME_REQUEST_NS 500000000LL

/* A signal handler can reach static storage only. */
static atomic_llong asked_ns; /* of the first; 0: none came. Two threads may get one at a time */
static volatile sig_atomic_t says_it;
/* Two texts in turn: the handler never sees one that is being written. */
static char notes[2][NOTE_SIZE];
static volatile sig_atomic_t note;

static void write_out(const char *text)
{
  /* Nothing can be done where even this cannot be written. */
  if (write(STDERR_FILENO, text, strlen(text)) < 0) return;
}

static void say(void)
{
  if (!says_it) return;
  write_out("\nclematis: stopping after this step (again to end at once)\n");
  write_out(notes[note]);
}

static void on_signal(int number)
{
  const int error = errno;
  struct timespec time = {0};
  (void)clock_gettime(CLOCK_MONOTONIC, &time);
  const long long now = time.tv_sec * 1000000000LL + time.tv_nsec;
  long long first = 0;
  if (atomic_compare_exchange_strong(&asked_ns, &first, now)) {
    say();
  } else if (now - first >= SAME_REQUEST_NS) {
    (void)signal(number, SIG_DFL);
    (void)raise(number);
  }
  errno = error;
}

void clm__stop_listen(bool says)
{
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  (void)sigemptyset(&action.sa_mask);
  says_it = says;
  for (size_t i = 0; i < STOP_SIGNAL_COUNT; i++) (void)sigaction(stop_signals[i], &action, NULL);
}

void clm__stop_note(int epoch, size_t step)
{
  const int other = 1 - note;
  (void)snprintf(notes[other], NOTE_SIZE, "clematis: the last step done was %zu of epoch %d\n",
                 step, epoch + 1);
  note = other;
}

int clm__stop_is_wanted(void) { return atomic_load(&asked_ns) != 0; }
