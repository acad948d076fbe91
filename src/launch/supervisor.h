/* Runs mpirun until the job is done: hands signals on, restarts after failures. */
#ifndef CLM_LAUNCH_SUPERVISOR_H
#define CLM_LAUNCH_SUPERVISOR_H

#include "launch/words.h"

#include "clematis/log.h"

#include <stdint.h>

typedef struct clm__supervision {
  void *user;
  /* Makes a start ready (waits for hosts, writes files) and adds the words to run. attempt counts
   * from 0. STOPPED: a stop was asked for meanwhile. */
  clm_status (*prepare)(void *user, int attempt, clm__words *argv);
  /* A number that grows with the progress of the job; NULL: not known. */
  uint64_t (*progress)(void *user);
  const clm__words *env; /* on top of ours */
  const clm_log *log;
  int max_restarts;       /* in a row without progress */
  double timeout_seconds; /* from the beginning; 0: none */
  double stop_grace_seconds;
  const char *rank_name;  /* the program that mpirun runs on this machine; NULL: not known */
  double lone_seconds;    /* mpirun may go on for so long after the ranks of this machine ended */
  double backoff_seconds; /* before the first restart; doubled for each further one, to a minute */
} clm__supervision;

/* Runs the job to its end; *exit_code gets its exit status, 75 where a stop was asked for before
 * anything ran, 69 where mpirun waited in vain for hosts that no longer answer. Errors: what
 * prepare returns, NO_INPUT (no mpirun). */
CLM_MUST_CHECK clm_status clm__supervise(const clm__supervision *supervision, int *exit_code);

#endif
