/* Files that are written and read at offsets while nobody else looks at them. */
#ifndef CLM_SYS_SCRATCH_H
#define CLM_SYS_SCRATCH_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct clm__scratch clm__scratch;

/* A file without a name in a folder, gone when it is closed or the process ends in any way.
 * size_bytes are kept free for it where the file system can promise that. Errors: IO (no room, no
 * right to write), NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__scratch_open(const char *folder, uint64_t size_bytes,
                                            clm__scratch **scratch);
/* An empty file at `path`, for clm__file_commit once it is closed. Errors: IO, NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__scratch_create(const char *path, clm__scratch **scratch);
/* Takes NULL. */
void clm__scratch_close(clm__scratch *scratch);

/* Errors: IO, reading also where the file ends before. Threads: any. */
CLM_MUST_CHECK clm_status clm__scratch_write(clm__scratch *scratch, uint64_t offset,
                                             const void *bytes, size_t count);
CLM_MUST_CHECK clm_status clm__scratch_read(const clm__scratch *scratch, uint64_t offset,
                                            void *bytes, size_t count);

/* Waits until the content is on the device. Errors: IO. */
CLM_MUST_CHECK clm_status clm__scratch_flush(clm__scratch *scratch);

/* $TMPDIR, else /var/tmp, which unlike /tmp is on a disk. Borrowed until the environment changes.
 */
const char *clm__scratch_folder(void);
/* Whether files in a folder live in memory, so that they save none. */
bool clm__scratch_is_memory(const char *folder);

#endif
