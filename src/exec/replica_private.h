/* What replica.c and replica_create.c share. */
#ifndef CLM_EXEC_REPLICA_PRIVATE_H
#define CLM_EXEC_REPLICA_PRIVATE_H

#include "dev/event.h"
#include "exec/replica.h"
#include "op/gradient_check.h"

/* One way of running the model: a lowered net and its runner. */
typedef struct replica_mode {
  clm__net *net;
  clm__runner *runner;
} replica_mode;

struct clm__replica {
  clm__replica_config config;
  clm__device *device;
  clm__params params;
  replica_mode train;    /* training, ends in logits */
  replica_mode evaluate; /* inference, ends in logits */
  replica_mode predict;  /* inference, ends in probabilities */
  bool has_evaluation;   /* the programs of evaluate are built */
  int arena_count;
  cl_mem arenas[CLM__ARENAS_MAX]; /* shared by the modes: only one runs at a time */
  uint64_t device_bytes;

  clm__loss_instance loss;
  clm__optim_instance optim;
  clm__gradient_check check;
  int classes;
  cl_mem labels;     /* [batch_max] int */
  cl_mem image_ids;  /* [batch_max] uint */
  cl_mem losses;     /* [batch_max] */
  cl_mem hits;       /* [batch_max] */
  cl_mem stop;       /* [1] int */
  cl_mem square_sum; /* [1] */

  /* Host side of the figures of the call in flight. */
  float *host_losses;
  float *host_hits;
  int32_t host_stop;
  int count_in_flight;

  /* Of gradient parts: */
  cl_event *part_events; /* [part_count]; NULL where nothing is in flight */
  bool *part_is_lent;    /* [part_count] to the host, since compute */
  int *part_nodes;       /* [part_count] the node behind whose backward a part is complete */
};

/* Makes the host side of the parts. */
CLM_MUST_CHECK clm_status clm__replica_parts_init(clm__replica *replica);
/* Waits for parts in flight; takes a half-made one. */
void clm__replica_parts_fini(clm__replica *replica);

/* Forgets the parts of the last call. */
void clm__replica_parts_begin(clm__replica *replica);

/* Enqueues the copies of the parts that are complete behind a node's backward: clm__runner_call's
 * on_backward, with the replica as user. */
CLM_MUST_CHECK clm_status clm__replica_parts_follow(void *user, int node);
/* Lends what can be lent, where nothing is computed. */
CLM_MUST_CHECK clm_status clm__replica_parts_lend(clm__replica *replica);

#endif
