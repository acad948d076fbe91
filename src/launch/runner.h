/* A plan under mpirun: the command line, the host file, and running it to its end. */
#ifndef CLM_LAUNCH_RUNNER_H
#define CLM_LAUNCH_RUNNER_H

#include "launch/mpirun.h"
#include "launch/plan.h"
#include "launch/ssh.h"

/* What is run and where. Everything is borrowed. */
typedef struct clm__runner {
  const clm__plan *plan;
  const clm_launch_config *config;
  const clm_log *log;
  clm__ssh ssh;
  const clm__hosts *hosts; /* in the order of the ranks; NULL: this machine, or the scheduler's */
  char *host_file;         /* where their names are written; NULL: nowhere */
  bool by_scheduler;       /* mpirun asks the batch system for its hosts */
  /* Called before every start, ahead of the waiting for hosts; NULL: nothing to do. */
  clm_status (*refresh)(void *user);
  void *user;
} clm__runner;

/* Asks mpirun for its version. Errors: NO_INPUT (there is no mpirun), UNSUPPORTED. */
CLM_MUST_CHECK clm_status clm__runner_find_mpi(const clm_launch_config *config,
                                               clm__mpi_version *version);

/* Adds the command line, and the variables that mpirun itself needs. A single rank without an
 * mpirun to start it is started directly. Errors: as above, USAGE, NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__runner_words(const clm__runner *runner, bool resume,
                                            clm__words *words);
CLM_MUST_CHECK clm_status clm__runner_env(const clm__runner *runner, clm__words *env);

/* The text of the host file. Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__runner_add_host_file(const clm__runner *runner, clm__str *text);

/* Runs to the end. Errors: as clm__supervise. */
CLM_MUST_CHECK clm_status clm__runner_run(clm__runner *runner, int *exit_code);

#endif
