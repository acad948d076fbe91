#include "ref/ref.h"

#include <math.h>
#include <string.h>

/* What an output row or column reads. Places are float32 by definition, as in TensorFlow. */
typedef struct taps {
  int low, high;
  double share; /* of the second */
} taps;

static taps find_taps(int out, int in_size, int out_size, bool nearest)
{
  const float scale = (float)in_size / (float)out_size;
  if (nearest) {
    const int index = (int)fminf(floorf(((float)out + 0.5F) * scale), (float)(in_size - 1));
    return (taps){index, index, 0.0};
  }
  const float place = ((float)out + 0.5F) * scale - 0.5F;
  const float below = floorf(place);
  return (taps){(int)fmaxf(below, 0.0F), (int)fminf(ceilf(place), (float)(in_size - 1)),
                (double)(place - below)};
}

/* The part of an axis that is resized. */
static void find_part(const clm__ref_call *call, int axis, int *start, int *size)
{
  const int in[2] = {call->problem->inputs[0].dims[0], call->problem->inputs[0].dims[1]};
  const int out[2] = {clm__ref_int(call->problem, "height"), clm__ref_int(call->problem, "width")};
  *start = 0;
  *size = in[axis];
  if (!clm__ref_bool(call->problem, "crop_to_aspect_ratio")) return;
  const int wanted = in[1 - axis] * out[axis] / out[1 - axis];
  *size = wanted > in[axis] ? in[axis] : wanted < 1 ? 1 : wanted;
  *start = (in[axis] - *size) / 2;
}

/* Calls `visit` for each of the four reads of an output element with its weight. */
static void for_each_read(const clm__ref_call *call,
                          void (*visit)(const clm__ref_call *, size_t out, size_t in,
                                        double weight))
{
  const clm__shape *in = &call->problem->inputs[0], *out = &call->problem->spec.output;
  const bool nearest = clm__ref_int(call->problem, "interpolation") == 1;
  const size_t columns = (size_t)out->dims[1], channels = (size_t)out->dims[2];
  const size_t count = clm__shape_elements(out) * (size_t)call->batch;
  int top = 0, left = 0, part_rows = 0, part_columns = 0;
  find_part(call, 0, &top, &part_rows);
  find_part(call, 1, &left, &part_columns);
  for (size_t i = 0; i < count; i++) {
    const size_t line = i / channels / columns, n = line / (size_t)out->dims[0];
    const taps r = find_taps((int)(line % (size_t)out->dims[0]), part_rows, out->dims[0], nearest);
    const taps c = find_taps((int)(i / channels % columns), part_columns, out->dims[1], nearest);
    for (int k = 0; k < 4; k++) {
      const size_t row = n * (size_t)in->dims[0] + (size_t)(top + (k < 2 ? r.low : r.high));
      const size_t column = (size_t)(left + (k % 2 == 0 ? c.low : c.high));
      const double weight =
          (k < 2 ? 1.0 - r.share : r.share) * (k % 2 == 0 ? 1.0 - c.share : c.share);
      visit(call, i, (row * (size_t)in->dims[1] + column) * channels + i % channels, weight);
    }
  }
}

static void gather(const clm__ref_call *call, size_t out, size_t in, double weight)
{
  if (weight != 0.0) call->y[out] += weight * call->x[0][in];
}

static void scatter(const clm__ref_call *call, size_t out, size_t in, double weight)
{
  call->dx[0][in] += weight * call->dy[out];
}

void clm__ref_resizing_forward(const clm__ref_call *call)
{
  const size_t count = clm__shape_elements(&call->problem->spec.output) * (size_t)call->batch;
  memset(call->y, 0, count * sizeof *call->y);
  for_each_read(call, gather);
}

void clm__ref_resizing_backward(const clm__ref_call *call)
{
  const size_t count = clm__shape_elements(&call->problem->inputs[0]) * (size_t)call->batch;
  memset(call->dx[0], 0, count * sizeof *call->dx[0]);
  for_each_read(call, scatter);
}

const clm__ref_trial clm__ref_resizing_trials[] = {
    {.classes = {"Resizing"},
     .configs = {"{\"height\": 7, \"width\": 4}"},
     .inputs = {{3, {5, 9, 3}}}},
    {.classes = {"Resizing"},
     .configs = {"{\"height\": 3, \"width\": 11, \"interpolation\": \"nearest\"}"},
     .inputs = {{3, {5, 9, 3}}}},
    {.classes = {NULL}},
};
