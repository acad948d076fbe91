/* The inner part of resizing: one rectangle of pixels to another, the methods apart. */
#ifndef CLM_DATA_RESAMPLE_H
#define CLM_DATA_RESAMPLE_H

#include "data/resize.h"

typedef struct clm__resample {
  const uint8_t *x; /* [x_height,x_width,channels], rows x_stride bytes apart */
  int x_height;
  int x_width;
  size_t x_stride;
  int channels;
  float *y; /* [y_height,y_width,channels], rows y_stride floats apart */
  int y_height;
  int y_width;
  size_t y_stride;
} clm__resample;

/* Source pixels a target pixel, as TensorFlow computes it. */
static inline float clm__resample_scale(int source, int target)
{
  return (float)source / (float)target;
}

/* At least size_bytes of memory, aligned to 64; borrowed from the scratch. Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__resize_scratch_reserve(clm__resize_scratch *scratch,
                                                      size_t size_bytes, void *result);

void clm__resample_nearest(const clm__resample *job);

/* Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__resample_bilinear(const clm__resample *job,
                                                 clm__resize_scratch *scratch);

/* Bicubic and area: weighted sums of rows, then of columns. Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__resample_weighted(const clm__resample *job,
                                                 clm__interpolation interpolation,
                                                 clm__resize_scratch *scratch);

#endif
