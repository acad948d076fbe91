/* All replicas of a job in step: one a device, on this rank and on the others.
 *
 * A global batch is cut into one part a replica, in the order of ranks and, within a rank, of its
 * devices. Every replica computes gradient sums over its part; they are added on the host in a
 * fixed order, then over the ranks, divided once by the number of images there really were, and
 * given to the optimizer of every replica. So all replicas hold the same weights, and a replica
 * without images in a batch adds zeros. One replica alone does all of it on its device.
 *
 * Threads: one thread uses a team; the team has one thread of its own for each replica beyond the
 * first. */
#ifndef CLM_TRAIN_TEAM_H
#define CLM_TRAIN_TEAM_H

#include "comm/bucket.h"
#include "data/loader.h"
#include "exec/replica.h"

typedef struct clm__team_config {
  clm__device *const *devices; /* [device_count] of this rank; borrowed until destroyed */
  int device_count;            /* at least 1 */
  clm__comm *comm;             /* borrowed until destroyed */
  clm__replica_config replica; /* what all replicas share; device and batch_max are filled in */
  int batch_size;              /* global, at least 1 */
  size_t largest_batch;        /* no batch has more images, at most batch_size */
  const double *shares;        /* [share_sets][replicas of the job], relative: those to begin with,
                                  then those to be set later. NULL: equal for devices of one kind,
                                  measured where kinds differ. The same on all ranks */
  int share_sets;
  clm__wire wire;    /* between ranks */
  clm__trace *trace; /* borrowed until destroyed; NULL: off */
} clm__team_config;

typedef struct clm__team clm__team;

/* The replicas of a job whose ranks bring their number of devices. Collective. Errors: PEER_FAILED,
 * NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__team_count_replicas(clm__comm *comm, int device_count, int *total);

/* Builds all replicas. Collective: every rank leaves with the same status. Errors: as
 * clm__replica_create with the device named, PEER_FAILED. */
CLM_MUST_CHECK clm_status clm__team_create(const clm__team_config *config, clm__team **team);
void clm__team_destroy(clm__team *team);

/* Replicas of the whole job and of this rank. */
int clm__team_size(const clm__team *team);
int clm__team_local_size(const clm__team *team);

/* Makes all replicas the same where they may differ: moving averages become their mean, weighted by
 * the images that made them; weights that have drifted become those of the first replica, and that
 * is logged. Costs nothing where no step was made since. Collective. Before validation. */
CLM_MUST_CHECK clm_status clm__team_settle(clm__team *team);

/* Weights [weights->elements] and optimizer slots to all replicas of this rank, and from the first
 * one. Reading weights settles first: it is collective. Blocking. */
CLM_MUST_CHECK clm_status clm__team_write_weights(clm__team *team, const float *values);
CLM_MUST_CHECK clm_status clm__team_read_weights(clm__team *team, float *values);
CLM_MUST_CHECK clm_status clm__team_write_slots(clm__team *team, const clm__optim_state *state);
CLM_MUST_CHECK clm_status clm__team_read_slots(clm__team *team, clm__optim_state *state);

/* The images [*first, *first + *count) of a global batch of `global_count` that this rank loads, by
 * the shares of now. */
void clm__team_part(const clm__team *team, size_t global_count, size_t *first, size_t *count);

/* What a rank brings to a step. */
typedef struct clm__team_input {
  const clm__batch *batch; /* its part; files gone bad are left out. Borrowed for the call. NULL
                              where `failure` says that it could not be loaded */
  uint32_t epoch;
  bool is_spoiled;    /* a test wants a loss that is not a number */
  bool wants_stop;    /* this rank was asked to stop */
  bool wants_save;    /* this rank wants a checkpoint after the step */
  clm_status failure; /* CLM_OK, or this thread's error, which every rank then gets */
  float learning_rate;
  int64_t iterations; /* updates done before */
} clm__team_input;

/* Figures over all replicas of the job, the same on every rank. */
typedef struct clm__team_result {
  double loss_sum;
  uint64_t hit_count;
  uint64_t count;
  bool is_finite;      /* where false the weights were left as they were */
  bool wants_stop;     /* some rank was asked to stop */
  bool wants_save;     /* some rank wants a checkpoint after the step */
  bool shares_changed; /* from the next step on clm__team_part answers differently */
} clm__team_result;

/* One training step. Collective. With no image at all nothing is updated. Errors: those of any
 * replica or rank, the same on every rank; PEER_FAILED. */
CLM_MUST_CHECK clm_status clm__team_train(clm__team *team, const clm__team_input *input,
                                          clm__team_result *result);

/* Builds what evaluation needs on this rank's devices, which else its first batch does. Not
 * collective. Errors: DEVICE_FAILED, NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__team_build_evaluation(clm__team *team);

/* Forward in inference mode and the loss of this rank's part. Not collective: the sums are those of
 * this rank; clm__team_sum adds them up. */
CLM_MUST_CHECK clm_status clm__team_evaluate(clm__team *team, const clm__batch *batch,
                                             clm__team_result *result);

/* Replaces the figures by those of all ranks together. Collective. */
CLM_MUST_CHECK clm_status clm__team_sum(clm__team *team, clm__team_result *result);

/* What one replica of the job was worth, its first step left out. */
typedef struct clm__team_row {
  int rank;
  char id[16];              /* of its device */
  double share;             /* of a batch, as of now; all together 1 */
  double images_per_second; /* while it was busy */
  double wait_share;        /* of the steps' time, waiting for the others */
  bool is_hindrance;        /* the others alone would probably be faster */
} clm__team_row;

/* Fills rows[clm__team_size]. Collective. Several replicas only. */
CLM_MUST_CHECK clm_status clm__team_report(clm__team *team, clm__team_row *rows);

/* Sums over the steps but the first, of several replicas. */
typedef struct clm__team_times {
  uint64_t steps;
  double step_seconds;
  double exposed_seconds; /* of them: from the first replica's last gradient to the last sum, so
                             waiting for slower replicas counts too */
} clm__team_times;
clm__team_times clm__team_get_times(const clm__team *team);

/* Gives every replica another share [clm__team_size] from the next step on: one of the sets that
 * the team was created with. On all ranks alike. */
void clm__team_set_shares(clm__team *team, const double *shares);

/* The shares of now as whole numbers or as given, "1,3". Taken by the caller. */
CLM_MUST_CHECK clm_status clm__team_name_shares(const clm__team *team, char **text);

/* The bytes of device memory that the replicas of this rank hold. */
uint64_t clm__team_device_bytes(const clm__team *team);

/* Which variants run on the first replica, a line a pass. Taken by the caller. */
CLM_MUST_CHECK clm_status clm__team_describe(const clm__team *team, char **text);

#endif
