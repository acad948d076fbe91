/* A network that is late, where the kernel has no netem: a device late0 in each network namespace
 * whose packets this process carries to the others after a delay. */
#ifndef CLM_TESTS_BENCH_LATE_WIRE_H
#define CLM_TESTS_BENCH_LATE_WIRE_H

#include "base/error.h"

#define LATE_HOSTS_MAX 16

/* Carries packets between the hosts until a signal ends the process. Host i has the address x.y.z.i
 * with i from 1, and is the network namespace of process pids[i - 1]. Needs root and Linux. Errors:
 * UNSUPPORTED, NO_MEMORY. */
CLM_MUST_CHECK clm_status late_wire_run(int delay_us, const char *const *pids, int host_count);

#endif
