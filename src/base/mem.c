#include "base/mem.h"

#include "base/testswitch.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Counters are the library's only process-wide state beside the error record: they must see every
 * allocation of every object. */
static atomic_uint_fast64_t allocation_count;
static atomic_uint_fast64_t live_count;

static clm_status count_allocation(size_t size_bytes)
{
  const uint64_t index = atomic_fetch_add(&allocation_count, 1) + 1;
  CLM_REQUIRE(index != clm__testswitch_number("CLEMATIS_TEST_FAIL_ALLOC", 0), CLM_NO_MEMORY,
              "out of memory: %zu bytes were refused (by CLEMATIS_TEST_FAIL_ALLOC)", size_bytes);
  return CLM_OK;
}

static clm_status checked_size(size_t count, size_t size_bytes, size_t *total_bytes)
{
  size_t total = 0;
  CLM_REQUIRE(!__builtin_mul_overflow(count, size_bytes, &total), CLM_NO_MEMORY,
              "out of memory: %zu items of %zu bytes are more than can be addressed", count,
              size_bytes);
  *total_bytes = total > 0 ? total : 1;
  return CLM_OK;
}

clm_status clm__mem_alloc(size_t count, size_t size_bytes, void *result)
{
  size_t total = 0;
  CLM_TRY(checked_size(count, size_bytes, &total));
  CLM_TRY(count_allocation(total));
  void *block = calloc(1, total);
  CLM_REQUIRE(block != NULL, CLM_NO_MEMORY, "out of memory: %zu bytes were refused", total);
  atomic_fetch_add(&live_count, 1);
  *(void **)result = block;
  return CLM_OK;
}

clm_status clm__mem_resize(size_t count, size_t size_bytes, void *block)
{
  size_t total = 0;
  CLM_TRY(checked_size(count, size_bytes, &total));
  CLM_TRY(count_allocation(total));
  void *old = *(void **)block;
  void *grown = realloc(old, total);
  CLM_REQUIRE(grown != NULL, CLM_NO_MEMORY, "out of memory: %zu bytes were refused", total);
  if (old == NULL) atomic_fetch_add(&live_count, 1);
  *(void **)block = grown;
  return CLM_OK;
}

clm_status clm__mem_alloc_aligned(size_t size_bytes, void *result)
{
  const size_t alignment = 64;
  CLM_REQUIRE(size_bytes <= SIZE_MAX - alignment, CLM_NO_MEMORY,
              "out of memory: %zu bytes are more than can be addressed", size_bytes);
  const size_t total = (size_bytes + alignment) / alignment * alignment;
  CLM_TRY(count_allocation(total));
  void *block = aligned_alloc(alignment, total);
  CLM_REQUIRE(block != NULL, CLM_NO_MEMORY, "out of memory: %zu bytes were refused", total);
  memset(block, 0, total);
  atomic_fetch_add(&live_count, 1);
  *(void **)result = block;
  return CLM_OK;
}

clm_status clm__mem_copy_text(const char *text, char **result)
{
  const size_t size = strlen(text) + 1;
  char *copy = NULL;
  CLM_TRY(clm__mem_alloc(size, 1, &copy));
  memcpy(copy, text, size);
  *result = copy;
  return CLM_OK;
}

void clm__mem_free(void *block)
{
  if (block == NULL) return;
  atomic_fetch_sub(&live_count, 1);
  free(block);
}

clm__mem_counts clm__mem_get_counts(void)
{
  return (clm__mem_counts){.allocations = atomic_load(&allocation_count),
                           .blocks_live = atomic_load(&live_count)};
}
