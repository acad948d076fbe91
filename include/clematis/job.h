/* The job that a process belongs to: one rank of several where mpirun or srun started it, else the
 * only one. */
#ifndef CLEMATIS_JOB_H
#define CLEMATIS_JOB_H

#include "clematis/log.h"
#include "clematis/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct clm_job clm_job;

/* Joins the job. Collective: all ranks call it. Once a process, since MPI cannot be started twice.
 * `log` is kept until closing and may be NULL. Errors: UNSUPPORTED (started as a rank, but this
 * library or its MPI cannot be one), PEER_FAILED, NO_MEMORY. */
CLM_API CLM_MUST_CHECK clm_status clm_job_open(const clm_log *log, clm_job **job);

/* Leaves it; takes NULL. Collective, but where a rank has failed nobody waits. */
CLM_API void clm_job_close(clm_job *job);

/* This rank, from 0. A job of NULL has one rank. */
CLM_API int clm_job_rank(const clm_job *job);
/* How many ranks there are. */
CLM_API int clm_job_size(const clm_job *job);
/* The name of this rank's host, borrowed until closing. */
CLM_API const char *clm_job_host(const clm_job *job);

/* Ends a piece of work on all ranks alike: CLM_OK where all bring CLM_OK, else the worst status on
 * every rank, with the message of the rank that brought it behind its number and host. `message` is
 * read where `mine` is no CLM_OK. Collective. Errors: those brought; PEER_FAILED. */
CLM_API CLM_MUST_CHECK clm_status clm_job_agree(clm_job *job, clm_status mine, const char *message);

/* A copy of rank 0's text on every rank, taken by the caller (clm_text_free); `mine` of the others
 * is not read. NULL travels too. Collective. Errors: PEER_FAILED, NO_MEMORY. */
CLM_API CLM_MUST_CHECK clm_status clm_job_share(clm_job *job, const char *mine, char **text);

#ifdef __cplusplus
}
#endif
#endif
