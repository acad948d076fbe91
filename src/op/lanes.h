/* How wide kernels for CPUs make their vectors (LANES of cl/prelude.cl). */
#ifndef CLM_OP_LANES_H
#define CLM_OP_LANES_H

#include "dev/device.h"

/* The device's width from 4 to 16, but no more than there are columns: kernels let the last vector
 * of a row overlap the one before it, so that a vector is never wider than its row. */
static inline int clm__lanes(const clm__device_info *info, size_t columns)
{
  int lanes = 16;
  while (lanes > 4 && lanes > info->vector_width) lanes /= 2;
  while (lanes > 1 && (size_t)lanes > columns) lanes /= 2;
  return lanes;
}

#endif
