/* Bytes of a file to pixels, with TensorFlow's settings (tf.image.decode_image). */
#ifndef CLM_DATA_DECODE_H
#define CLM_DATA_DECODE_H

#include "data/image.h"

#include <stdbool.h>

typedef enum clm__image_type {
  CLM__IMAGE_JPEG,
  CLM__IMAGE_PNG,
  CLM__IMAGE_GIF,
  CLM__IMAGE_BMP,
  CLM__IMAGE_WEBP,
  CLM__IMAGE_TIFF,
  CLM__IMAGE_UNKNOWN
} clm__image_type;

/* The type by the first bytes, never by the name. */
clm__image_type clm__image_type_of(const void *bytes, size_t size_bytes);
const char *clm__image_type_name(clm__image_type type);

typedef struct clm__decode_options {
  int channels;     /* 1, 3 or 4 */
  bool apply_exif;  /* turn the picture as its EXIF orientation says; Keras does not */
  bool blend_alpha; /* composite on white instead of dropping alpha; Keras drops it */
  /* A JPEG may be decoded at a smaller scale of at least this size, for resizing down only; 0 turns
   * that off. */
  int least_height;
  int least_width;
} clm__decode_options;

/* Decodes a whole file in memory; *image is taken by the caller (clm__image_fini). Errors: BAD_DATA
 * (empty, unknown, truncated, damaged), UNSUPPORTED (a type by its real name), NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__decode(const void *bytes, size_t size_bytes,
                                      const clm__decode_options *options, clm__image *image);

/* The part of clm__decode for one type each; bytes are of that type. */
CLM_MUST_CHECK clm_status clm__decode_jpeg(const void *bytes, size_t size_bytes,
                                           const clm__decode_options *options, clm__image *image);
CLM_MUST_CHECK clm_status clm__decode_png(const void *bytes, size_t size_bytes,
                                          const clm__decode_options *options, clm__image *image);

#endif
