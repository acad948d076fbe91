/* A net made ready on one device: a variant chosen and built for every pass of every node, and a
 * view for every block of the memory plan. Running it only enqueues. */
#ifndef CLM_EXEC_RUNNER_H
#define CLM_EXEC_RUNNER_H

#include "exec/choice.h"
#include "exec/params.h"
#include "graph/plan.h"
#include "op/variant.h"

/* Whose statistics are those of all replicas of a job, in training. */
typedef enum clm__join_wish {
  CLM__JOIN_NOTHING, /* nobody's */
  CLM__JOIN_MARKED,  /* those of layers that ask for it */
  CLM__JOIN_ALL
} clm__join_wish;

typedef struct clm__runner_config {
  clm__device *device; /* borrowed until the runner is destroyed */
  const clm__net *net; /* borrowed too */
  int batch_max;
  const clm__tune *tune; /* may be NULL; borrowed for the call */
  const char *variant;   /* the user's wish, may be NULL; borrowed for the call */
  clm__join_wish join;
} clm__runner_config;

typedef struct clm__runner clm__runner;

/* Chooses variants and plans memory; builds nothing and takes no device memory. Errors: USAGE (the
 * wish), DEVICE_MEMORY (a block is larger than a buffer may be), DEVICE_FAILED, NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__runner_create(const clm__runner_config *config,
                                             clm__runner **runner);
void clm__runner_destroy(clm__runner *runner);

/* Builds the programs on up to `threads` threads, at least 1, or one after the other from the last
 * to the first where threads is 0; once, before anything is run. Errors: DEVICE_FAILED, NO_MEMORY.
 */
CLM_MUST_CHECK clm_status clm__runner_build(clm__runner *runner, int threads);

/* The buffers the runner needs. */
const clm__plan_arenas *clm__runner_arenas(const clm__runner *runner);

/* Whether some pass multiplies by the device's BLAS. */
bool clm__runner_uses_blas(const clm__runner *runner);

/* The bytes of all of them. */
size_t clm__runner_size_bytes(const clm__runner *runner);

/* Lays the runner's blocks into buffers at least as large as its arenas; they must outlive it. */
CLM_MUST_CHECK clm_status clm__runner_bind(clm__runner *runner, const cl_mem *arenas,
                                           clm__params *params);

/* The net's input [batch_max,...] and output, and the gradient of the output (training). Views:
 * borrowed from the runner. */
cl_mem clm__runner_input(const clm__runner *runner);
cl_mem clm__runner_output(const clm__runner *runner);
cl_mem clm__runner_output_gradient(const clm__runner *runner);

/* The joints of a step in their order: those of forward, then those of backward. */
int clm__runner_joint_count(const clm__runner *runner);
const clm__joint *clm__runner_joint(const clm__runner *runner, int joint);

/* What all replicas of a job bring to a joint. */
typedef struct clm__joined {
  const float *figures; /* [2,channels]; kept until the next finish */
  uint64_t images;      /* of all replicas; 0: there is nothing to do */
} clm__joined;

/* What a call works on, and what its random numbers depend on. */
typedef struct clm__runner_call {
  int batch;        /* 0: only what the joints of the other replicas ask for */
  cl_mem image_ids; /* [batch] */
  uint64_t seed;
  uint32_t epoch;
  /* Called when all backward passes of a node are enqueued, last node first; may be NULL. */
  clm_status (*on_backward)(void *user, int node);
  /* Called in the middle of every pass with a joint, which waits for the device there: gives this
   * replica's figures [2,channels], NULL without images, for those of all. NULL where there are no
   * joints. */
  clm_status (*on_joint)(void *user, int joint, const float *own, clm__joined *joined);
  void *user;
} clm__runner_call;

/* Enqueue all forward passes, or all backward passes from the output gradient to the params'
 * gradients. */
CLM_MUST_CHECK clm_status clm__runner_forward(clm__runner *runner, const clm__runner_call *call);
CLM_MUST_CHECK clm_status clm__runner_backward(clm__runner *runner, const clm__runner_call *call);

/* Enqueues all backward passes and then all forward passes in the opposite order of a step, on
 * whatever the memory holds, so that a driver compiles them. */
CLM_MUST_CHECK clm_status clm__runner_rehearse(clm__runner *runner, const clm__runner_call *call);

/* One line a pass: node, op, shapes, variant, tuning values. Taken by the caller. */
CLM_MUST_CHECK clm_status clm__runner_describe(const clm__runner *runner, char **text);

#endif
