/* Memory that several processes of a machine see at once. It has no name and leaves nothing behind:
 * it is gone when the last process that sees it ends, however it ends. Linux alone has it
 * (memfd_create(2)); elsewhere making it is UNSUPPORTED. Nor does the size of /dev/shm, which is
 * small in containers, limit it. */
#ifndef CLM_SYS_SHARED_MEMORY_H
#define CLM_SYS_SHARED_MEMORY_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

typedef struct clm__shared_memory clm__shared_memory;

/* What another process needs to find it: plain data, to be sent. */
typedef struct clm__shared_memory_key {
  int64_t process;
  int64_t descriptor;
  uint64_t size_bytes;
  uint64_t check; /* that it is this memory, and no other of the same process */
} clm__shared_memory_key;

/* Zeroed memory. Errors: UNSUPPORTED (the system has no such memory), NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__shared_memory_create(size_t size_bytes, clm__shared_memory **memory);

/* The memory of another process, or of this one, for as long as it has not been hidden. Errors:
 * UNSUPPORTED (the process is not seen from here, or is another user's), NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__shared_memory_attach(const clm__shared_memory_key *key,
                                                    clm__shared_memory **memory);

/* Takes NULL. Other processes keep what they see. */
void clm__shared_memory_destroy(clm__shared_memory *memory);

clm__shared_memory_key clm__shared_memory_get_key(const clm__shared_memory *memory);

/* From now on nobody finds it any more; those who have attached it keep it. */
void clm__shared_memory_hide(clm__shared_memory *memory);

/* Its first byte, at a multiple of 4096; borrowed until it is destroyed. */
void *clm__shared_memory_get_bytes(const clm__shared_memory *memory);

#endif
