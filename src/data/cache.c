#include "data/cache.h"

#include "base/mem.h"
#include "base/num.h"

#include <stdatomic.h>
#include <string.h>

enum { ENTRY_EMPTY, ENTRY_BEING_WRITTEN, ENTRY_HELD };

struct clm__cache {
  clm__cache_kind kind;
  size_t values_each;
  atomic_uint_fast64_t held_count;
  float scale;          /* of fixed point: stored = value * scale + offset */
  float offset;         /* in stored units */
  atomic_uchar *states; /* [count] ENTRY_... */
  char *values;         /* [count,values_each] of 2 or 4 bytes */
};

static size_t value_bytes(clm__cache_kind kind)
{
  return kind == CLM__CACHE_FIXED ? sizeof(uint16_t) : sizeof(float);
}

uint64_t clm__cache_bound(clm__cache_kind kind, size_t count, size_t values_each)
{
  if (kind == CLM__CACHE_OFF) return 0;
  size_t bytes = 0;
  if (!clm__multiply_size(values_each, value_bytes(kind), &bytes) ||
      !clm__multiply_size(bytes, count, &bytes))
    return UINT64_MAX;
  return bytes;
}

clm_status clm__cache_create(clm__cache_kind kind, size_t count, size_t values_each,
                             bool overshoots, clm__cache **cache)
{
  CLM_ASSERT(kind != CLM__CACHE_OFF);
  clm__cache *made = NULL;
  CLM_TRY(clm__mem_alloc(1, sizeof *made, &made));
  made->kind = kind;
  made->values_each = values_each;
  made->scale = overshoots ? 128.0F : 256.0F;
  made->offset = overshoots ? 128.0F * 128.0F : 0.0F;
  clm_status status = clm__mem_alloc(count, sizeof *made->states, &made->states);
  if (status == CLM_OK)
    status = clm__mem_alloc(count, values_each * value_bytes(kind), &made->values);
  if (status != CLM_OK) {
    clm__cache_destroy(made);
    return clm__error_pass(status, __FILE__, __LINE__, __func__);
  }
  *cache = made;
  return CLM_OK;
}

void clm__cache_destroy(clm__cache *cache)
{
  if (cache == NULL) return;
  clm__mem_free(cache->states);
  clm__mem_free(cache->values);
  clm__mem_free(cache);
}

static void *entry(const clm__cache *cache, size_t index)
{
  return cache->values + index * cache->values_each * value_bytes(cache->kind);
}

/* Plain loops over separate arrays, so that the compiler uses vectors. */
static void to_fixed(const clm__cache *cache, const float *restrict values,
                     uint16_t *restrict fixed, size_t count)
{
  const float scale = cache->scale;
  const float offset = cache->offset + 0.5F;
  for (size_t i = 0; i < count; i++) {
    const float exact = values[i] * scale + offset;
    const float low = exact > 0.0F ? exact : 0.0F;
    fixed[i] = (uint16_t)(int32_t)(low < 65535.0F ? low : 65535.0F);
  }
}

static void from_fixed(const clm__cache *cache, const uint16_t *restrict fixed,
                       float *restrict values, size_t count)
{
  const float step = 1.0F / cache->scale;
  const float offset = cache->offset;
  for (size_t i = 0; i < count; i++) values[i] = ((float)fixed[i] - offset) * step;
}

uint64_t clm__cache_bytes_held(const clm__cache *cache)
{
  return atomic_load(&cache->held_count) * clm__cache_bound(cache->kind, 1, cache->values_each);
}

bool clm__cache_get(const clm__cache *cache, size_t index, float *values)
{
  if (atomic_load_explicit(&cache->states[index], memory_order_acquire) != ENTRY_HELD) return false;
  if (cache->kind == CLM__CACHE_F32) {
    memcpy(values, entry(cache, index), cache->values_each * sizeof *values);
    return true;
  }
  from_fixed(cache, entry(cache, index), values, cache->values_each);
  return true;
}

/* One picture may be in two batches at the same time: only one of the threads writes it. */
static bool claim(clm__cache *cache, size_t index)
{
  unsigned char expected = ENTRY_EMPTY;
  return atomic_compare_exchange_strong(&cache->states[index], &expected, ENTRY_BEING_WRITTEN);
}

#define ROUND_AT_ONCE 1024 /* values */

/* Rounds values as keeping them would. */
static void round_values(const clm__cache *cache, float *values)
{
  uint16_t fixed[ROUND_AT_ONCE];
  for (size_t i = 0; i < cache->values_each; i += ROUND_AT_ONCE) {
    const size_t count = clm__min_size(cache->values_each - i, ROUND_AT_ONCE);
    to_fixed(cache, values + i, fixed, count);
    from_fixed(cache, fixed, values + i, count);
  }
}

void clm__cache_put(clm__cache *cache, size_t index, float *values)
{
  if (!claim(cache, index)) {
    if (cache->kind != CLM__CACHE_F32) round_values(cache, values);
    return;
  }
  void *stored = entry(cache, index);
  if (cache->kind == CLM__CACHE_F32) {
    memcpy(stored, values, cache->values_each * sizeof *values);
  } else {
    to_fixed(cache, values, stored, cache->values_each);
    from_fixed(cache, stored, values, cache->values_each);
  }
  atomic_fetch_add(&cache->held_count, 1);
  atomic_store_explicit(&cache->states[index], ENTRY_HELD, memory_order_release);
}
