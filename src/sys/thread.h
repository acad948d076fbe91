/* Threads, locks and conditions: pthreads behind our errors. */
#ifndef CLM_SYS_THREAD_H
#define CLM_SYS_THREAD_H

#include "base/error.h"

#include <pthread.h>
#include <stdbool.h>

typedef struct clm__thread {
  pthread_t id;
  bool running;
} clm__thread;

/* Starts a thread with all signals blocked, so that signals reach the main thread only. `name` is
 * shown by debuggers (at most 15 characters). Errors: NO_MEMORY where the system refuses. */
CLM_MUST_CHECK clm_status clm__thread_start(clm__thread *thread, const char *name,
                                            void *(*run)(void *), void *argument);

/* Waits for the thread's end; does nothing where it was never started. */
void clm__thread_join(clm__thread *thread);

/* Lets the calling thread give way to threads of normal priority, where the system can do that for
 * a single thread (Linux); otherwise nothing changes. */
void clm__thread_give_way(void);

/* The number of processors this process may run on, at least 1 (affinity and cgroup quota). */
int clm__thread_processors(void);

#endif
