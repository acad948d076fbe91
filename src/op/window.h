/* Windows that slide over one axis: TensorFlow's sizes and padding
 * (tensorflow/core/framework/kernel_shape_util.cc). */
#ifndef CLM_OP_WINDOW_H
#define CLM_OP_WINDOW_H

#include "base/error.h"

#include <stdbool.h>

/* The number of windows along an axis of `size` elements, and how many elements of padding stand
 * before the first one. With `same` the odd element of padding stands behind the last, so padding
 * is not symmetric; without, only whole windows count and there is none. All numbers are at least
 * 1. Errors: BAD_DATA where no window fits (names both sizes), or where they do not fit in int. */
CLM_MUST_CHECK clm_status clm__window_resolve(int size, int kernel, int stride, int dilation,
                                              bool same, int *output, int *pad_before);

#endif
