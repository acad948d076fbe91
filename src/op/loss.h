/* The contract of a loss: the end of the training net, from logits to per-image losses and their
 * gradient, in one place, so that softmax and cross-entropy are one formula (Keras does the same
 * through _keras_logits; keras/src/backend/tensorflow/ops/nn.py). */
#ifndef CLM_OP_LOSS_H
#define CLM_OP_LOSS_H

#include "dev/buffer.h"
#include "dev/launch.h"
#include "op/field.h"

/* What stands between the values the loss gets and the model's probabilities. */
typedef enum clm__loss_head {
  CLM__HEAD_SOFTMAX,      /* the model ends in softmax: the loss gets its logits */
  CLM__HEAD_LOGITS,       /* from_logits=True: the model's output are logits */
  CLM__HEAD_PROBABILITIES /* the model ends in something else: clipped as Keras does */
} clm__loss_head;

typedef struct clm__loss_args {
  int batch;
  cl_mem x;             /* [N,K] logits, or probabilities with that head */
  cl_mem labels;        /* [N] int, 0..K-1 */
  cl_mem dx;            /* [N,K]: gradient of the *sum* of losses; NULL in evaluation */
  cl_mem losses;        /* [N] */
  cl_mem hits;          /* [N] float 1 or 0: the first largest probability is the label */
  cl_mem probabilities; /* [N,K]; NULL where not wanted */
} clm__loss_args;

typedef struct clm__loss clm__loss;

typedef struct clm__loss_instance {
  const clm__loss *loss;
  const void *attributes;
  clm__device *device;
  clm__loss_head head;
  int classes; /* K */
  clm__kernel kernel;
} clm__loss_instance;

struct clm__loss {
  const char *name;        /* "sparse_categorical_crossentropy": Keras' string */
  const char *keras_class; /* "SparseCategoricalCrossentropy" */
  size_t attribute_bytes;
  const clm__field *fields; /* ends with key NULL */
  bool labels_are_one_hot;  /* what Keras' data must look like: label_mode "categorical" */
  /* Whether attributes say from_logits. */
  bool (*from_logits)(const void *attributes);
  clm_status (*prepare)(clm__loss_instance *instance);
  clm_status (*enqueue)(clm__loss_instance *instance, const clm__loss_args *args);
};

CLM_MUST_CHECK clm_status clm__loss_instance_init(clm__loss_instance *instance,
                                                  const clm__loss *loss, const void *attributes,
                                                  clm__loss_head head, int classes,
                                                  clm__device *device);
void clm__loss_instance_fini(clm__loss_instance *instance);

#endif
