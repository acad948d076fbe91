/* Building programs from several host threads: OpenCL compilers use one core each. */
#ifndef CLM_EXEC_PARALLEL_BUILD_H
#define CLM_EXEC_PARALLEL_BUILD_H

#include "base/error.h"

#include <stddef.h>

/* Calls build(user, item) for every item in [0, count) on up to `threads` threads. All items are
 * tried; the failure of the lowest item is raised on the calling thread. */
CLM_MUST_CHECK clm_status clm__parallel_build(size_t count, int threads,
                                              clm_status (*build)(void *user, size_t item),
                                              void *user);

#endif
