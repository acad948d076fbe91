/* What the pooling ops have in common: attributes, shapes and the constants of their kernels. */
#ifndef CLM_OP_POOLING2D_H
#define CLM_OP_POOLING2D_H

#include "op/variant.h"

/* Attributes of MaxPooling2D and AveragePooling2D. */
typedef struct clm__pooling2d_attributes {
  int pool_size[2];
  int strides[2]; /* {0,0}: those of pool_size; infer completes them */
  int padding;    /* 0 valid, 1 same */
} clm__pooling2d_attributes;

/* Attributes of GlobalAveragePooling2D and GlobalMaxPooling2D. */
typedef struct clm__global_pooling2d_attributes {
  bool keepdims;
} clm__global_pooling2d_attributes;

/* Names of clm__pooling2d_attributes.padding; NULL-terminated. */
extern const char *const clm__pooling2d_paddings[];

/* Completes the attributes and answers the output's shape. Errors: BAD_DATA. */
CLM_MUST_CHECK clm_status clm__pooling2d_infer(clm__pooling2d_attributes *attributes,
                                               const clm__shape *input, clm__op_spec *spec);

/* Answers [C], or [1,1,C] with keepdims. Errors: BAD_DATA. */
CLM_MUST_CHECK clm_status
clm__global_pooling2d_infer(const clm__global_pooling2d_attributes *attributes,
                            const clm__shape *input, clm__op_spec *spec);

/* The gpu variants of GlobalAveragePooling2D (forward; backward has an item an element in any case)
 * and GlobalMaxPooling2D. */
extern const clm__variant clm__global_average_pooling2d_gpu;
extern const clm__variant clm__global_max_pooling2d_gpu;

#define CLM__POOLING2D_OPTIONS_SIZE 320
/* Writes the build options that tell a kernel shapes, window and padding into options. Errors:
 * BAD_DATA. */
CLM_MUST_CHECK clm_status clm__pooling2d_options(const clm__problem *problem,
                                                 char options[CLM__POOLING2D_OPTIONS_SIZE]);

#endif
