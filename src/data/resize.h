/* 8-bit pixels to float32 pixels of a given size: tf.image.resize (v2, antialias=False). */
#ifndef CLM_DATA_RESIZE_H
#define CLM_DATA_RESIZE_H

#include "data/image.h"

typedef enum clm__interpolation {
  CLM__BILINEAR,
  CLM__NEAREST,
  CLM__BICUBIC,
  CLM__AREA
} clm__interpolation;

typedef enum clm__aspect {
  CLM__ASPECT_STRETCH,
  CLM__ASPECT_CROP, /* crop_to_aspect_ratio */
  CLM__ASPECT_PAD   /* pad_to_aspect_ratio */
} clm__aspect;

typedef struct clm__resize_config {
  int height;
  int width;
  clm__interpolation interpolation;
  clm__aspect aspect;
} clm__resize_config;

/* "bilinear" ... to the enum. Errors: USAGE naming the known ones. */
CLM_MUST_CHECK clm_status clm__interpolation_parse(const char *name, clm__interpolation *result);

/* Writes [height,width,channels] values 0..255, not rounded, into y; bicubic ones may leave the
 * range. Padding is black. A picture so thin that it would vanish when padded gets one row or
 * column (Keras gives up on it). Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__resize(const clm__image *image, const clm__resize_config *config,
                                      float *y /* [H,W,C] */);

/* Memory for tables and rows that one call after the other uses. Zeroed, it is valid and empty. */
typedef struct clm__resize_scratch {
  void *block;
  size_t capacity_bytes;
} clm__resize_scratch;
void clm__resize_scratch_fini(clm__resize_scratch *scratch);

/* The same with memory that is kept for the next call. */
CLM_MUST_CHECK clm_status clm__resize_with(clm__resize_scratch *scratch, const clm__image *image,
                                           const clm__resize_config *config,
                                           float *y /* [H,W,C] */);

#endif
