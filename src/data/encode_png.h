/* Writing PNG files. */
#ifndef CLM_DATA_ENCODE_PNG_H
#define CLM_DATA_ENCODE_PNG_H

#include "data/image.h"

/* Writes an image of 3 channels, whole or not at all, without waiting for
 * the disk. Errors: IO, NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__encode_png(const clm__image *image, const char *path);

#endif
