/* TensorBoard's event files: records of protocol buffers, each with its checksums. A file is only
 * ever added to; a run that goes on begins another one in the same folder. */
#ifndef CLM_IO_EVENT_FILE_H
#define CLM_IO_EVENT_FILE_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

typedef struct clm__event_file clm__event_file;

/* A new file in folder. Nothing is made on the disk before the first flush, and records are kept in
 * memory until the next one. Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__event_file_create(const char *folder, clm__event_file **file);
/* Drops what was not flushed; takes NULL. */
void clm__event_file_destroy(clm__event_file *file);

/* Says that the run begins or goes on at this step: viewers drop what earlier files of the folder
 * hold from it on. Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__event_file_add_start(clm__event_file *file, int64_t step);

/* A point of a curve. Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__event_file_add_scalar(clm__event_file *file, int64_t step,
                                                     const char *tag, double value);

/* A part of a histogram. */
typedef struct clm__event_bucket {
  double left;
  double right;
  double count;
} clm__event_bucket;
/* A histogram. Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__event_file_add_histogram(clm__event_file *file, int64_t step,
                                                        const char *tag,
                                                        const clm__event_bucket *buckets,
                                                        size_t count);

/* Writes what was added since. After a failure the file is left as it is, and the next flush begins
 * another one with what could not be written. Errors: IO, NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__event_file_flush(clm__event_file *file);

/* CRC-32C of bytes, and the form in which records carry it. */
uint32_t clm__event_crc(const void *bytes, size_t count);
uint32_t clm__event_mask(uint32_t crc);

#endif
