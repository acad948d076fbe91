/* A model on one device: trains, evaluates, predicts. One host thread at a time uses a replica.
 *
 * A training step is two calls, so that gradients of several replicas can be summed in between:
 * clm__replica_compute (forward, loss, backward) and clm__replica_update (optimizer). Both only
 * enqueue; clm__replica_finish waits once and hands the figures over.
 *
 * Replicas that are summed have gradient parts: after compute each part comes to the host, is
 * waited for on its own while backward goes on, and is written back before update. Those that join
 * statistics meet in the middle of compute, too: each joint waits for all of them. */
#ifndef CLM_EXEC_REPLICA_H
#define CLM_EXEC_REPLICA_H

#include "exec/runner.h"
#include "op/loss.h"
#include "op/optim.h"

/* A run of gradients that comes to the host as soon as it is computed. */
typedef struct clm__gradient_part {
  size_t first;
  size_t count;  /* 0: it comes with what was enqueued before */
  float *target; /* [count] of the host; at `first` of the replica's host memory, if it has such, it
                    is lent to the host and not copied */
} clm__gradient_part;

typedef struct clm__replica_config {
  clm__device *device;         /* borrowed until the replica is destroyed */
  const clm__graph *graph;     /* borrowed too */
  const clm__weights *weights; /* the layout; borrowed too */
  int batch_max;
  const clm__loss *loss;               /* NULL: predicts only */
  const void *loss_attributes;         /* borrowed until destroyed */
  const clm__optim_state *optim_state; /* NULL: does not train; else its optimizer, attributes and
                                          number of slots are taken; borrowed until destroyed */
  uint64_t seed;                       /* of dropout */
  const clm__gradient_part *parts; /* what is summed with other replicas; NULL: this one is alone */
  int part_count;                  /* at least 1 where there are parts; borrowed until destroyed */
  float *gradients; /* [trainable_elements] memory to compute them in, as clm__buffer_create_in has
                       it; borrowed until destroyed; NULL: the device's own */
  clm__join_wish join;             /* whose statistics are those of all replicas in training */
  /* As in clm__runner_call; where statistics are joined. */
  clm_status (*on_joint)(void *user, int joint, const float *own, clm__joined *joined);
  void *joint_user;
  const clm__tune *tune; /* may be NULL */
  const char *variant;   /* wish, may be NULL */
  int threads;           /* that build programs; 0: as clm__runner_build has it */
  const clm_log *log;
} clm__replica_config;

typedef struct clm__replica clm__replica;

/* Builds the programs, those of evaluation beside training left out, and takes all the memory there
 * will ever be. Errors: DEVICE_MEMORY (needed,
 * available, and the largest batch that fits), USAGE, DEVICE_FAILED, NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__replica_create(const clm__replica_config *config,
                                              clm__replica **replica);
void clm__replica_destroy(clm__replica *replica);

/* All weights to and from the device; [weights->elements]. Blocking. */
CLM_MUST_CHECK clm_status clm__replica_write_weights(clm__replica *replica, const float *values);
CLM_MUST_CHECK clm_status clm__replica_read_weights(clm__replica *replica, float *values);

/* The optimizer's slots to and from the device. Blocking. */
CLM_MUST_CHECK clm_status clm__replica_write_slots(clm__replica *replica,
                                                   const clm__optim_state *state);
CLM_MUST_CHECK clm_status clm__replica_read_slots(clm__replica *replica, clm__optim_state *state);

/* Images for one call. Borrowed until clm__replica_finish. */
typedef struct clm__replica_input {
  const float *pixels;       /* [count,H,W,C] */
  const int32_t *labels;     /* [count]; NULL when predicting */
  const uint32_t *image_ids; /* [count]; NULL when not training */
  int count;                 /* 0..batch_max; 0 counts as all zero and enqueues nothing but what
                                joints ask for */
  uint32_t epoch;
  bool is_spoiled; /* a test wants a loss that is not a number */
} clm__replica_input;

/* Figures of one call. */
typedef struct clm__replica_result {
  double loss_sum; /* over the images */
  int hit_count;
  int count;
  bool is_finite; /* losses and gradients: where false the weights were left as they were */
} clm__replica_result;

/* Enqueue forward in training mode, loss and backward: gradients are sums over the images. Errors:
 * those of on_joint, DEVICE_FAILED. */
CLM_MUST_CHECK clm_status clm__replica_compute(clm__replica *replica,
                                               const clm__replica_input *input);

/* Enqueue the optimizer on gradients * gradient_scale. iterations: updates done before. It does
 * nothing on the device where the step is not finite; with parts the gradients are judged here. */
typedef struct clm__replica_update_args {
  float gradient_scale;
  float learning_rate;
  int64_t iterations;
} clm__replica_update_args;
CLM_MUST_CHECK clm_status clm__replica_update(clm__replica *replica,
                                              const clm__replica_update_args *args);

/* Builds the programs of evaluation where they are not built yet. A replica with a loss. Errors:
 * DEVICE_FAILED, NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__replica_build_evaluation(clm__replica *replica);

/* Enqueue forward in inference mode and the loss; the first one builds what is not built. */
CLM_MUST_CHECK clm_status clm__replica_evaluate(clm__replica *replica,
                                                const clm__replica_input *input);

/* Wait for what was enqueued since the last finish and give its figures. */
CLM_MUST_CHECK clm_status clm__replica_finish(clm__replica *replica, clm__replica_result *result);

/* Probabilities of up to batch_max images: [count, classes]; waits. */
CLM_MUST_CHECK clm_status clm__replica_predict(clm__replica *replica,
                                               const clm__replica_input *input,
                                               float *probabilities);

/* Runs everything once on `count` images of zeros, the last things of a step first, then
 * evaluation, so that a driver compiles it: what comes out is meaningless. A replica that trains
 * alone. */
CLM_MUST_CHECK clm_status clm__replica_rehearse(clm__replica *replica, int count);

/* ---- gradient parts, of the call of compute in flight ---- */

/* Whether a part has come, also during compute; waits until it has. Without images only those come
 * that are lent. Errors: DEVICE_FAILED. */
CLM_MUST_CHECK clm_status clm__replica_ask_part(clm__replica *replica, int part, bool *is_there);
CLM_MUST_CHECK clm_status clm__replica_wait_part(clm__replica *replica, int part);

/* The figures, once a part has come. is_finite tells of the losses: gradients are judged by update,
 * when they are summed. */
void clm__replica_get_figures(const clm__replica *replica, clm__replica_result *result);

/* Makes summed values [count of the part] the gradients: they stay until the next finish. A part
 * that is lent takes them at once, or holds them already, and is given back. */
CLM_MUST_CHECK clm_status clm__replica_write_part(clm__replica *replica, int part,
                                                  const float *values);

/* ---- joints ---- */

/* Those of a step in their order. */
int clm__replica_joint_count(const clm__replica *replica);
const clm__joint *clm__replica_joint(const clm__replica *replica, int joint);

/* ---- */

/* All gradients, blocking: [weights->trainable_elements]. For tests and for summing replicas. */
CLM_MUST_CHECK clm_status clm__replica_read_gradients(clm__replica *replica, float *values);
CLM_MUST_CHECK clm_status clm__replica_write_gradients(clm__replica *replica, const float *values);

/* The bytes of device memory it holds. */
uint64_t clm__replica_device_bytes(const clm__replica *replica);

/* Which variants run, a line a pass. Taken by the caller. */
CLM_MUST_CHECK clm_status clm__replica_describe(const clm__replica *replica, char **text);

#endif
