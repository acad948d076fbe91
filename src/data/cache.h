/* Resized pictures in memory, and beyond that in a file, so that they are decoded only once. What
 * the file holds the system keeps in memory that it can take back at any time. */
#ifndef CLM_DATA_CACHE_H
#define CLM_DATA_CACHE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum clm__cache_kind {
  CLM__CACHE_OFF,
  CLM__CACHE_FIXED, /* 1/256 grey level, 2 bytes a value */
  CLM__CACHE_F32    /* exact, 4 bytes a value */
} clm__cache_kind;

typedef struct clm__cache clm__cache;

/* Most bytes that a cache of `count` pictures takes. */
uint64_t clm__cache_bound(clm__cache_kind kind, size_t count, size_t values_each);

typedef struct clm__cache_config {
  clm__cache_kind kind;
  size_t count; /* pictures */
  size_t values_each;
  bool overshoots; /* values may leave 0..255 as bicubic ones do; CLM__CACHE_FIXED then keeps 1/128
                      grey level of -128..383 */
  size_t memory_count; /* so many pictures, the first ones, are kept in memory */
  const char *folder;  /* the others in a file without a name there; borrowed for the call */
} clm__cache_config;

/* Room for the pictures; the system gives the memory only as it is filled. Errors: NO_MEMORY, IO
 * (the file). */
CLM_MUST_CHECK clm_status clm__cache_create(const clm__cache_config *config, clm__cache **cache);
void clm__cache_destroy(clm__cache *cache);

/* Bytes of the pictures held now. Threads: any. */
uint64_t clm__cache_bytes_held(const clm__cache *cache);

/* Copies picture `index` into values; false where it is not held yet, or cannot be read back.
 * Threads: any. */
bool clm__cache_get(const clm__cache *cache, size_t index, float *values);

/* Keeps picture `index`, and rounds `values` to what clm__cache_get will give, so that a picture
 * has the same pixels in every epoch and after a resume. One that cannot be written is not kept,
 * and nothing is written any more. Threads: any. */
void clm__cache_put(clm__cache *cache, size_t index, float *values);

#endif
