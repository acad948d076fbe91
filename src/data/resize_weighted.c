/* Bicubic (tensorflow/core/kernels/image/resize_bicubic_op.cc) and area (resize_area_op.cc) as one
 * method: every target row is a weighted sum of source rows, every target pixel a weighted sum of
 * pixels of that row. */
#include "data/resample.h"

#include "base/num.h"

#include <math.h>
#include <string.h>

/* What the pixels of one axis are made of: target pixel i of the source pixels first[i] ..
 * first[i] + count[i] with weights[i * most ...]. */
typedef struct axis {
  int source;
  int target;
  size_t most;
  int *first;
  int *count;
  float *weights;
} axis;

static size_t axis_most(int source, int target, clm__interpolation interpolation)
{
  if (interpolation == CLM__BICUBIC) return 4;
  return (size_t)ceilf(clm__resample_scale(source, target)) + 2;
}

static size_t axis_bytes(const axis *table)
{
  return (size_t)table->target * (2 * sizeof(int) + table->most * sizeof(float));
}

/* Keys' cubic with a = -1/2 at a distance in 1/1024 pixels. */
static float cubic(long step)
{
  const double a = -0.5;
  const double x = (double)step / 1024.0;
  if (x <= 1.0) return (float)(((a + 2.0) * x - (a + 3.0)) * x * x + 1.0);
  return (float)(((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a);
}

/* Pixels outside the picture have no weight; the others share it. */
static void fill_bicubic(axis *table)
{
  const float scale = clm__resample_scale(table->source, table->target);
  for (int i = 0; i < table->target; i++) {
    const float place = ((float)i + 0.5F) * scale - 0.5F;
    const int middle = (int)floorf(place);
    const long step = lrintf((place - (float)middle) * 1024.0F);
    const float all[4] = {cubic(1024 + step), cubic(step), cubic(1024 - step), cubic(2048 - step)};
    const int first = clm__max_int(middle - 1, 0);
    const int last = clm__min_int(middle + 2, table->source - 1);
    float *weights = table->weights + (size_t)i * table->most;
    float sum = 0.0F;
    for (int k = first; k <= last; k++) {
      weights[k - first] = all[k - (middle - 1)];
      sum += weights[k - first];
    }
    for (int k = first; k <= last; k++) weights[k - first] *= 1.0F / sum;
    table->first[i] = first;
    table->count[i] = last - first + 1;
  }
}

/* The part of source pixel k that lies in [begin, end); source pixels a target pixel are `scale`.
 */
static float covered(int k, float begin, float end, float scale)
{
  const float right = (float)k + 1.0F;
  if ((float)k < begin) return right > end ? scale : right - begin;
  return right > end ? end - (float)k : 1.0F;
}

/* TensorFlow does not renormalise the weights, and neither do we. */
static void fill_area(axis *table)
{
  const float scale = clm__resample_scale(table->source, table->target);
  for (int i = 0; i < table->target; i++) {
    const float begin = (float)i * scale;
    const float end = (float)(i + 1) * scale;
    const int first = clm__min_int((int)floorf(begin), table->source - 1);
    const int stop = clm__min_int((int)ceilf(end), first + (int)table->most);
    float *weights = table->weights + (size_t)i * table->most;
    int count = 0;
    for (int k = first; k < stop; k++) {
      /* A pixel beyond the end, met by rounding, counts as the last one. */
      if (k < table->source) weights[count++] = 0.0F;
      weights[count - 1] += covered(k, begin, end, scale);
    }
    table->first[i] = first;
    table->count[i] = count;
  }
}

static char *place_axis(axis *table, char *block, clm__interpolation interpolation)
{
  table->weights = (float *)block;
  table->first = (int *)(table->weights + (size_t)table->target * table->most);
  table->count = table->first + table->target;
  if (interpolation == CLM__BICUBIC)
    fill_bicubic(table);
  else
    fill_area(table);
  return block + axis_bytes(table);
}

static void sum_rows(const clm__resample *job, const axis *rows, int y, float *restrict line)
{
  const size_t count = (size_t)job->x_width * (size_t)job->channels;
  const float *weights = rows->weights + (size_t)y * rows->most;
  memset(line, 0, count * sizeof *line);
  for (int k = 0; k < rows->count[y]; k++) {
    const uint8_t *x = job->x + (size_t)(rows->first[y] + k) * job->x_stride;
    const float weight = weights[k];
    for (size_t i = 0; i < count; i++) line[i] += (float)x[i] * weight;
  }
}

static void sum_columns(const clm__resample *job, const axis *columns, const float *line, float *y)
{
  const int channels = job->channels;
  for (int i = 0; i < job->y_width; i++, y += channels) {
    const float *weights = columns->weights + (size_t)i * columns->most;
    const float *x = line + (size_t)columns->first[i] * (size_t)channels;
    for (int c = 0; c < channels; c++) y[c] = 0.0F;
    for (int k = 0; k < columns->count[i]; k++, x += channels)
      for (int c = 0; c < channels; c++) y[c] += x[c] * weights[k];
  }
}

clm_status clm__resample_weighted(const clm__resample *job, clm__interpolation interpolation,
                                  clm__resize_scratch *scratch)
{
  axis rows = {.source = job->x_height,
               .target = job->y_height,
               .most = axis_most(job->x_height, job->y_height, interpolation)};
  axis columns = {.source = job->x_width,
                  .target = job->y_width,
                  .most = axis_most(job->x_width, job->y_width, interpolation)};
  const size_t line_bytes = (size_t)job->x_width * (size_t)job->channels * sizeof(float);
  char *block = NULL;
  CLM_TRY(clm__resize_scratch_reserve(
      scratch, line_bytes + axis_bytes(&rows) + axis_bytes(&columns), &block));
  float *line = (float *)block;
  block = place_axis(&rows, block + line_bytes, interpolation);
  (void)place_axis(&columns, block, interpolation);
  /* An area is a mean: its weights sum to the pixels that it covers. */
  const float scale = interpolation == CLM__AREA
                          ? 1.0F / (clm__resample_scale(job->x_height, job->y_height) *
                                    clm__resample_scale(job->x_width, job->y_width))
                          : 1.0F;
  for (int y = 0; y < job->y_height; y++) {
    float *target = job->y + (size_t)y * job->y_stride;
    sum_rows(job, &rows, y, line);
    sum_columns(job, &columns, line, target);
    const size_t count = (size_t)job->y_width * (size_t)job->channels;
    for (size_t i = 0; i < count; i++) target[i] *= scale;
  }
  return CLM_OK;
}
