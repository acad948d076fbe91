/* Bilinear with half-pixel centres, as tensorflow/core/kernels/image/resize_bilinear_op.cc computes
 * it: along the row first, then between the two rows, in float32 and in this order, so that the
 * bits agree. Rows already stretched are kept while the next target row needs them. */
#include "data/resample.h"

#include "base/num.h"

#include <math.h>
#include <string.h>

/* Taps of one axis. Along a row low and high count values, between rows they count rows. */
typedef struct tap {
  size_t low;
  size_t high;
  float t; /* share of high */
} tap;

/* Room behind a row for the vector that begins at its last pixel. */
#define ROW_SLACK 4

typedef struct stretcher {
  const clm__resample *job;
  tap *taps;        /* [y_width] */
  float *line;      /* [x_width * channels + ROW_SLACK] a source row as floats */
  float *rows[2];   /* [y_width * channels + ROW_SLACK] */
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

static inline float4 load4(const float *values)
{
  float4 loaded;
  memcpy(&loaded, values, sizeof loaded);
  return loaded;
}

/* Pixels of three or four channels as vectors of four: with three, the fourth value belongs to the
 * next pixel and is overwritten by it. */
static void stretch_colours(const stretcher *state, size_t channels, float *row)
{
  const size_t count = (size_t)state->job->y_width;
  for (size_t i = 0; i < count; i++) {
    const tap *at = &state->taps[i];
    const float4 low = load4(state->line + at->low);
    const float4 high = load4(state->line + at->high);
    const float4 value = low + (high - low) * at->t;
    memcpy(row + channels * i, &value, sizeof value);
  }
}

static void stretch_grey(const stretcher *state, float *row)
{
  const size_t count = (size_t)state->job->y_width;
  for (size_t i = 0; i < count; i++) {
    const tap *at = &state->taps[i];
    const float low = state->line[at->low];
    row[i] = low + (state->line[at->high] - low) * at->t;
  }
}

static void stretch_row(const stretcher *state, int index, float *row)
{
  const clm__resample *job = state->job;
  const size_t count = (size_t)job->x_width * (size_t)job->channels;
  const uint8_t *x = job->x + (size_t)index * job->x_stride;
  float *restrict line = state->line;
  for (size_t i = 0; i < count; i++) line[i] = (float)x[i];
  if (job->channels == 1)
    stretch_grey(state, row);
  else if (job->channels == 3)
    stretch_colours(state, 3, row);
  else
    stretch_colours(state, 4, row);
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

static void fill_taps(const clm__resample *job, tap *taps)
{
  const float scale = clm__resample_scale(job->x_width, job->y_width);
  for (int i = 0; i < job->y_width; i++) {
    taps[i] = tap_at(i, scale, job->x_width);
    taps[i].low *= (size_t)job->channels;
    taps[i].high *= (size_t)job->channels;
  }
}

static clm_status place(stretcher *state, clm__resize_scratch *scratch)
{
  const clm__resample *job = state->job;
  const size_t channels = (size_t)job->channels;
  const size_t row_count = clm__round_up((size_t)job->y_width * channels + ROW_SLACK, 16);
  const size_t line_count = clm__round_up((size_t)job->x_width * channels + ROW_SLACK, 16);
  const size_t float_count = 2 * row_count + line_count;
  float *block = NULL;
  CLM_TRY(clm__resize_scratch_reserve(
      scratch, float_count * sizeof *block + (size_t)job->y_width * sizeof *state->taps, &block));
  state->rows[0] = block;
  state->rows[1] = block + row_count;
  state->line = block + 2 * row_count;
  state->taps = (tap *)(block + float_count);
  return CLM_OK;
}

clm_status clm__resample_bilinear(const clm__resample *job, clm__resize_scratch *scratch)
{
  CLM_ASSERT(job->channels == 1 || job->channels == 3 || job->channels == 4);
  stretcher state = {.job = job, .row_index = {-1, -1}};
  CLM_TRY(place(&state, scratch));
  fill_taps(job, state.taps);
  const float scale = clm__resample_scale(job->x_height, job->y_height);
  const size_t count = (size_t)job->y_width * (size_t)job->channels;
  for (int y = 0; y < job->y_height; y++) {
    const tap at = tap_at(y, scale, job->x_height);
    const float *top = fetch_row(&state, at.low, at.high);
    const float *bottom = fetch_row(&state, at.high, at.low);
    mix_rows(top, bottom, at.t, count, job->y + (size_t)y * job->y_stride);
  }
  return CLM_OK;
}
