#include "ref/ref.h"

#include <string.h>

/* The output element that input element i goes to. */
static size_t place_of(const clm__ref_call *call, size_t i)
{
  const clm__shape *in = &call->problem->inputs[0], *out = &call->problem->spec.output;
  const int *sides = clm__ref_attribute(call->problem, "padding");
  const size_t channels = (size_t)in->dims[2];
  const size_t column = i / channels % (size_t)in->dims[1] + (size_t)sides[2];
  const size_t line = i / channels / (size_t)in->dims[1];
  const size_t row = line % (size_t)in->dims[0] + (size_t)sides[0];
  const size_t n = line / (size_t)in->dims[0];
  return ((n * (size_t)out->dims[0] + row) * (size_t)out->dims[1] + column) * channels +
         i % channels;
}

void clm__ref_zero_padding2d_forward(const clm__ref_call *call)
{
  const size_t count = clm__shape_elements(&call->problem->inputs[0]) * (size_t)call->batch;
  const size_t written = clm__shape_elements(&call->problem->spec.output) * (size_t)call->batch;
  memset(call->y, 0, written * sizeof *call->y);
  for (size_t i = 0; i < count; i++) call->y[place_of(call, i)] = call->x[0][i];
}

void clm__ref_zero_padding2d_backward(const clm__ref_call *call)
{
  const size_t count = clm__shape_elements(&call->problem->inputs[0]) * (size_t)call->batch;
  for (size_t i = 0; i < count; i++) call->dx[0][i] = call->dy[place_of(call, i)];
}

const clm__ref_trial clm__ref_zero_padding2d_trials[] = {
    {.classes = {"ZeroPadding2D"},
     .configs = {"{\"padding\": [[1, 2], [0, 3]]}"},
     .inputs = {{3, {5, 4, 7}}}},
    {.classes = {NULL}},
};
