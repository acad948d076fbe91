#include "op/dense.h"

#include "ref/ref.h"

#include <string.h>

typedef struct sizes {
  size_t rows, in, units;
  clm__activation epilogue;
} sizes;

static sizes sizes_of(const clm__ref_call *call)
{
  const clm__shape *input = &call->problem->inputs[0];
  const clm__dense_attributes *attributes = call->problem->attributes;
  const size_t in = (size_t)input->dims[input->rank - 1];
  return (sizes){.rows = clm__shape_elements(input) / in * (size_t)call->batch,
                 .in = in,
                 .units = (size_t)attributes->units,
                 .epilogue = attributes->epilogue};
}

static double product(const clm__ref_call *call, const sizes *s, size_t row, size_t unit)
{
  double sum = clm__ref_bool(call->problem, "use_bias") ? call->w[1][unit] : 0.0;
  for (size_t i = 0; i < s->in; i++)
    sum += call->x[0][row * s->in + i] * call->w[0][i * s->units + unit];
  return sum;
}

void clm__ref_dense_forward(const clm__ref_call *call)
{
  const sizes s = sizes_of(call);
  for (size_t row = 0; row < s.rows; row++)
    for (size_t unit = 0; unit < s.units; unit++)
      call->y[row * s.units + unit] = clm__ref_activate(s.epilogue, product(call, &s, row, unit));
}

void clm__ref_dense_backward(const clm__ref_call *call)
{
  const sizes s = sizes_of(call);
  const bool bias = clm__ref_bool(call->problem, "use_bias");
  memset(call->dx[0], 0, s.rows * s.in * sizeof(double));
  memset(call->dw[0], 0, s.in * s.units * sizeof(double));
  if (bias) memset(call->dw[1], 0, s.units * sizeof(double));
  for (size_t at = 0; at < s.rows * s.units; at++) {
    const size_t row = at / s.units;
    const size_t unit = at % s.units;
    const double dz =
        call->dy[at] * clm__ref_activate_slope(s.epilogue, product(call, &s, row, unit));
    for (size_t i = 0; i < s.in; i++) {
      call->dx[0][row * s.in + i] += dz * call->w[0][i * s.units + unit];
      call->dw[0][i * s.units + unit] += dz * call->x[0][row * s.in + i];
    }
    if (bias) call->dw[1][unit] += dz;
  }
}

const clm__ref_trial clm__ref_dense_trials[] = {
    {.classes = {"Dense"}, .configs = {"{\"units\": 35}"}, .inputs = {{1, {61}}}},
    {.classes = {"Dense", "Activation"},
     .configs = {"{\"units\": 64}", "{\"activation\": \"relu\"}"},
     .inputs = {{1, {130}}}},
    {.classes = {NULL}},
};
