/* The golden pictures, for the tests of this floor. */
#ifndef CLM_TESTS_DATA_PICTURES_H
#define CLM_TESTS_DATA_PICTURES_H

#include "data/decode.h"
#include "sys/file.h"

/* Keras' settings. */
extern const clm__decode_options keras;

typedef struct file_content {
  char *bytes;
  size_t size_bytes;
} file_content;

/* The content of a file, or of golden/pixels/NAME (clm__mem_free). */
file_content read_path(const char *path);
file_content read_golden(const char *name);

/* Decodes golden/pixels/NAME. */
clm_status decode_golden(const char *name, const clm__decode_options *options, clm__image *image);

/* golden/pixels/src, and bad */
clm__file_listing list_sources(void);
clm__file_listing list_bad(void);
bool ends_with(const char *text, const char *end);

/* zlib's, as in photos_crc32.txt. */
uint32_t crc32(const uint8_t *bytes, size_t count);

#endif
