/* Attributes of BatchNormalization. */
#ifndef CLM_OP_BATCH_NORMALIZATION_H
#define CLM_OP_BATCH_NORMALIZATION_H

#include "op/op.h"

typedef struct clm__batch_normalization_attributes {
  int axis; /* -1 or the number of the last axis, the batch counted */
  double momentum;
  double epsilon;
  bool center; /* has beta */
  bool scale;  /* has gamma */
  clm__initializer beta_initializer;
  clm__initializer gamma_initializer;
  clm__initializer moving_mean_initializer;
  clm__initializer moving_variance_initializer;
  bool synchronized;        /* statistics are those of all replicas of a job */
  clm__activation epilogue; /* applied by the kernels; set by fusion */
} clm__batch_normalization_attributes;

#endif
