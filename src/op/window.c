#include "op/window.h"

#include <limits.h>
#include <stdint.h>

clm_status clm__window_resolve(int size, int kernel, int stride, int dilation, bool same,
                               int *output, int *pad_before)
{
  CLM_REQUIRE(size >= 1 && kernel >= 1 && stride >= 1 && dilation >= 1, CLM_BAD_DATA,
              "a window needs positive numbers: size %d, window %d, stride %d, dilation %d", size,
              kernel, stride, dilation);
  const int64_t reach = ((int64_t)kernel - 1) * dilation + 1;
  CLM_REQUIRE(reach <= INT_MAX / 2 && size <= INT_MAX / 2 && stride <= INT_MAX / 2, CLM_BAD_DATA,
              "a window of %d with dilation %d and stride %d over %d elements is too large", kernel,
              dilation, stride, size);
  if (!same) {
    CLM_REQUIRE(reach <= size, CLM_BAD_DATA,
                "a window of %lld elements does not fit in %d; use padding \"same\", a smaller "
                "window or a larger input",
                (long long)reach, size);
    *output = (size - (int)reach) / stride + 1;
    *pad_before = 0;
    return CLM_OK;
  }
  const int windows = (size - 1) / stride + 1;
  const int64_t total = (int64_t)(windows - 1) * stride + reach - size;
  *output = windows;
  *pad_before = total > 0 ? (int)(total / 2) : 0;
  return CLM_OK;
}
