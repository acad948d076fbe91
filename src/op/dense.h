/* Attributes of Dense. */
#ifndef CLM_OP_DENSE_H
#define CLM_OP_DENSE_H

#include "op/op.h"

typedef struct clm__dense_attributes {
  int units;
  clm__activation activation; /* Keras' key; the graph makes it a node of its own */
  bool use_bias;
  clm__initializer kernel_initializer;
  clm__initializer bias_initializer;
  clm__activation epilogue; /* applied by the kernels; set by fusion */
} clm__dense_attributes;

#endif
