#include "data/image.h"

#include "base/mem.h"

#include <stdbool.h>
#include <string.h>

clm_status clm__image_prepare(clm__image *image, int height, int width, int channels)
{
  CLM_ASSERT(height > 0 && width > 0 && channels > 0);
  const uint64_t pixel_count = (uint64_t)height * (uint64_t)width;
  if (pixel_count > (CLM__IMAGE_LIMIT_BYTES - 1) / (uint64_t)channels) {
    clm__image_fini(image);
    CLM_FAIL(CLM_BAD_DATA, "too large: %d x %d pixels of %d bytes", width, height, channels);
  }
  const size_t size_bytes = (size_t)pixel_count * (size_t)channels;
  if (size_bytes > image->capacity_bytes) {
    /* What is in the old block is not needed, and growing would copy it. */
    clm__image_fini(image);
    CLM_TRY(clm__mem_resize(size_bytes, 1, &image->pixels));
    image->capacity_bytes = size_bytes;
  }
  image->height = height;
  image->width = width;
  image->channels = channels;
  return CLM_OK;
}

clm_status clm__image_set_upright(clm__image *image, int orientation)
{
  if (orientation <= 1 || orientation > 8) return CLM_OK;
  const bool swaps_axes = orientation >= 5;
  const bool from_bottom =
      orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  const bool from_right =
      orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  clm__image turned = {0};
  const int height = swaps_axes ? image->width : image->height;
  const int width = swaps_axes ? image->height : image->width;
  CLM_TRY(clm__image_prepare(&turned, height, width, image->channels));
  const size_t channels = (size_t)image->channels;
  uint8_t *target = turned.pixels;
  for (int y = 0; y < height; y++) {
    for (int x = 0; x < width; x++, target += channels) {
      int row = swaps_axes ? x : y;
      int column = swaps_axes ? y : x;
      if (from_bottom) row = image->height - 1 - row;
      if (from_right) column = image->width - 1 - column;
      const size_t pixel = (size_t)row * (size_t)image->width + (size_t)column;
      memcpy(target, image->pixels + pixel * channels, channels);
    }
  }
  clm__image_fini(image);
  *image = turned;
  return CLM_OK;
}

void clm__image_fini(clm__image *image)
{
  clm__mem_free(image->pixels);
  *image = (clm__image){0};
}
