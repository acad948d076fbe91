/* Asking a run to stop: SIGINT, SIGTERM, SIGUSR1 (schedulers) and SIGUSR2 (mpirun). */
#ifndef CLM_CLI_STOP_H
#define CLM_CLI_STOP_H

#include <stdbool.h>
#include <stddef.h>

/* From now on the first of these signals is remembered, and said where `says`; one that comes half
 * a second later or more ends the process at once. */
void clm__stop_listen(bool says);

/* What is said besides: the last step done. Where another rank has died the launcher signals the
 * rest and kills them soon after, so nothing can be said later. epoch: from 0. */
void clm__stop_note(int epoch, size_t step);

/* Whether such a signal came. */
int clm__stop_is_wanted(void);

#endif
