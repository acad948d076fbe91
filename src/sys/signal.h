/* Asking a run to stop. */
#ifndef CLM_SYS_SIGNAL_H
#define CLM_SYS_SIGNAL_H

#include "base/error.h"

/* Installs handlers: the first SIGINT, SIGTERM or SIGUSR2 sets the flag below, a second one ends
 * the process at once with the signal's default action. Calling it again resets the flag. */
CLM_MUST_CHECK clm_status clm__signal_install(void);

/* The signal that asked for a stop, 0 where none did. Threads: any. */
int clm__signal_received(void);

/* Puts back the handlers that were there before. */
void clm__signal_restore(void);

#endif
