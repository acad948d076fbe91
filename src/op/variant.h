/* How an op runs on a device.
 *
 * A variant serves some of the passes of an op. For each pass of a node the first usable variant is
 * taken, unless tuning values or the user name another. prepare() says which kernels and how much
 * memory it needs; they are built once, before its first call; enqueue() only enqueues: it
 * allocates nothing and waits for nothing.
 *
 * Rule of gradients: backward passes overwrite dx and dw. dw holds the *sum* over the images of the
 * batch. Sums have a fixed order: the same device, driver and batch give the same bits. */
#ifndef CLM_OP_VARIANT_H
#define CLM_OP_VARIANT_H

#include "dev/buffer.h"
#include "dev/launch.h"
#include "dev/tune.h"
#include "op/op.h"

typedef enum clm__pass {
  CLM__FORWARD = 0,
  CLM__BACKWARD_X = 1, /* dx of all inputs that need one */
  CLM__BACKWARD_W = 2, /* dw of all trainable params */
  CLM__PASS_COUNT = 3
} clm__pass;

/* "fwd", "bwd_x", "bwd_w". */
const char *clm__pass_name(clm__pass pass);

/* What the replicas of a job join in the middle of a pass, so that it works with figures over the
 * images of all of them: two a channel. */
typedef enum clm__joint_kind {
  CLM__JOINT_NONE,    /* the pass is of one piece */
  CLM__JOINT_MOMENTS, /* mean and variance */
  CLM__JOINT_SUMS
} clm__joint_kind;

typedef struct clm__joint {
  clm__joint_kind kind;
  size_t channels;
  size_t offset_bytes; /* of the figures [2,channels] in the workspace */
} clm__joint;

/* Everything about one node that is fixed before it runs. Plain data, borrowed by its instances. */
typedef struct clm__problem {
  const clm__op *op;
  const void *attributes;
  int input_count;
  clm__shape inputs[CLM__INPUTS_MAX];
  clm__op_spec spec;
  int batch_max;
  bool training;    /* forward of training: keeps `saved`, uses batch statistics, drops out */
  bool frozen;      /* its params are not trained (Keras' trainable=false) */
  bool joins;       /* its statistics are those of all replicas of the job */
  unsigned need_dx; /* bit i: input i needs a gradient */
  uint32_t node;    /* number of the node: part of the random counter */
} clm__problem;

#define CLM__KERNELS_MAX 6

/* A kernel that prepare has asked for and that is not built yet. */
typedef struct clm__kernel_wish {
  const char *file; /* static, as the name is */
  const char *name;
  char *options; /* owned; NULL: it is built */
} clm__kernel_wish;

/* A variant made ready for one pass of one problem on one device. */
typedef struct clm__instance {
  const clm__problem *problem; /* borrowed */
  const struct clm__variant *variant;
  clm__pass pass;
  clm__device *device;                       /* borrowed */
  clm__tune_values tuning;                   /* defines to append to the build options */
  clm__kernel_wish wishes[CLM__KERNELS_MAX]; /* of prepare */
  clm__kernel kernels[CLM__KERNELS_MAX];     /* of the wishes, freed by clm__instance_fini */
  int kernel_count;
  size_t workspace_bytes; /* of one call; the memory is shared with other nodes */
  clm__joint joint;       /* set by prepare where the problem joins */
} clm__instance;

/* A pass with a joint runs in halves: the first ends with the figures of this replica, the second
 * begins with those of all; nothing else runs in between. */
typedef enum clm__half { CLM__WHOLE, CLM__FIRST_HALF, CLM__SECOND_HALF } clm__half;

/* The buffers and numbers of one call. All memory is the caller's. Buffers a pass has no use for
 * are NULL. */
typedef struct clm__op_args {
  int batch;             /* images in this call, 1..batch_max; in the second half of forward may be
                            0: what is not an image's follows the other replicas all the same */
  clm__half half;        /* of a pass with a joint; the whole is a job of one replica */
  uint64_t joint_images; /* of all replicas, in a second half */
  cl_mem x[CLM__INPUTS_MAX];  /* [N,input shape] */
  cl_mem y;                   /* [N,output shape]; written by forward */
  cl_mem dx[CLM__INPUTS_MAX]; /* overwritten by BACKWARD_X where need_dx says so */
  cl_mem dy;                  /* [N,output shape] */
  cl_mem w[CLM__PARAMS_MAX];  /* forward in training may update untrained ones */
  cl_mem dw[CLM__PARAMS_MAX]; /* overwritten by BACKWARD_W, which runs first: where they are
                                 given to BACKWARD_X too, they hold its results */
  cl_mem saved;               /* as spec.saved_* says */
  cl_mem workspace;
  cl_mem image_ids; /* [N] uint: which image each one is, for random numbers */
  uint64_t seed;
  uint32_t epoch;
} clm__op_args;

typedef struct clm__variant {
  const char *name;     /* "plain", "cpu", "gpu", "gemm" */
  unsigned passes;      /* bit (1 << pass) */
  bool uses_blas;       /* never usable where the device's matrix products are wrong */
  bool for_gpus;        /* on CPUs it runs only where it is named */
  bool rounds_in_tiles; /* errors are relative to the largest number near by, not to each result */
  /* Whether it can run this pass of this problem on such a device; NULL: always. */
  bool (*usable)(const clm__problem *problem, clm__pass pass, const clm__device_info *info);
  /* Whether it is used for a pass of this problem without being named or tuned; NULL: always. */
  bool (*worth_it)(const clm__problem *problem, clm__pass pass);
  /* Asks for kernels (clm__instance_add_kernel) and sets workspace_bytes for batch_max. Threads:
   * may run beside others of the same device. */
  clm_status (*prepare)(clm__instance *instance);
  clm_status (*enqueue)(clm__instance *instance, const clm__op_args *args);
  /* Tuning values "TILE=4 VEC=8" that `clematis tune` tries for a pass besides the variant's own
   * choice: a list that ends with NULL, itself NULL where there is none. */
  const char *const *candidates[CLM__PASS_COUNT];
} clm__variant;

/* Whether a variant can run this pass of this problem on such a device. */
bool clm__variant_is_usable(const clm__variant *variant, const clm__problem *problem,
                            clm__pass pass, const clm__device_info *info);

/* Whether it also runs there without being named: where it is worth it, or tuning chose it. */
bool clm__variant_is_offered(const clm__variant *variant, const clm__problem *problem,
                             clm__pass pass, const clm__device_info *info);

/* The words under which tuning values of a pass stand: "conv2d.fwd", "180x180x3-180x180x16/3x3". */
typedef struct clm__variant_key {
  char op_pass[CLM__TUNE_WORD_SIZE];
  char shape[CLM__TUNE_WORD_SIZE];
} clm__variant_key;
void clm__variant_key_of(const clm__problem *problem, clm__pass pass, clm__variant_key *key);

/* Chooses a variant for a pass and prepares it without building anything. `forced` names a variant
 * or is NULL; then tuning (may be NULL) decides, then usability. The instance is zeroed first;
 * clm__instance_fini frees it. Errors: USAGE (a forced name is unknown or not usable: the usable
 * ones are listed), DEVICE_FAILED. */
CLM_MUST_CHECK clm_status clm__instance_choose(clm__instance *instance, const clm__problem *problem,
                                               clm__pass pass, clm__device *device,
                                               const clm__tune *tune, const char *forced);
/* Builds what is not built yet. Threads: may run beside others of the same device. Errors:
 * DEVICE_FAILED, NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__instance_build(clm__instance *instance);

/* Both. Where it fails nothing is left to free. */
CLM_MUST_CHECK clm_status clm__instance_init(clm__instance *instance, const clm__problem *problem,
                                             clm__pass pass, clm__device *device,
                                             const clm__tune *tune, const char *forced);
/* The same with a variant and values that are given, as a tuner needs it. A variant that uses the
 * device's matrix products finds them as they are. */
CLM_MUST_CHECK clm_status clm__instance_init_with(clm__instance *instance,
                                                  const clm__problem *problem, clm__pass pass,
                                                  clm__device *device,
                                                  const clm__tune_values *values);
void clm__instance_fini(clm__instance *instance);

/* Asks for the kernel `name` of cl/<file> with options plus those of the instance's tuning values
 * that options do not define. */
CLM_MUST_CHECK clm_status clm__instance_add_kernel(clm__instance *instance, const char *file,
                                                   const char *options, const char *name);

/* Enqueues one call. */
CLM_MUST_CHECK clm_status clm__instance_enqueue(clm__instance *instance, const clm__op_args *args);

/* Whether the op has this pass at all for this problem: no BACKWARD_W without trainable params. */
bool clm__problem_has_pass(const clm__problem *problem, clm__pass pass);

#endif
