/* Files and folders. Messages of errors name the path and the system's reason. */
#ifndef CLM_SYS_FILE_H
#define CLM_SYS_FILE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads a whole file into memory that the caller takes (clm__mem_free); one NUL byte follows the
 * content and is not counted. Errors: NO_INPUT (cannot be opened, is no plain file), IO (cannot be
 * read), BAD_DATA (more than limit_bytes), NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__file_read(const char *path, size_t limit_bytes, char **content,
                                         size_t *size_bytes);

/* Memory that one file after the other is read into. Zeroed, it is valid and empty. */
typedef struct clm__file_buffer {
  char *bytes;
  size_t size_bytes;     /* of the file read last */
  size_t capacity_bytes; /* of the memory */
} clm__file_buffer;

/* clm__file_read into kept memory, which grows where a file needs more. The content is undefined
 * after a failure. */
CLM_MUST_CHECK clm_status clm__file_read_into(const char *path, size_t limit_bytes,
                                              clm__file_buffer *buffer);
void clm__file_buffer_fini(clm__file_buffer *buffer);

/* Writes a file so that, whatever happens, `path` holds either the old or the whole new content:
 * a temporary name in the same folder, flushed to the device, then renamed; the folder is flushed
 * too. Errors: IO; the temporary file is removed. */
CLM_MUST_CHECK clm_status clm__file_write(const char *path, const void *content, size_t size_bytes);

/* The two halves of clm__file_write for writers that need a path: makes up the temporary name for
 * `path` (taken by the caller) ... */
CLM_MUST_CHECK clm_status clm__file_temporary_name(const char *path, char **temporary);
/* ... and, when the file is complete under that name, flushes and renames it, or removes it.
 * Errors: IO. */
CLM_MUST_CHECK clm_status clm__file_commit(const char *temporary, const char *path);

/* Removes the files in a folder that bear such temporary names: what writers left behind that were
 * killed. Nobody may be writing there. Errors: those of listing and removing. */
CLM_MUST_CHECK clm_status clm__file_remove_temporaries(const char *folder);

/* Adds bytes to the end of a file, made where missing, and flushes them. Errors: IO. */
CLM_MUST_CHECK clm_status clm__file_append(const char *path, const void *content,
                                           size_t size_bytes);

/* Counts a write; true, with errno set, where CLEMATIS_TEST_FAIL_WRITE wants this one to fail. */
bool clm__file_must_fail(void);

/* Makes a folder and those above it. Existing ones are fine. Errors: IO. */
CLM_MUST_CHECK clm_status clm__file_make_folder(const char *path);

/* Removes a file; a missing one is fine. Errors: IO. */
CLM_MUST_CHECK clm_status clm__file_remove(const char *path);

bool clm__file_exists(const char *path);
bool clm__file_is_folder(const char *path);

/* "folder/name", taken by the caller. */
CLM_MUST_CHECK clm_status clm__file_join(const char *folder, const char *name, char **path);

/* The part of a path behind its last slash; borrowed from it. */
const char *clm__file_base_name(const char *path);

typedef struct clm__file_entry {
  char *name;
  bool is_folder; /* links are followed */
  bool is_link;
  uint64_t size_bytes; /* of a file */
} clm__file_entry;

typedef struct clm__file_listing {
  clm__file_entry *entries; /* sorted by name, byte by byte: the order of Python's sorted() */
  size_t count;
} clm__file_listing;

/* Lists a folder without "." and "..". Errors: NO_INPUT (missing or not a folder), IO. */
CLM_MUST_CHECK clm_status clm__file_list(const char *folder, clm__file_listing *listing);
void clm__file_listing_fini(clm__file_listing *listing);

/* The folder for cached data of the user: $CLEMATIS_CACHE, else $XDG_CACHE_HOME/clematis, else
 * $HOME/.cache/clematis; NULL where none of these is set. Taken by the caller. */
CLM_MUST_CHECK clm_status clm__file_cache_folder(char **path);

#endif
