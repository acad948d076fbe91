/* Asking a run to stop: SIGINT, SIGTERM, SIGUSR1 (schedulers) and SIGUSR2 (mpirun). */
#ifndef CLM_CLI_STOP_H
#define CLM_CLI_STOP_H

/* From now on the first of these signals is remembered and said, the second ends the process. */
void clm__stop_listen(void);

/* Whether such a signal came. */
int clm__stop_is_wanted(void);

#endif
