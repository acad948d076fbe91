/* Messages for the person who runs the library. The library prints nothing: it hands each message
 * to the receiver that the caller put into its configuration. */
#ifndef CLM_BASE_LOG_H
#define CLM_BASE_LOG_H

#include "clematis/log.h"

/* Hands a message on; log may be NULL. Threads: any that the receiver allows. */
void clm__log(const clm_log *log, clm_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
