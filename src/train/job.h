/* What the public job is, and how rank 0 shares what it has. */
#ifndef CLM_TRAIN_JOB_H
#define CLM_TRAIN_JOB_H

#include "clematis/job.h"
#include "comm/comm.h"

struct clm_job {
  clm__comm *comm;
};

/* Rank 0's bytes on every rank. `mine` says whether rank 0 has any; the others bring CLM_OK and get
 * bytes of their own to free. Collective. Errors: rank 0's, PEER_FAILED, NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__job_share(clm__comm *comm, clm_status mine, char **bytes,
                                         size_t *size_bytes);

#endif
