#include "ref/ref.h"

/* Finds the input and its element that output element i is. */
static size_t find(const clm__ref_call *call, size_t i, int *input)
{
  const clm__shape *out = &call->problem->spec.output;
  const int keras_axis = clm__ref_int(call->problem, "axis");
  const int axis = keras_axis < 0 ? keras_axis + out->rank : keras_axis - 1;
  size_t inner = 1;
  for (int d = axis + 1; d < out->rank; d++) inner *= (size_t)out->dims[d];
  const size_t outer = i / inner / (size_t)out->dims[axis];
  int place = (int)(i / inner % (size_t)out->dims[axis]);
  int k = 0;
  while (place >= call->problem->inputs[k].dims[axis])
    place -= call->problem->inputs[k++].dims[axis];
  *input = k;
  return (outer * (size_t)call->problem->inputs[k].dims[axis] + (size_t)place) * inner + i % inner;
}

void clm__ref_concatenate_forward(const clm__ref_call *call)
{
  const size_t count = clm__shape_elements(&call->problem->spec.output) * (size_t)call->batch;
  for (size_t i = 0; i < count; i++) {
    int input = 0;
    const size_t from = find(call, i, &input);
    call->y[i] = call->x[input][from];
  }
}

void clm__ref_concatenate_backward(const clm__ref_call *call)
{
  const size_t count = clm__shape_elements(&call->problem->spec.output) * (size_t)call->batch;
  for (size_t i = 0; i < count; i++) {
    int input = 0;
    const size_t to = find(call, i, &input);
    call->dx[input][to] = call->dy[i];
  }
}

const clm__ref_trial clm__ref_concatenate_trials[] = {
    {.classes = {"Concatenate"}, .configs = {"{}"}, .inputs = {{3, {5, 4, 7}}, {3, {5, 4, 2}}}},
    {.classes = {NULL}},
};
