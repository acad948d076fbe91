/* A JPEG without its picture data: what is left shows whether the file is sound. */
#ifndef CLM_DATA_JPEG_OUTLINE_H
#define CLM_DATA_JPEG_OUTLINE_H

#include <stdbool.h>
#include <stddef.h>

/* Suffices for every ordinary file. */
#define CLM__JPEG_OUTLINE_BYTES 16384

typedef struct clm__jpeg_outline {
  unsigned char bytes[CLM__JPEG_OUTLINE_BYTES];
  size_t size_bytes;
  int scan_count;
  bool ends_with_scan; /* between the last scan and the end mark is no other segment */
} clm__jpeg_outline;

/* Copies the segments that a decoder reads, from the start mark to the end mark, and leaves out the
 * data of the scans, comments and the camera's notes. Data that are cut short, or are damaged, are
 * no error for libjpeg as long as a mark follows them: so where the outline decodes, to grey, the
 * file decodes. False where that cannot be promised (no end mark, garbage between segments, a mark
 * that is unknown or has no place there, more than CLM__JPEG_OUTLINE_BYTES). */
bool clm__jpeg_outline_take(const void *bytes, size_t size_bytes, clm__jpeg_outline *outline);

#endif
