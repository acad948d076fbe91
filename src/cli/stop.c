#include "cli/stop.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const int stop_signals[] = {SIGINT, SIGTERM, SIGUSR1, SIGUSR2};
#define STOP_SIGNAL_COUNT (sizeof stop_signals / sizeof stop_signals[0])
#define NOTE_SIZE 96

/* A signal handler can reach static storage only. */
static volatile sig_atomic_t is_wanted;
static volatile sig_atomic_t says_it;
/* Two texts in turn: the handler never sees one that is being written. */
static char notes[2][NOTE_SIZE];
static volatile sig_atomic_t note;

static void write_out(const char *text)
{
  /* Nothing can be done where even this cannot be written. */
  if (write(STDERR_FILENO, text, strlen(text)) < 0) return;
}

static void on_signal(int number)
{
  (void)number;
  is_wanted = 1;
  for (size_t i = 0; i < STOP_SIGNAL_COUNT; i++) (void)signal(stop_signals[i], SIG_DFL);
  if (!says_it) return;
  write_out("\nclematis: stopping after this step (again to end at once)\n");
  write_out(notes[note]);
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

int clm__stop_is_wanted(void) { return is_wanted; }
