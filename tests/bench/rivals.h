/* Matrix products by CLBlast beside the kernels made by hand, on a network's own shapes. */
#ifndef CLM_TESTS_BENCH_RIVALS_H
#define CLM_TESTS_BENCH_RIVALS_H

#include "bench/bench.h"

/* Times every pass of `net` that CLBlast can serve both ways, in turns; tells a table to people,
 * and to JSON as the list `products` of the open object. */
CLM_MUST_CHECK clm_status rivals_measure(bench_run *bench, const char *net, int batch);

#endif
