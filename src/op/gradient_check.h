/* Is the step sound? One pass over the losses and the flat gradient array, in fixed order. */
#ifndef CLM_OP_GRADIENT_CHECK_H
#define CLM_OP_GRADIENT_CHECK_H

#include "dev/buffer.h"
#include "dev/launch.h"

typedef struct clm__gradient_check {
  clm__device *device;
  clm__kernel partial; /* a part of the array each */
  clm__kernel reduce;  /* the parts, in order */
  cl_mem parts;
} clm__gradient_check;

/* Builds the kernels and the memory for the parts. Errors: DEVICE_FAILED, DEVICE_MEMORY. */
CLM_MUST_CHECK clm_status clm__gradient_check_init(clm__gradient_check *check,
                                                   clm__device *device);
/* Takes a zeroed one. */
void clm__gradient_check_fini(clm__gradient_check *check);

/* Enqueues: stop[0] = 1 where any of losses[0..batch) or g[0..elements) is not finite, else 0;
 * square_sum[0] = sum of squares of g. elements is a multiple of 16. g may be NULL: losses only. */
CLM_MUST_CHECK clm_status clm__gradient_check_enqueue(clm__gradient_check *check, cl_mem losses,
                                                      int batch, cl_mem g, size_t elements,
                                                      cl_mem stop /* [1] int */,
                                                      cl_mem square_sum /* [1] float */);

#endif
