#include "ref/ref.h"

#include <math.h>

static size_t count_pixels(const clm__shape *input)
{
  return (size_t)input->dims[0] * (size_t)input->dims[1];
}

void clm__ref_global_max_pooling2d_forward(const clm__ref_call *call)
{
  const clm__shape *input = &call->problem->inputs[0];
  const size_t pixels = count_pixels(input);
  const size_t channels = (size_t)input->dims[2];
  for (size_t y = 0; y < (size_t)call->batch * channels; y++) {
    const double *x = call->x[0] + y / channels * pixels * channels + y % channels;
    double best = x[0];
    for (size_t i = 0; i < pixels; i++)
      if (x[i * channels] > best || isnan(x[i * channels])) best = x[i * channels];
    call->y[y] = best;
  }
}

/* Equal maxima share the gradient. */
void clm__ref_global_max_pooling2d_backward(const clm__ref_call *call)
{
  const clm__shape *input = &call->problem->inputs[0];
  const size_t pixels = count_pixels(input);
  const size_t channels = (size_t)input->dims[2];
  for (size_t y = 0; y < (size_t)call->batch * channels; y++) {
    const size_t first = y / channels * pixels * channels + y % channels;
    double count = 0.0;
    for (size_t i = 0; i < pixels; i++)
      count += call->x[0][first + i * channels] == call->y[y] ? 1.0 : 0.0;
    for (size_t i = 0; i < pixels; i++) {
      const size_t at = first + i * channels;
      call->dx[0][at] = call->x[0][at] == call->y[y] ? call->dy[y] / count : 0.0;
    }
  }
}

const clm__ref_trial clm__ref_global_max_pooling2d_trials[] = {
    {.classes = {"GlobalMaxPooling2D"}, .configs = {"{}"}, .inputs = {{3, {7, 5, 9}}}},
    {.classes = {NULL}},
};
