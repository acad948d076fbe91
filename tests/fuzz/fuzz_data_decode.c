/* Any bytes as a picture file: decoded with several options and resized, without a fault. */
#include "data/decode.h"
#include "data/resize.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes);

/* Pictures above this are refused, so that a round takes milliseconds. */
#define LIMIT_BYTES ((size_t)1 << 22)
#define SIDE 8

static void resize_every_way(const clm__image *image)
{
  static float y[SIDE * SIDE * 4];
  for (int i = 0; i <= CLM__AREA; i++)
    for (int aspect = 0; aspect <= CLM__ASPECT_PAD; aspect++) {
      const clm__resize_config config = {.height = SIDE,
                                         .width = SIDE,
                                         .interpolation = (clm__interpolation)i,
                                         .aspect = (clm__aspect)aspect};
      if (clm__resize(image, &config, y) != CLM_OK) continue;
      for (int k = 0; k < SIDE * SIDE * image->channels; k++)
        if (!(fabsf(y[k]) < 512.0F)) abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes)
{
  static const clm__decode_options options[] = {
      {.channels = 3, .limit_bytes = LIMIT_BYTES},
      {.channels = 1, .limit_bytes = LIMIT_BYTES, .apply_exif = true},
      {.channels = 4, .limit_bytes = LIMIT_BYTES, .least_height = 1, .least_width = 1},
      {.channels = 3, .limit_bytes = LIMIT_BYTES, .apply_exif = true, .blend_alpha = true},
  };
  clm__image image = {0};
  for (size_t i = 0; i < sizeof options / sizeof *options; i++)
    if (clm__decode(bytes, size_bytes, &options[i], &image) == CLM_OK) resize_every_way(&image);
  clm__image_fini(&image);
  return 0;
}
