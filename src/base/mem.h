/* The one door to host memory: every allocation of the library goes through here, is counted, and
 * can be told to fail (testswitch.h). Threads: all functions may be called from any. */
#ifndef CLM_BASE_MEM_H
#define CLM_BASE_MEM_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

typedef struct clm__mem_counts {
  uint64_t allocations; /* calls that allocated since the program began */
  uint64_t blocks_live; /* blocks not yet freed */
} clm__mem_counts;

/* Zeroed memory for `count` items of `size_bytes`; taken by the caller, returned with
 * clm__mem_free. count 0 gives a valid pointer. Errors: NO_MEMORY, also where the product
 * overflows. *result stays untouched on failure. */
CLM_MUST_CHECK clm_status clm__mem_alloc(size_t count, size_t size_bytes, void *result);

/* Grows or shrinks a block; new bytes are not set. *block may hold NULL. On failure the old block
 * stays valid. Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__mem_resize(size_t count, size_t size_bytes, void *block);

/* Zeroed memory that begins at a multiple of 64 bytes; returned with clm__mem_free. */
CLM_MUST_CHECK clm_status clm__mem_alloc_aligned(size_t size_bytes, void *result);

/* A copy of a text; taken by the caller. */
CLM_MUST_CHECK clm_status clm__mem_copy_text(const char *text, char **result);

/* Gives memory back; takes NULL. */
void clm__mem_free(void *block);

/* What has been allocated so far. */
clm__mem_counts clm__mem_get_counts(void);

#endif
