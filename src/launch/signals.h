/* Signals as events: held back while a call runs, and asked for between other things. Nothing is
 * installed, so nothing global changes but the calling thread's mask, which is put back. */
#ifndef CLM_LAUNCH_SIGNALS_H
#define CLM_LAUNCH_SIGNALS_H

#include <signal.h>

/* Holds SIGINT, SIGTERM, SIGUSR1, SIGUSR2 and SIGCHLD back; `before` gets the mask to put back. */
void clm__signals_hold(sigset_t *before);

/* Waits at most `seconds` for a signal; 0 where none came or a child changed, else the one that
 * asks for a stop. */
int clm__signals_wait(double seconds);

/* Drops what is pending and puts the mask back. */
void clm__signals_release(const sigset_t *before);

#endif
