/* ZIP archives, only as far as .keras files need them. */
#ifndef CLM_IO_ZIP_H
#define CLM_IO_ZIP_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct clm__zip clm__zip;

/* Opens an archive for reading. Errors: NO_INPUT, BAD_DATA (no archive, damaged), NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__zip_open(const char *path, clm__zip **zip);
/* The same for an archive in memory, which must live until clm__zip_close. */
CLM_MUST_CHECK clm_status clm__zip_open_bytes(const void *bytes, size_t size_bytes, clm__zip **zip);
void clm__zip_close(clm__zip *zip);

/* Whether there is a member of this name. */
bool clm__zip_has(const clm__zip *zip, const char *name);

/* Reads a member, taken by the caller (clm__mem_free); a NUL byte follows and is not counted. Its
 * checksum is verified. Memory grows with what is really there, never by what the archive claims.
 * Errors: BAD_DATA (missing, damaged, larger than limit_bytes, or over 100 times as large as its
 * packed form), NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__zip_read(const clm__zip *zip, const char *name, size_t limit_bytes,
                                        char **bytes, size_t *size_bytes);

typedef struct clm__zip_member {
  const char *name;
  const void *bytes;
  size_t size_bytes;
} clm__zip_member;

/* Packs members in this order, stored as they are, as Keras does. The archive is taken by the
 * caller (clm__mem_free). Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__zip_pack(const clm__zip_member *members, size_t count, char **bytes,
                                        size_t *size_bytes);

/* The same, written whole (clm__file_write). Errors: NO_MEMORY, IO. */
CLM_MUST_CHECK clm_status clm__zip_write(const char *path, const clm__zip_member *members,
                                         size_t count);

#endif
