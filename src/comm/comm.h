/* The ranks of a job: who they are, what they tell each other before and after the training, and
 * the sums of their gradients (bucket.h).
 *
 * A process that mpirun or srun started is one rank of several; any other is alone, and MPI is
 * never initialised. Alone everything works and costs nothing.
 *
 * A collective function must be called by all ranks, in the same order, each call with the same
 * sizes. No such call waits for ever: where a rank has not answered for the time of
 * clm__comm_set_timeout, PEER_FAILED names it. After a failure of a collective function every later
 * one gives the same error at once, and closing does not wait.
 *
 * Threads: every function may be called from any thread, also at the same time: a lock of the comm
 * lets one thread at a time into MPI (MPI_THREAD_SERIALIZED is enough). Only the order of
 * collective calls, and of starts of the same bucket, is the caller's duty. */
#ifndef CLM_COMM_COMM_H
#define CLM_COMM_COMM_H

#include "base/error.h"
#include "base/log.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct clm__comm clm__comm;

#define CLM__COMM_TIMEOUT_MS 60000
/* Bytes of one rank's part in clm__comm_gather, at most. */
#define CLM__COMM_GATHER_MAX 256

/* Joins the job that this process was started for, else stays alone. Collective. Once a process:
 * MPI cannot be started twice. Where Linux has it, the process then gets SIGTERM when its parent
 * ends, so that no rank outlives its launcher. `log` is kept until closing and may be NULL.
 * Errors: UNSUPPORTED (started as a rank, but the library or its MPI cannot be one), PEER_FAILED,
 * NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__comm_open(const clm_log *log, clm__comm **comm);

/* Stays alone, whatever started this process. Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__comm_open_alone(const clm_log *log, clm__comm **comm);

/* Leaves the job; takes NULL. Collective: meets the other ranks a last time and ends MPI. Where the
 * comm has failed, a bucket is still in flight, or the others do not come in time, MPI is left as
 * it is: the launcher then ends the job when this process exits. Buckets are destroyed before. */
void clm__comm_close(clm__comm *comm);

/* This rank and the number of ranks. Not collective. */
int clm__comm_get_rank(const clm__comm *comm);
int clm__comm_get_size(const clm__comm *comm);

/* This rank among those of its machine, and their number. Not collective. */
int clm__comm_get_local_rank(const clm__comm *comm);
int clm__comm_get_local_size(const clm__comm *comm);

/* The host name of a rank; borrowed until closing. Not collective. */
const char *clm__comm_get_host(const clm__comm *comm, int rank);

/* How long a rank may keep the others waiting without any sign of life, from now on; before the
 * first call CLM__COMM_TIMEOUT_MS. At least 1. Not collective. */
void clm__comm_set_timeout(clm__comm *comm, int timeout_ms);

/* Returns when all ranks have called it. Collective. Errors: PEER_FAILED, INTERNAL (the ranks call
 * different functions). */
CLM_MUST_CHECK clm_status clm__comm_barrier(clm__comm *comm);

/* Gives all ranks the bytes of rank 0; any size, the same on all ranks. Collective. Errors:
 * PEER_FAILED, INTERNAL, NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__comm_broadcast(clm__comm *comm, void *bytes, size_t size_bytes);

/* Puts every rank's plain struct into all[size of the job], in the order of ranks. size_bytes is at
 * most CLM__COMM_GATHER_MAX. Collective. Errors: PEER_FAILED, INTERNAL. */
CLM_MUST_CHECK clm_status clm__comm_gather(clm__comm *comm, const void *mine, size_t size_bytes,
                                           void *all);

/* Ends a piece of set-up on all ranks alike: CLM_OK where all bring CLM_OK, else on every rank the
 * worst status, with the message of the rank that brought it behind its number and host. A status
 * of its own is worse than PEER_FAILED, that is worse than STOPPED, that is worse than CLM_OK; the
 * lowest rank speaks for its equals. `message` is read where `mine` is no CLM_OK. Collective.
 * Errors: those brought; PEER_FAILED, INTERNAL, NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__comm_agree(clm__comm *comm, clm_status mine, const char *message);

/* The same of a failure that is this thread's error. Alone it returns `mine` as it is. */
CLM_MUST_CHECK clm_status clm__comm_agree_last(clm__comm *comm, clm_status mine);

/* Moves all buckets in flight on; never waits. Sums of gradients are only made in here, in
 * clm__bucket_wait and in the collective functions, so a thread should call it often while backward
 * runs. Not collective. Errors: PEER_FAILED where the network reports a failure. */
CLM_MUST_CHECK clm_status clm__comm_poll(clm__comm *comm);

#endif
