/* The one thing read from EXIF data: how the picture was held. */
#ifndef CLM_DATA_EXIF_H
#define CLM_DATA_EXIF_H

#include <stddef.h>
#include <stdint.h>

/* The orientation (1..8) in EXIF data that begin with a TIFF header; 1, upright, where there is
 * none or the data are damaged. */
int clm__exif_orientation(const uint8_t *bytes, size_t size_bytes);

#endif
