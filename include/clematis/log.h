/* Where the library's messages go. */
#ifndef CLEMATIS_LOG_H
#define CLEMATIS_LOG_H

#include "clematis/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum clm_log_level {
  CLM_LOG_WARNING, /* something was worked round or left out */
  CLM_LOG_INFO,    /* what a person wants to see by default */
  CLM_LOG_DETAIL   /* decisions and timings, for --verbose */
} clm_log_level;

/* A receiver of messages. `message` is one line without its end, borrowed for the call. It is
 * called from the thread that called the library and from the library's own threads, one call at a
 * time per object. */
typedef struct clm_log {
  void (*receive)(void *user, clm_log_level level, const char *message);
  void *user;
} clm_log;

#ifdef __cplusplus
}
#endif
#endif
