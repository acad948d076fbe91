/* Other programs: started from a list of words, never through a shell. */
#ifndef CLM_LAUNCH_PROCESS_H
#define CLM_LAUNCH_PROCESS_H

#include "launch/words.h"

#include <sys/types.h>

/* How a program is started. Zeroed: our environment, our output, nothing to read. */
typedef struct clm__process_start {
  const clm__words *argv; /* argv[0] is looked for in PATH */
  const clm__words *env;  /* NAME=VALUE on top of ours; NULL: none */
  int output_fd;          /* for what it prints; 0: where we print */
  int input_fd;           /* 0: /dev/null */
  bool is_silent;         /* what it prints is dropped */
} clm__process_start;

/* Starts a program in a process group of its own with all signals at their defaults. Errors:
 * NO_INPUT (no such program), IO. */
CLM_MUST_CHECK clm_status clm__process_run(const clm__process_start *start, pid_t *pid);

/* Whether a program has ended; its exit status, 128 + the signal that ended it, is given once. What
 * is left of its process group is killed. */
bool clm__process_has_ended(pid_t pid, int *exit_code);

/* Whether a program has a child that runs the program `name` (without its folder). false also where
 * the system does not tell. */
bool clm__process_has_child(pid_t pid, const char *name);

/* Sends a signal to a program; to its whole group where `group` is set. */
void clm__process_signal(pid_t pid, int number, bool group);

/* Runs a program to its end and gives what it printed, at most a megabyte of it. It is killed after
 * `seconds`, and then the exit status is 124. Errors: as clm__process_run. */
CLM_MUST_CHECK clm_status clm__process_capture(const clm__words *argv, double seconds,
                                               clm__str *output, int *exit_code);

/* Runs a program to its end with a text on its standard input. Errors: as clm__process_run. */
CLM_MUST_CHECK clm_status clm__process_feed(const clm__words *argv, const char *input,
                                            int *exit_code);

#endif
