#include "data/cache.h"

#include "base/mem.h"
#include "base/num.h"
#include "sys/scratch.h"

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
  char *values;         /* [memory_count,values_each] of 2 or 4 bytes */
  size_t memory_count;
  clm__scratch *file;  /* the pictures behind those; NULL: there are none */
  atomic_bool is_full; /* a write to the file has failed */
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

static clm_status make_room(clm__cache *cache, const clm__cache_config *config)
{
  const size_t bytes_each = config->values_each * value_bytes(config->kind);
  cache->memory_count = clm__min_size(config->memory_count, config->count);
  CLM_TRY(clm__mem_alloc(config->count, sizeof *cache->states, &cache->states));
  CLM_TRY(clm__mem_alloc(cache->memory_count, bytes_each, &cache->values));
  const size_t rest = config->count - cache->memory_count;
  if (rest == 0) return CLM_OK;
  return clm__scratch_open(config->folder, (uint64_t)rest * bytes_each, &cache->file);
}

clm_status clm__cache_create(const clm__cache_config *config, clm__cache **cache)
{
  CLM_ASSERT(config->kind != CLM__CACHE_OFF);
  clm__cache *made = NULL;
  CLM_TRY(clm__mem_alloc(1, sizeof *made, &made));
  made->kind = config->kind;
  made->values_each = config->values_each;
  made->scale = config->overshoots ? 128.0F : 256.0F;
  made->offset = config->overshoots ? 128.0F * 128.0F : 0.0F;
  const clm_status status = make_room(made, config);
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
  clm__scratch_close(cache->file);
  clm__mem_free(cache->states);
  clm__mem_free(cache->values);
  clm__mem_free(cache);
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

#define PIECE_VALUES 16384 /* that are turned at once: 32 KiB */

static void *entry(const clm__cache *cache, size_t index)
{
  return cache->values + index * cache->values_each * value_bytes(cache->kind);
}

static uint64_t place_of(const clm__cache *cache, size_t index)
{
  const size_t bytes_each = cache->values_each * value_bytes(cache->kind);
  return (uint64_t)(index - cache->memory_count) * bytes_each;
}

/* ---- in memory ---- */

static void get_from_memory(const clm__cache *cache, size_t index, float *values)
{
  if (cache->kind == CLM__CACHE_F32)
    memcpy(values, entry(cache, index), cache->values_each * sizeof *values);
  else
    from_fixed(cache, entry(cache, index), values, cache->values_each);
}

static void put_into_memory(const clm__cache *cache, size_t index, float *values)
{
  void *stored = entry(cache, index);
  if (cache->kind == CLM__CACHE_F32) {
    memcpy(stored, values, cache->values_each * sizeof *values);
    return;
  }
  to_fixed(cache, values, stored, cache->values_each);
  from_fixed(cache, stored, values, cache->values_each);
}

/* ---- in the file ---- */

static clm_status get_from_file(const clm__cache *cache, size_t index, float *values)
{
  uint64_t place = place_of(cache, index);
  if (cache->kind == CLM__CACHE_F32)
    return clm__scratch_read(cache->file, place, values, cache->values_each * sizeof *values);
  uint16_t fixed[PIECE_VALUES];
  for (size_t i = 0; i < cache->values_each; i += PIECE_VALUES) {
    const size_t count = clm__min_size(cache->values_each - i, PIECE_VALUES);
    CLM_TRY(clm__scratch_read(cache->file, place, fixed, count * sizeof *fixed));
    from_fixed(cache, fixed, values + i, count);
    place += count * sizeof *fixed;
  }
  return CLM_OK;
}

/* Rounds all values, also behind a piece that cannot be written; file NULL: rounds alone. */
static clm_status put_into_file(const clm__cache *cache, clm__scratch *file, uint64_t place,
                                float *values)
{
  clm_status status = CLM_OK;
  uint16_t fixed[PIECE_VALUES];
  for (size_t i = 0; i < cache->values_each; i += PIECE_VALUES) {
    const size_t count = clm__min_size(cache->values_each - i, PIECE_VALUES);
    to_fixed(cache, values + i, fixed, count);
    if (file != NULL && status == CLM_OK)
      status = clm__scratch_write(file, place, fixed, count * sizeof *fixed);
    from_fixed(cache, fixed, values + i, count);
    place += count * sizeof *fixed;
  }
  return status;
}

static void round_values(const clm__cache *cache, float *values)
{
  if (cache->kind == CLM__CACHE_F32) return;
  const clm_status status = put_into_file(cache, NULL, 0, values);
  CLM_ASSERT(status == CLM_OK);
}

static bool write_picture(clm__cache *cache, size_t index, float *values)
{
  const uint64_t place = place_of(cache, index);
  const clm_status status =
      cache->kind == CLM__CACHE_F32
          ? clm__scratch_write(cache->file, place, values, cache->values_each * sizeof *values)
          : put_into_file(cache, cache->file, place, values);
  if (status == CLM_OK) return true;
  clm_error_clear();
  atomic_store(&cache->is_full, true);
  return false;
}

/* ---- both ---- */

bool clm__cache_get(const clm__cache *cache, size_t index, float *values)
{
  if (atomic_load_explicit(&cache->states[index], memory_order_acquire) != ENTRY_HELD) return false;
  if (index < cache->memory_count) {
    get_from_memory(cache, index, values);
    return true;
  }
  if (get_from_file(cache, index, values) == CLM_OK) return true;
  clm_error_clear();
  return false;
}

/* One picture may be in two batches at the same time: only one of the threads writes it. */
static bool claim(clm__cache *cache, size_t index)
{
  if (index >= cache->memory_count && atomic_load(&cache->is_full)) return false;
  unsigned char expected = ENTRY_EMPTY;
  return atomic_compare_exchange_strong(&cache->states[index], &expected, ENTRY_BEING_WRITTEN);
}

void clm__cache_put(clm__cache *cache, size_t index, float *values)
{
  if (!claim(cache, index)) {
    round_values(cache, values);
    return;
  }
  if (index < cache->memory_count) {
    put_into_memory(cache, index, values);
  } else if (!write_picture(cache, index, values)) {
    return; /* it stays claimed: nobody reads it, nobody tries again */
  }
  atomic_fetch_add(&cache->held_count, 1);
  atomic_store_explicit(&cache->states[index], ENTRY_HELD, memory_order_release);
}
