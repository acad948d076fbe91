#include "ref/ref.h"

static double value_of(const clm__problem *problem, const char *key, size_t channel)
{
  const clm__float_list *list = clm__ref_attribute(problem, key);
  return list->values[list->count > 0 ? channel : 0];
}

void clm__ref_rescaling_forward(const clm__ref_call *call)
{
  const clm__shape *shape = &call->problem->inputs[0];
  const size_t channels = (size_t)shape->dims[shape->rank - 1];
  const size_t count = clm__shape_elements(shape) * (size_t)call->batch;
  for (size_t i = 0; i < count; i++)
    call->y[i] = call->x[0][i] * value_of(call->problem, "scale", i % channels) +
                 value_of(call->problem, "offset", i % channels);
}

void clm__ref_rescaling_backward(const clm__ref_call *call)
{
  const clm__shape *shape = &call->problem->inputs[0];
  const size_t channels = (size_t)shape->dims[shape->rank - 1];
  const size_t count = clm__shape_elements(shape) * (size_t)call->batch;
  for (size_t i = 0; i < count; i++)
    call->dx[0][i] = call->dy[i] * value_of(call->problem, "scale", i % channels);
}

const clm__ref_trial clm__ref_rescaling_trials[] = {
    {.classes = {"Rescaling"},
     .configs = {"{\"scale\": 0.5, \"offset\": -1.0}"},
     .inputs = {{3, {5, 7, 3}}}},
    {.classes = {NULL}},
};
