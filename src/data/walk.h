/* Finding the picture files below a folder, in Keras' order (keras/src/utils/dataset_utils.py,
 * index_directory). */
#ifndef CLM_DATA_WALK_H
#define CLM_DATA_WALK_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct clm__walk_file {
  char *path;           /* relative to the folder */
  size_t folder_length; /* length of the part of `path` before the name */
  int label;            /* index into class_names, -1 without classes */
} clm__walk_file;

/* Zeroed, it is valid and empty. */
typedef struct clm__walk {
  char **class_names;
  int class_count;
  clm__walk_file *files; /* class by class; within one by folder, then by name */
  size_t count;
  size_t ignored_entries;
  size_t loose_images; /* images beside the class folders, not in `files` */
} clm__walk;

/* Lists the files of every class folder, or, without classes, all below the folder.
 * Errors: NO_INPUT, IO, BAD_DATA (more than 2^32 - 1 files), NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__walk_classes(const char *folder, bool follow_links, clm__walk *walk);
CLM_MUST_CHECK clm_status clm__walk_flat(const char *folder, bool follow_links, clm__walk *walk);

void clm__walk_fini(clm__walk *walk);

#endif
