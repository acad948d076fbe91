/* What the tests of several ranks share: the comm of this process. */
#ifndef CLM_TESTS_COMM_JOB_H
#define CLM_TESTS_COMM_JOB_H

#include "comm/comm.h"

/* Opens the comm of this process before a group of tests, closes it behind them. A rank that fails
 * a test leaves the others waiting for at most ten seconds. */
int open_job(void **state);
int close_job(void **state);

/* The comm that open_job opened. */
clm__comm *get_job(void);

/* The value that a rank brings to place i of a sum. */
float get_brought(int rank, size_t i, int step);

/* Their sum over `size` ranks in the order of ranks. */
float get_sum(int size, size_t i, int step);

#endif
