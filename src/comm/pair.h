/* What each rank does with rank 0 alone: comparing clocks, and sending it what it has. */
#ifndef CLM_COMM_PAIR_H
#define CLM_COMM_PAIR_H

#include "comm/comm.h"

/* What clm__clock_seconds of rank 0 is ahead of this rank's. */
typedef struct clm__clock_offset {
  double seconds;
  double error_seconds; /* at most so wrong: half of the shortest way there and back */
} clm__clock_offset;

/* Every rank in turn asks rank 0 for the time, a few times, and takes the quickest answer.
 * Collective. Errors: PEER_FAILED, NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__pair_compare_clocks(clm__comm *comm, clm__clock_offset *offset);

/* Bytes of rank `from`, which is not 0, to rank 0; the other ranks must not call it. Rank 0 brings
 * room and knows the size. Errors: PEER_FAILED, NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__pair_send(clm__comm *comm, int from, void *bytes, size_t size_bytes);

#endif
