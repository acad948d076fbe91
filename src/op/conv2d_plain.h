/* The plain variant of conv2d and conv2d_max_pool, and what other variants use of it. */
#ifndef CLM_OP_CONV2D_PLAIN_H
#define CLM_OP_CONV2D_PLAIN_H

#include "op/conv2d.h"

extern const clm__variant clm__conv2d_plain;

/* Some neighbouring elements of the gradients of kernel and bias, seen as one array. */
typedef struct clm__conv2d_sum_range {
  size_t first, elements;
  size_t parts;    /* into which the sums are cut; the workspace holds elements * parts floats */
  uint32_t blocks; /* of 64 floats at the start of the workspace that are not to be touched */
} clm__conv2d_sum_range;

/* Parts for so many elements. */
size_t clm__conv2d_plain_parts(const clm__conv2d_geometry *geometry, size_t elements, int batch);

/* Enqueues the sums. kernels: conv2d_bwd_w_plain and conv2d_reduce_plain. */
CLM_MUST_CHECK clm_status clm__conv2d_sum_plain(clm__kernel kernels[2], const clm__op_args *args,
                                                clm__conv2d_sum_range range);

#endif
