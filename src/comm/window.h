/* Memory for the values of buckets. Where all ranks of the job are on one machine each sees the
 * memory of the others, and what they sum is read and written where it lies: no message is sent and
 * nothing is copied. Elsewhere, and where the system does not let processes share memory, it is
 * memory like any other. */
#ifndef CLM_COMM_WINDOW_H
#define CLM_COMM_WINDOW_H

#include "comm/comm.h"

typedef struct clm__window clm__window;

/* Zeroed memory of size_bytes, which may differ between ranks, with room for the values of
 * bucket_max buckets, the same on all ranks. Collective; fails on all ranks or on none. Errors:
 * NO_MEMORY, PEER_FAILED, INTERNAL. */
CLM_MUST_CHECK clm_status clm__window_create(clm__comm *comm, size_t size_bytes, int bucket_max,
                                             clm__window **window);

/* Takes NULL. Not collective: others keep what they see. Its buckets are destroyed before. */
void clm__window_destroy(clm__window *window);

/* The memory, at a multiple of 64 bytes; borrowed until the window is destroyed. */
void *clm__window_get_bytes(const clm__window *window);

/* Whether the ranks see each other's; the same on all of them. */
bool clm__window_is_shared(const clm__window *window);

#endif
