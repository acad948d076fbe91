/* Decoded pixels. */
#ifndef CLM_DATA_IMAGE_H
#define CLM_DATA_IMAGE_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* 8-bit pixels, [height, width, channels] without padding. Zeroed, it is empty and valid. */
typedef struct clm__image {
  uint8_t *pixels; /* clm__mem */
  int height;
  int width;
  int channels;
  size_t capacity_bytes; /* of the block at pixels: kept, so that the next image can use it */
} clm__image;

/* Most bytes an image may have once decoded: TensorFlow's bound. */
#define CLM__IMAGE_LIMIT_BYTES ((size_t)1 << 29)

/* Gives the image this size; pixels are not set. Memory it has is used again where it is enough.
 * Errors: BAD_DATA (more than CLM__IMAGE_LIMIT_BYTES), NO_MEMORY; the image is then empty. */
CLM_MUST_CHECK clm_status clm__image_prepare(clm__image *image, int height, int width,
                                             int channels);

/* Turns and mirrors a picture that was stored with this EXIF orientation (1..8) upright.
 * Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__image_set_upright(clm__image *image, int orientation);

void clm__image_fini(clm__image *image);

#endif
