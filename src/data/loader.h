/* Samples to host batches: worker threads read, decode and resize ahead; batches are handed over in
 * order. Knows no device. The order of images is the caller's, so that the caller alone decides
 * epochs, shards and replicas. */
#ifndef CLM_DATA_LOADER_H
#define CLM_DATA_LOADER_H

#include "data/cache.h"
#include "data/dataset.h"
#include "data/decode.h"
#include "data/resize.h"
#include "sys/trace.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct clm__loader_config {
  const clm__dataset *dataset; /* borrowed until the loader is destroyed */
  clm__resize_config resize;
  clm__decode_options decode;
  int batch_max; /* most images in one batch */
  int threads;   /* 0: one a processor */
  int slots;     /* batches prepared ahead, at least 2 */
  clm__cache_kind cache;
  uint64_t cache_limit_bytes;  /* most memory of the cache */
  uint64_t cache_memory_bytes; /* at most that; pictures beyond it go to a file, if there can be
                                  one, else to memory within the limit */
  const char *cache_folder;    /* of that file; NULL: none; borrowed for the call */
  bool strict;        /* a file that cannot be read is an error; else it is named and left out */
  const clm_log *log; /* called from the thread that calls the loader */
  /* Where slots live, so that they can be memory a device reads directly. Both NULL: host memory.
   * allocate returns CLM_OK and memory of size_bytes aligned to 64. */
  clm_status (*allocate)(void *user, size_t size_bytes, void **memory);
  void (*release)(void *user, void *memory);
  void *allocate_user;
} clm__loader_config;

/* One batch. All pointers are borrowed until clm__loader_release. */
typedef struct clm__batch {
  const float *pixels;     /* [count,H,W,C], 0..255 */
  const int32_t *labels;   /* [count] */
  const uint32_t *samples; /* [count] index of each image in the dataset */
  int count;               /* images, bad ones left out; may be 0 */
  int planned_count;       /* images the plan named for this batch */
  size_t index;            /* number of this batch in the plan, from 0 */
  int slot;                /* the loader's own */
} clm__batch;

typedef struct clm__loader_stats {
  double wait_seconds; /* the consumer waited in clm__loader_next */
  uint64_t images_decoded;
  uint64_t images_from_cache;
  uint64_t images_skipped;
  uint64_t cache_bytes;       /* held now */
  uint64_t cache_bound_bytes; /* most it will hold; 0 where it streams */
  uint64_t cache_file_bytes;  /* of that, in a file */
} clm__loader_stats;

typedef struct clm__loader clm__loader;

/* Starts the threads, which give way to others. A cache that fits neither its limit nor a file is
 * left off with an INFO message; the bound is told too. Errors: NO_MEMORY, USAGE. */
CLM_MUST_CHECK clm_status clm__loader_create(const clm__loader_config *config,
                                             clm__loader **loader);
void clm__loader_destroy(clm__loader *loader);

/* Lets a trace see when images are loaded and waited for; borrowed until destroyed. Before the
 * first pass. */
void clm__loader_set_trace(clm__loader *loader, clm__trace *trace);

/* Begins a pass: batch b is samples[starts[b] .. starts[b+1]) of `order`, b = 0..batch_count-1
 * (a batch may be empty). The arrays are copied. What was left of an earlier pass is dropped.
 * Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__loader_begin(clm__loader *loader, const uint32_t *order,
                                            const size_t *starts, size_t batch_count);

/* Waits for the next batch of the pass. *batch of a finished pass has count 0 and index ==
 * batch_count. A file that cannot be read is named by one warning, the first time. After an error
 * the pass is over: the same error again until clm__loader_begin. Errors: BAD_DATA, UNSUPPORTED,
 * NO_INPUT, IO (strict and a file went bad), NO_MEMORY, INTERNAL (all slots are held). */
CLM_MUST_CHECK clm_status clm__loader_next(clm__loader *loader, clm__batch *batch);

/* Gives the slot of a batch back; its pixels may be overwritten from now on. Batches may come back
 * in any order, also after the next clm__loader_begin. Threads: any. */
void clm__loader_release(clm__loader *loader, const clm__batch *batch);

/* Sums since the loader was created. */
clm__loader_stats clm__loader_get_stats(const clm__loader *loader);

#endif
