/* One file after the other to pixels, with memory that is kept between them. */
#ifndef CLM_DATA_READER_H
#define CLM_DATA_READER_H

#include "base/str.h"
#include "data/decode.h"
#include "sys/file.h"

/* Zeroed, it is valid and empty. One thread at a time. */
typedef struct clm__reader {
  clm__file_buffer file;
  clm__str path;
  clm__image image; /* read last */
} clm__reader;

/* Reads and decodes folder/path into reader->image. The message of an error is a reason without the
 * path. Errors: NO_INPUT, IO, BAD_DATA, UNSUPPORTED: the file; NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__reader_read(clm__reader *reader, const char *folder,
                                           const char *path, const clm__decode_options *options);

/* Says what clm__reader_read would say, in less time; the image's pixels are undefined. */
CLM_MUST_CHECK clm_status clm__reader_verify(clm__reader *reader, const char *folder,
                                             const char *path);

/* Whether a status is a fault of the file, which can be left out, and not one of the run. */
bool clm__reader_is_fault(clm_status status);

/* Gives back what a giant file made it hold. */
void clm__reader_trim(clm__reader *reader);

void clm__reader_fini(clm__reader *reader);

#endif
