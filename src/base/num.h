/* Small arithmetic that everything needs. */
#ifndef CLM_BASE_NUM_H
#define CLM_BASE_NUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline size_t clm__ceil_div(size_t value, size_t divisor)
{
  return value / divisor + (value % divisor != 0);
}

static inline size_t clm__round_up(size_t value, size_t multiple)
{
  return clm__ceil_div(value, multiple) * multiple;
}

static inline int clm__min_int(int a, int b) { return a < b ? a : b; }
static inline int clm__max_int(int a, int b) { return a > b ? a : b; }
static inline size_t clm__min_size(size_t a, size_t b) { return a < b ? a : b; }
static inline size_t clm__max_size(size_t a, size_t b) { return a > b ? a : b; }

/* a * b into *product; false where it does not fit. */
static inline bool clm__multiply_size(size_t a, size_t b, size_t *product)
{
  return !__builtin_mul_overflow(a, b, product);
}

#endif
