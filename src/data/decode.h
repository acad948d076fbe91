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
  CLM__IMAGE_HEIF,
  CLM__IMAGE_AVIF,
  CLM__IMAGE_JPEG_XL,
  CLM__IMAGE_JPEG_2000,
  CLM__IMAGE_PSD,
  CLM__IMAGE_UNKNOWN
} clm__image_type;

/* The type by the first bytes, never by the name. */
clm__image_type clm__image_type_of(const void *bytes, size_t size_bytes);
const char *clm__image_type_name(clm__image_type type);

typedef struct clm__decode_options {
  int channels;     /* 1, 3 or 4; where a picture has no alpha, it is 255 */
  bool apply_exif;  /* turn the picture as its EXIF orientation says; Keras does not */
  bool blend_alpha; /* composite on white instead of dropping alpha; Keras drops it */
  /* A JPEG may be decoded at 1/2, 1/4 or 1/8 of its size, as long as this size is left: faster, but
   * the pixels are not Keras' any more. 0 turns that off; the loader does not turn it on. */
  int least_height;
  int least_width;
  size_t limit_bytes; /* most bytes of pixels; 0: CLM__IMAGE_LIMIT_BYTES, which is never exceeded */
} clm__decode_options;

/* Decodes a whole file in memory. *image is the caller's (clm__image_fini), zeroed or an earlier
 * image, whose memory is used again; after a failure its pixels are undefined. The message of an
 * error is a reason such as "truncated JPEG: ..." without a path. Errors: BAD_DATA (empty, unknown,
 * truncated, damaged, too large), UNSUPPORTED (a type by its real name), NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__decode(const void *bytes, size_t size_bytes,
                                      const clm__decode_options *options, clm__image *image);

/* Says what clm__decode would say with 3 channels, in less time; a sound image's pixels are
 * undefined. */
CLM_MUST_CHECK clm_status clm__decode_verify(const void *bytes, size_t size_bytes,
                                             clm__image *image);

/* Refuses a size over the limit before any memory is taken for it. Errors: BAD_DATA. */
CLM_MUST_CHECK clm_status clm__decode_check_size(const clm__decode_options *options,
                                                 uint32_t height, uint32_t width, int bytes_each);

/* The part of clm__decode for one type each; bytes are of that type. */
CLM_MUST_CHECK clm_status clm__decode_jpeg(const void *bytes, size_t size_bytes,
                                           const clm__decode_options *options, clm__image *image);
/* Goes as far as the first row: the rest can fail only at what follows the scan that it is in. */
CLM_MUST_CHECK clm_status clm__decode_jpeg_begin(const void *bytes, size_t size_bytes,
                                                 const clm__decode_options *options);
CLM_MUST_CHECK clm_status clm__decode_png(const void *bytes, size_t size_bytes,
                                          const clm__decode_options *options, clm__image *image);

#endif
