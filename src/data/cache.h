/* Resized pictures in memory, so that they are decoded only once. */
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

/* Room for `count` pictures; the system gives the memory only as it is filled. `overshoots`: values
 * may leave 0..255 as bicubic ones do; CLM__CACHE_FIXED then keeps 1/128 grey level of -128..383.
 * Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__cache_create(clm__cache_kind kind, size_t count, size_t values_each,
                                            bool overshoots, clm__cache **cache);
void clm__cache_destroy(clm__cache *cache);

/* Bytes of the pictures held now. Threads: any. */
uint64_t clm__cache_bytes_held(const clm__cache *cache);

/* Copies picture `index` into values; false where it is not held yet. Threads: any. */
bool clm__cache_get(const clm__cache *cache, size_t index, float *values);

/* Keeps picture `index`, and rounds `values` to what clm__cache_get will give, so that a picture
 * has the same pixels in every epoch and after a resume. Threads: any. */
void clm__cache_put(clm__cache *cache, size_t index, float *values);

#endif
