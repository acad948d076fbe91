/* Folders of photographs. */
#ifndef CLEMATIS_DATA_H
#define CLEMATIS_DATA_H

#include "clematis/log.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum clm_split {
  CLM_SPLIT_KERAS,     /* one shuffle of all files, the tail validates: Keras' subsets */
  CLM_SPLIT_STRATIFIED /* the same share of every class validates */
} clm_split;

typedef enum clm_interpolation {
  CLM_BILINEAR,
  CLM_NEAREST,
  CLM_BICUBIC,
  CLM_AREA
} clm_interpolation;

typedef enum clm_aspect {
  CLM_ASPECT_STRETCH,
  CLM_ASPECT_CROP, /* crop_to_aspect_ratio=True */
  CLM_ASPECT_PAD   /* pad_to_aspect_ratio=True */
} clm_aspect;

typedef enum clm_cache {
  CLM_CACHE_FIXED, /* 2 bytes a value: 1/256 of a grey level */
  CLM_CACHE_F32,   /* exact, 4 bytes a value */
  CLM_CACHE_OFF,
  CLM_CACHE_DISK /* as CLM_CACHE_FIXED, all of it in a temporary file */
} clm_cache;

/* How a folder becomes images. Begin with clm_data_config_default(). */
typedef struct clm_data_config {
  const char *folder;      /* one folder a class in it */
  double validation_split; /* 0.2 */
  uint32_t seed;           /* 123: of the shuffle before the split */
  int shuffle;             /* 1 */
  int follow_links;        /* 0 */
  clm_split split;
  clm_interpolation interpolation;
  clm_aspect aspect;
  int apply_exif;          /* 0, as Keras */
  int blend_alpha;         /* 0: alpha is dropped, as Keras does */
  int strict;              /* 1: a bad file is an error */
  int threads;             /* 0: one a processor */
  clm_cache cache;
  uint64_t cache_limit_bytes; /* most memory of the cache; what is beyond goes to a temporary file.
                                 0: 256 MiB, and half of the free memory where there is no file */
  const char *cache_folder;   /* of that file; NULL: $TMPDIR, else /var/tmp, if it is on a disk */
} clm_data_config;

/* Keras' defaults. */
CLM_API clm_data_config clm_data_config_default(void);

typedef struct clm_class_count {
  const char *name;
  size_t train;
  size_t validation;
} clm_class_count;

typedef struct clm_bad_file {
  const char *path; /* relative to the folder */
  const char *class_name;
  const char *reason;
} clm_bad_file;

/* What a folder holds. */
typedef struct clm_data_report {
  const clm_class_count *classes;
  size_t class_count;
  size_t train_count;
  size_t validation_count;
  const clm_bad_file *bad_files; /* left out of the counts */
  size_t bad_count;
  size_t ignored_entries;        /* hidden ones, and files without an image's ending */
} clm_data_report;

/* Lists and decodes every file. progress is called now and then; may be NULL. *report is taken by
 * the caller: clm_data_report_free. Errors: NO_INPUT, BAD_DATA (also: strict and a bad file). */
CLM_API CLM_MUST_CHECK clm_status clm_data_check(const clm_data_config *config, const clm_log *log,
                                                 void (*progress)(void *user, size_t done,
                                                                  size_t count),
                                                 void *user, clm_data_report **report);
/* Frees a report; takes NULL. */
CLM_API void clm_data_report_free(clm_data_report *report);

/* Draws a small data set: five folders of flowers, each `images_per_class` PNG files of varied
 * size, colour, place and background. A function of seed alone. The folder is made; existing files
 * of the same names are overwritten. Errors: IO, USAGE (images_per_class < 1). */
CLM_API CLM_MUST_CHECK clm_status clm_sample_draw(const char *folder, int images_per_class,
                                                  uint64_t seed);

#ifdef __cplusplus
}
#endif
#endif
