/* Sums of floats over all ranks, while other work goes on. docs/parallel.md tells the algorithm,
 * its cost and what it guarantees:
 *
 *   - all ranks get the same bits, whatever arrives first; the values are added in the order of
 *     ranks;
 *   - any number of buckets may be in flight; they may be waited for in any order;
 *   - nothing is allocated after clm__bucket_create. */
#ifndef CLM_COMM_BUCKET_H
#define CLM_COMM_BUCKET_H

#include "comm/window.h"
#include "comm/wire.h"
#include "sys/trace.h"

typedef struct clm__bucket clm__bucket;

typedef struct clm__bucket_config {
  float *values; /* [count]; kept until destroyed */
  size_t count;  /* the same on all ranks; may be 0 */
  /* Where the values lie, on all ranks or on none. A shared window needs no network, and no wire:
   * its sums are exact. NULL: the values may lie anywhere. */
  clm__window *window;
  /* BF16 halves what is sent: each rank rounds what it sends and adds what rounding lost to what it
   * sends next time. What must arrive exactly, such as counts and flags, belongs in a bucket of
   * F32. Small buckets are always sent as F32. The same on all ranks. */
  clm__wire wire;
  clm__trace *trace; /* sees the sums, on a lane of its own; NULL: none */
  const char *name;  /* there, with a trace; kept until destroyed */
} clm__bucket_config;

/* Registers a bucket. Collective in so far as all ranks register the same buckets in the same
 * order; it does not wait for them. The comm outlives the bucket. Errors: UNSUPPORTED (too large,
 * too many), NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__bucket_create(clm__comm *comm, const clm__bucket_config *config,
                                             clm__bucket **bucket);

/* Takes NULL. Where the bucket is in flight its memory is kept for the network's late writes, and
 * the comm counts as failed. */
void clm__bucket_destroy(clm__bucket *bucket);

/* Begins to sum the values, which belong to the bucket until it is done. Collective in so far as
 * all ranks start it once a step; different buckets in any order. The bucket must not be in flight.
 * Errors: PEER_FAILED. */
CLM_MUST_CHECK clm_status clm__bucket_start(clm__bucket *bucket);

/* Whether the values are the sums. True before the first start. Not collective. */
bool clm__bucket_is_done(const clm__bucket *bucket);

/* Waits until the values are the sums, moving all buckets in flight on. Errors: PEER_FAILED where
 * some ranks have not answered in time, with their numbers and hosts; the bucket is still in flight
 * then, and waiting may be tried again. */
CLM_MUST_CHECK clm_status clm__bucket_wait(clm__bucket *bucket);

#endif
