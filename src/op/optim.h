/* The contract of an optimizer: one kernel over the flat arrays of weights, gradients and slots
 * (keras/src/optimizers; formulas in each file).
 *
 * Kernels use explicit fma, contraction off, so that equal devices make equal bits. Factors that
 * depend on the step are computed on the host in float32 as Keras does. */
#ifndef CLM_OP_OPTIM_H
#define CLM_OP_OPTIM_H

#include "dev/buffer.h"
#include "dev/launch.h"
#include "op/field.h"

#define CLM__SLOTS_MAX 3

typedef struct clm__optim_args {
  size_t elements;              /* of each flat array; a multiple of 16 */
  cl_mem w;                     /* [elements] */
  cl_mem g;                     /* [elements] sums of gradients */
  cl_mem slots[CLM__SLOTS_MAX]; /* [elements] each */
  cl_mem stop;                  /* [1] int: not 0 leaves everything as it is (the loss or a
                                   gradient was not finite) */
  float gradient_scale;         /* 1 / images of the global batch */
  float learning_rate;
  int64_t iterations; /* updates done before this one; Keras' `iteration` */
} clm__optim_args;

typedef struct clm__optim clm__optim;

typedef struct clm__optim_instance {
  const clm__optim *optim;
  const void *attributes;
  clm__device *device;
  clm__kernel kernel;
  int width; /* elements a work-item updates at once */
} clm__optim_instance;

struct clm__optim {
  const char *name;         /* "adam": Keras' string */
  const char *keras_class;  /* "Adam" */
  const char *keras_name;   /* default of the key "name": "adam", "rm_sprop", "adam_w" */
  size_t attribute_bytes;   /* the first member of every attribute struct is
                               double learning_rate, the second double weight_decay (0: none) */
  const clm__field *fields; /* the class's own keys behind the common ones; ends with key NULL */
  double learning_rate;     /* default */
  double weight_decay;      /* default, 0: null in Keras */
  /* Number of slots for these attributes and Keras' names ("momentum", "velocity"). */
  int (*slots)(const void *attributes, const char *names[CLM__SLOTS_MAX]);
  /* Order of slot variables in files: true = the first two variable by variable, then a third one's
   * (Adam's momentum and velocity, then velocity_hat); false = slot by slot. */
  bool slots_interleaved;
  clm_status (*prepare)(clm__optim_instance *instance);
  clm_status (*enqueue)(clm__optim_instance *instance, const clm__optim_args *args);
};

/* Keys that every optimizer has besides learning_rate and weight_decay; ends with key NULL. */
extern const clm__field clm__optim_common_fields[];

CLM_MUST_CHECK clm_status clm__optim_instance_init(clm__optim_instance *instance,
                                                   const clm__optim *optim, const void *attributes,
                                                   clm__device *device);
void clm__optim_instance_fini(clm__optim_instance *instance);

/* For the optimizers' files: builds `kernel` of cl/<file> with `options` and the vector width that
 * suits the device ... */
CLM_MUST_CHECK clm_status clm__optim_build(clm__optim_instance *instance, const char *file,
                                           const char *options, const char *kernel);
/* ... begins its launch with the arguments all of them share: w, the slots, g, stop, the number of
 * vectors, gradient_scale, learning_rate and weight_decay ... */
clm__launch clm__optim_launch(clm__optim_instance *instance, const clm__optim_args *args,
                              int slot_count);
/* ... and runs it over all elements, after the optimizer's own factors were pushed. */
CLM_MUST_CHECK clm_status clm__optim_run(clm__launch *launch, const clm__optim_instance *instance,
                                         const clm__optim_args *args);

#endif
