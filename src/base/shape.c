#include "base/shape.h"

#include "base/error.h"
#include "base/num.h"

#include <stdint.h>
#include <stdio.h>

size_t clm__shape_elements(const clm__shape *shape)
{
  CLM_ASSERT(shape->rank <= CLM__RANK_MAX);
  size_t count = 1;
  for (int i = 0; i < shape->rank; i++)
    if (!clm__multiply_size(count, (size_t)shape->dims[i], &count)) return SIZE_MAX;
  return count;
}

bool clm__shape_equal(const clm__shape *a, const clm__shape *b)
{
  if (a->rank != b->rank) return false;
  for (int i = 0; i < a->rank; i++)
    if (a->dims[i] != b->dims[i]) return false;
  return true;
}

char *clm__shape_text(const clm__shape *shape, char text[CLM__SHAPE_TEXT_SIZE])
{
  int length = shape->rank > 0 ? 0 : snprintf(text, CLM__SHAPE_TEXT_SIZE, "scalar");
  for (int i = 0; i < shape->rank; i++)
    length += snprintf(text + length, CLM__SHAPE_TEXT_SIZE - (size_t)length, i > 0 ? "x%d" : "%d",
                       shape->dims[i]);
  return text;
}
