#include "ref/ref.h"

#include <string.h>

/* The element of input k that output element i takes. */
static size_t index_in(const clm__ref_call *call, int k, size_t i)
{
  const clm__shape *in = &call->problem->inputs[k], *out = &call->problem->spec.output;
  size_t index = 0, step = 1;
  for (int d = out->rank - 1; d >= 0; d--) {
    const size_t place = i % (size_t)out->dims[d];
    i /= (size_t)out->dims[d];
    if (in->dims[d] > 1) index += place * step;
    step *= (size_t)in->dims[d];
  }
  return index + i * step;
}

void clm__ref_add_forward(const clm__ref_call *call)
{
  const size_t count = clm__shape_elements(&call->problem->spec.output) * (size_t)call->batch;
  for (size_t i = 0; i < count; i++) {
    call->y[i] = 0.0;
    for (int k = 0; k < call->problem->input_count; k++)
      call->y[i] += call->x[k][index_in(call, k, i)];
  }
}

void clm__ref_add_backward(const clm__ref_call *call)
{
  const size_t count = clm__shape_elements(&call->problem->spec.output) * (size_t)call->batch;
  for (int k = 0; k < call->problem->input_count; k++) {
    const size_t own = clm__shape_elements(&call->problem->inputs[k]) * (size_t)call->batch;
    memset(call->dx[k], 0, own * sizeof *call->dx[k]);
    for (size_t i = 0; i < count; i++) call->dx[k][index_in(call, k, i)] += call->dy[i];
  }
}

const clm__ref_trial clm__ref_add_trials[] = {
    {.classes = {"Add"}, .configs = {"{}"}, .inputs = {{3, {5, 4, 7}}, {3, {5, 4, 7}}}},
    {.classes = {NULL}},
};
