#include "ref/ref.h"

static size_t count_pixels(const clm__shape *input)
{
  return (size_t)input->dims[0] * (size_t)input->dims[1];
}

void clm__ref_global_average_pooling2d_forward(const clm__ref_call *call)
{
  const clm__shape *input = &call->problem->inputs[0];
  const size_t pixels = count_pixels(input);
  const size_t channels = (size_t)input->dims[2];
  for (size_t y = 0; y < (size_t)call->batch * channels; y++) {
    const double *x = call->x[0] + y / channels * pixels * channels + y % channels;
    double sum = 0.0;
    for (size_t i = 0; i < pixels; i++) sum += x[i * channels];
    call->y[y] = sum / (double)pixels;
  }
}

void clm__ref_global_average_pooling2d_backward(const clm__ref_call *call)
{
  const clm__shape *input = &call->problem->inputs[0];
  const size_t pixels = count_pixels(input);
  const size_t channels = (size_t)input->dims[2];
  for (size_t y = 0; y < (size_t)call->batch * channels; y++) {
    double *dx = call->dx[0] + y / channels * pixels * channels + y % channels;
    for (size_t i = 0; i < pixels; i++) dx[i * channels] = call->dy[y] / (double)pixels;
  }
}

const clm__ref_trial clm__ref_global_average_pooling2d_trials[] = {
    {.classes = {"GlobalAveragePooling2D"}, .configs = {"{}"}, .inputs = {{3, {7, 5, 9}}}},
    {.classes = {NULL}},
};
