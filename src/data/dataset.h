/* A folder of photographs as samples: keras.utils.image_dataset_from_directory
 * (keras/src/utils/image_dataset_utils.py, dataset_utils.py). */
#ifndef CLM_DATA_DATASET_H
#define CLM_DATA_DATASET_H

#include "base/log.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum clm__split_kind {
  CLM__SPLIT_KERAS,     /* one shuffle of all files with NumPy's generator, the tail validates */
  CLM__SPLIT_STRATIFIED /* the same within every class, so that each class validates */
} clm__split_kind;

typedef struct clm__dataset_config {
  const char *folder;
  double validation_split; /* 0 <= s < 1; 0: everything trains */
  uint32_t seed;           /* of the shuffle before the split */
  bool shuffle;            /* false: sorted order is kept */
  bool follow_links;       /* walk into linked folders below a class */
  bool unlabelled;         /* no class folders: every image below the folder, label -1 */
  clm__split_kind split;
} clm__dataset_config;

typedef struct clm__sample {
  char *path;  /* relative to the folder, '/' between parts; the class is its first part */
  int label;   /* index of the class, -1 unlabelled */
  char *fault; /* why the file cannot be used; NULL while it can */
} clm__sample;

typedef struct clm__dataset {
  char *folder;
  char **class_names; /* sorted as bytes: Keras' order */
  int class_count;
  clm__sample *samples; /* training files in Keras' order, then validation files */
  size_t count;
  size_t all_count;       /* count, and the ones that clm__dataset_drop_faulty took out */
  size_t train_count;     /* samples[0..train_count) train, the rest validates */
  size_t ignored_entries; /* dot files and folders, and files without an image's ending */
} clm__dataset;

/* Lists the folder and splits. Files are listed and split as Keras does, bad ones included; dot
 * files and folders are left out before. A link that leads back to a folder above it is not walked.
 * Errors: USAGE (the split), NO_INPUT (no such folder), BAD_DATA (no class folders, no images: the
 * message shows what layout is wanted and what was found). */
CLM_MUST_CHECK clm_status clm__dataset_open(const clm__dataset_config *config,
                                            clm__dataset **dataset);
void clm__dataset_close(clm__dataset *dataset);

typedef struct clm__dataset_check_config {
  int threads;        /* 0: one a processor */
  bool strict;        /* the first bad file is an error (BAD_DATA) instead of being left out */
  const clm_log *log; /* one warning a bad file, for the first of them */
  /* Called now and then from the calling thread with the number of files checked; may be NULL. */
  void (*progress)(void *user, size_t done, size_t count);
  void *progress_user;
} clm__dataset_check_config;

/* Decodes every file once (JPEGs small, which finds the same faults in less time), fills `fault` of
 * the bad ones (the result is the same for any number of threads), and moves nothing. Errors:
 * BAD_DATA (strict and one is bad; no usable image is left; a class that had images loses them
 * all), NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__dataset_check(clm__dataset *dataset,
                                             const clm__dataset_check_config *config);

/* The two halves of clm__dataset_check, for ranks that share the work: decodes samples part,
 * part + parts, ... (with `strict` up to its first bad one), and judges what all parts found. A
 * file that part 0 listed and another part cannot open is an error (NO_INPUT): the folders differ.
 */
CLM_MUST_CHECK clm_status clm__dataset_check_part(clm__dataset *dataset,
                                                  const clm__dataset_check_config *config,
                                                  size_t part, size_t parts);
CLM_MUST_CHECK clm_status clm__dataset_judge(const clm__dataset *dataset, bool strict,
                                             const clm_log *log);

/* Takes the faulty samples out of their subset, keeping order; train_count and count shrink. The
 * ones taken out stay readable in samples[count..all_count), sorted by path. */
void clm__dataset_drop_faulty(clm__dataset *dataset, size_t *all_count);

typedef struct clm__class_counts {
  size_t train;
  size_t validation;
} clm__class_counts;
/* Usable samples per class into counts[class_count]. */
void clm__dataset_count_classes(const clm__dataset *dataset, clm__class_counts *counts);

/* The list as bytes for another rank: all but the folder. Taken by the caller (clm__mem_free).
 * Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__dataset_pack(const clm__dataset *dataset, char **bytes,
                                            size_t *size_bytes);
/* Makes a dataset of packed bytes for the same images in `folder`. Trusts nothing in them: no path
 * leads out of the folder. Errors: BAD_DATA, NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__dataset_unpack(const void *bytes, size_t size_bytes,
                                              const char *folder, clm__dataset **dataset);

/* A digest of class names, paths and labels in order: equal lists, equal digests. */
uint64_t clm__dataset_digest(const clm__dataset *dataset);

#endif
