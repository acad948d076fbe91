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
} clm__image;

void clm__image_fini(clm__image *image);

#endif
