/* A replica of a Vertex AI job: the chief runs mpirun, the others let it in. */
#ifndef CLM_LAUNCH_REPLICA_H
#define CLM_LAUNCH_REPLICA_H

#include "launch/cluster.h"
#include "launch/plan.h"

/* What a replica works with. Borrowed. */
typedef struct clm__replica_job {
  const clm_launch_config *config;
  const clm_log *log;
  const clm__cluster *cluster;
  clm__plan *plan;    /* of the command; the chief adds the replicas */
  const char *folder; /* shared, of this job alone */
  int slots;          /* ranks on this replica */
} clm__replica_job;

/* Runs the chief's part to the job's end. Errors: PEER_FAILED, IO, NO_INPUT. */
CLM_MUST_CHECK clm_status clm__replica_chief(const clm__replica_job *job, int *exit_code);

/* Serves until the job ends this replica by a signal. Errors: PEER_FAILED (no chief within the
 * start time-out), IO, NO_INPUT. */
CLM_MUST_CHECK clm_status clm__replica_worker(const clm__replica_job *job);

#endif
