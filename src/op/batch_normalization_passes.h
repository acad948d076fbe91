/* What the variants of BatchNormalization share: all of them run the same steps, with kernels of
 * their own for those that go over the images. */
#ifndef CLM_OP_BATCH_NORMALIZATION_PASSES_H
#define CLM_OP_BATCH_NORMALIZATION_PASSES_H

#include "op/batch_normalization.h"
#include "op/variant.h"

extern const clm__variant clm__batch_normalization_plain;
extern const clm__variant clm__batch_normalization_cpu;
extern const clm__variant clm__batch_normalization_gpu;

/* Places of the parameters, -1 where one is missing. */
typedef struct clm__batch_normalization_params {
  int gamma, beta, moving_mean, moving_variance;
} clm__batch_normalization_params;

clm__batch_normalization_params
clm__batch_normalization_params_of(const clm__batch_normalization_attributes *attributes);

#endif
