/* Bilinear with half-pixel centres, as tensorflow/core/kernels/image/resize_bilinear_op.cc computes
 * it: along the row first, then between the two rows, in float32 and in this order, so that the
 * bits agree. Rows already stretched are kept while the next target row needs them. */
#include "data/resample.h"

#include "base/num.h"

#include <math.h>
#include <string.h>

typedef struct tap {
  size_t low;
  size_t high;
  float t; /* share of high */
} tap;

typedef struct stretcher {
  const clm__resample *job;
  const tap *taps;   /* [y_width], in bytes from the begin of a row */
  size_t fast_count; /* taps that four bytes can be read at */
  float *rows[2];
  int row_index[2]; /* source row that rows[i] holds; -1: none */
} stretcher;

static tap tap_at(int index, float scale, int limit)
{
  const float place = ((float)index + 0.5F) * scale - 0.5F;
  const float below = floorf(place);
  return (tap){.low = (size_t)clm__min_int(clm__max_int((int)below, 0), limit - 1),
               .high = (size_t)clm__min_int((int)ceilf(place), limit - 1),
               .t = place - below};
}

typedef float float4 __attribute__((vector_size(16)));
typedef int32_t int4 __attribute__((vector_size(16)));

static inline float4 load_pixel(const uint8_t *pixel)
{
  const int4 values = {pixel[0], pixel[1], pixel[2], pixel[3]};
  return __builtin_convertvector(values, float4);
}

/* Pixels of three channels as vectors of four: the fourth value belongs to the next pixel and is
 * overwritten by it. */
static void stretch_colours(const uint8_t *x, const tap *taps, size_t count, float *row)
{
  for (size_t i = 0; i < count; i++) {
    const float4 low = load_pixel(x + taps[i].low);
    const float4 high = load_pixel(x + taps[i].high);
    const float4 value = low + (high - low) * taps[i].t;
    memcpy(row + 3 * i, &value, sizeof value);
  }
}

static void stretch_row(const stretcher *state, int index, float *row)
{
  const clm__resample *job = state->job;
  const size_t channels = (size_t)job->channels;
  const uint8_t *x = job->x + (size_t)index * job->x_stride;
  if (channels == 3) stretch_colours(x, state->taps, state->fast_count, row);
  const size_t done = channels == 3 ? state->fast_count : 0;
  for (size_t i = done; i < (size_t)job->y_width; i++) {
    const tap at = state->taps[i];
    for (size_t c = 0; c < channels; c++) {
      const float low = (float)x[at.low + c];
      const float high = (float)x[at.high + c];
      row[channels * i + c] = low + (high - low) * at.t;
    }
  }
}

/* The stretched form of a source row; `other` is the row that is needed beside it. */
static const float *fetch_row(stretcher *state, size_t wanted, size_t other)
{
  for (int i = 0; i < 2; i++)
    if (state->row_index[i] == (int)wanted) return state->rows[i];
  const int slot = state->row_index[0] == (int)other ? 1 : 0;
  stretch_row(state, (int)wanted, state->rows[slot]);
  state->row_index[slot] = (int)wanted;
  return state->rows[slot];
}

static void mix_rows(const float *top, const float *bottom, float t, size_t count,
                     float *restrict y)
{
  for (size_t i = 0; i < count; i++) y[i] = top[i] + (bottom[i] - top[i]) * t;
}

static void fill_taps(const clm__resample *job, tap *taps, size_t *fast_count)
{
  const float scale = clm__resample_scale(job->x_width, job->y_width);
  const size_t row_bytes = (size_t)job->x_width * (size_t)job->channels;
  *fast_count = 0;
  for (int i = 0; i < job->y_width; i++) {
    taps[i] = tap_at(i, scale, job->x_width);
    taps[i].low *= (size_t)job->channels;
    taps[i].high *= (size_t)job->channels;
    if (taps[i].high + 4 <= row_bytes) *fast_count = (size_t)i + 1;
  }
}

clm_status clm__resample_bilinear(const clm__resample *job, clm__resize_scratch *scratch)
{
  const size_t row_count = (size_t)job->y_width * (size_t)job->channels;
  /* Room for the vector that begins at the last pixel. */
  const size_t row_bytes = clm__round_up((row_count + 4) * sizeof(float), 64);
  char *block = NULL;
  CLM_TRY(clm__resize_scratch_reserve(scratch, 2 * row_bytes + (size_t)job->y_width * sizeof(tap),
                                      &block));
  tap *taps = (tap *)(block + 2 * row_bytes);
  stretcher state = {.job = job,
                     .taps = taps,
                     .rows = {(float *)block, (float *)(block + row_bytes)},
                     .row_index = {-1, -1}};
  fill_taps(job, taps, &state.fast_count);
  const float scale = clm__resample_scale(job->x_height, job->y_height);
  for (int y = 0; y < job->y_height; y++) {
    const tap at = tap_at(y, scale, job->x_height);
    const float *top = fetch_row(&state, at.low, at.high);
    const float *bottom = fetch_row(&state, at.high, at.low);
    mix_rows(top, bottom, at.t, row_count, job->y + (size_t)y * job->y_stride);
  }
  return CLM_OK;
}
