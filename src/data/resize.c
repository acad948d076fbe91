#include "data/resize.h"

#include "base/mem.h"
#include "base/num.h"
#include "data/resample.h"

#include <math.h>
#include <string.h>

static const char *const interpolation_names[] = {[CLM__BILINEAR] = "bilinear",
                                                  [CLM__NEAREST] = "nearest",
                                                  [CLM__BICUBIC] = "bicubic",
                                                  [CLM__AREA] = "area"};

clm_status clm__interpolation_parse(const char *name, clm__interpolation *result)
{
  for (size_t i = 0; i < sizeof interpolation_names / sizeof *interpolation_names; i++) {
    if (strcmp(name, interpolation_names[i]) != 0) continue;
    *result = (clm__interpolation)i;
    return CLM_OK;
  }
  CLM_FAIL(CLM_USAGE,
           "there is no interpolation \"%s\"; known are bilinear, nearest, bicubic and area", name);
}

clm_status clm__resize_scratch_reserve(clm__resize_scratch *scratch, size_t size_bytes,
                                       void *result)
{
  if (size_bytes > scratch->capacity_bytes) {
    clm__resize_scratch_fini(scratch);
    CLM_TRY(clm__mem_alloc_aligned(size_bytes, &scratch->block));
    scratch->capacity_bytes = size_bytes;
  }
  *(void **)result = scratch->block;
  return CLM_OK;
}

void clm__resize_scratch_fini(clm__resize_scratch *scratch)
{
  clm__mem_free(scratch->block);
  *scratch = (clm__resize_scratch){0};
}

void clm__resample_nearest(const clm__resample *job)
{
  const float scale_y = clm__resample_scale(job->x_height, job->y_height);
  const float scale_x = clm__resample_scale(job->x_width, job->y_width);
  for (int y = 0; y < job->y_height; y++) {
    const int row = clm__min_int((int)floorf(((float)y + 0.5F) * scale_y), job->x_height - 1);
    const uint8_t *source = job->x + (size_t)row * job->x_stride;
    float *target = job->y + (size_t)y * job->y_stride;
    for (int x = 0; x < job->y_width; x++, target += job->channels) {
      const int column = clm__min_int((int)floorf(((float)x + 0.5F) * scale_x), job->x_width - 1);
      const uint8_t *pixel = source + (size_t)column * (size_t)job->channels;
      for (int c = 0; c < job->channels; c++) target[c] = (float)pixel[c];
    }
  }
}

/* The part of the picture that has the target's aspect ratio (keras.utils.image_utils
 * smart_resize). */
static void crop(clm__resample *job)
{
  const float across = (float)((int64_t)job->x_width * job->y_height);
  const float along = (float)((int64_t)job->x_height * job->y_width);
  const double height = across / (float)job->y_width;
  const double width = along / (float)job->y_height;
  const int crop_height = (int)fmax(1.0, fmin(height, job->x_height));
  const int crop_width = (int)fmax(1.0, fmin(width, job->x_width));
  const size_t row = (size_t)((job->x_height - crop_height) / 2);
  const size_t column = (size_t)((job->x_width - crop_width) / 2);
  job->x += row * job->x_stride + column * (size_t)job->channels;
  job->x_height = crop_height;
  job->x_width = crop_width;
}

/* The part of the target that the whole picture fills; the rest becomes black
 * (tf.image.resize_with_pad, in float32 like there). */
static void pad(clm__resample *job)
{
  memset(job->y, 0, (size_t)job->y_height * job->y_stride * sizeof *job->y);
  const float target_height = (float)job->y_height;
  const float target_width = (float)job->y_width;
  const float ratio =
      fmaxf((float)job->x_height / target_height, (float)job->x_width / target_width);
  const float height = (float)job->x_height / ratio;
  const float width = (float)job->x_width / ratio;
  const int top = clm__max_int((int)floorf((target_height - height) / 2.0F), 0);
  const int left = clm__max_int((int)floorf((target_width - width) / 2.0F), 0);
  const int wanted_height = clm__max_int((int)floorf(height), 1);
  const int wanted_width = clm__max_int((int)floorf(width), 1);
  job->y += (size_t)top * job->y_stride + (size_t)left * (size_t)job->channels;
  job->y_height = clm__min_int(wanted_height, job->y_height - top);
  job->y_width = clm__min_int(wanted_width, job->y_width - left);
}

clm_status clm__resize_with(clm__resize_scratch *scratch, const clm__image *image,
                            const clm__resize_config *config, float *y)
{
  CLM_ASSERT(image->pixels != NULL);
  CLM_ASSERT(config->height > 0 && config->width > 0);
  clm__resample job = {.x = image->pixels,
                       .x_height = image->height,
                       .x_width = image->width,
                       .x_stride = (size_t)image->width * (size_t)image->channels,
                       .channels = image->channels,
                       .y = y,
                       .y_height = config->height,
                       .y_width = config->width,
                       .y_stride = (size_t)config->width * (size_t)image->channels};
  if (config->aspect == CLM__ASPECT_CROP) crop(&job);
  if (config->aspect == CLM__ASPECT_PAD) pad(&job);
  switch (config->interpolation) {
  case CLM__NEAREST:
    clm__resample_nearest(&job);
    return CLM_OK;
  case CLM__BILINEAR:
    CLM_TRY(clm__resample_bilinear(&job, scratch));
    return CLM_OK;
  case CLM__BICUBIC:
  case CLM__AREA:
    break;
  }
  CLM_TRY(clm__resample_weighted(&job, config->interpolation, scratch));
  return CLM_OK;
}

clm_status clm__resize(const clm__image *image, const clm__resize_config *config, float *y)
{
  clm__resize_scratch scratch = {0};
  const clm_status status = clm__resize_with(&scratch, image, config, y);
  clm__resize_scratch_fini(&scratch);
  return status;
}
