#include "ref/ref.h"

#include <math.h>

static clm__activation kind_of(const clm__ref_call *call)
{
  return *(const clm__activation *)clm__ref_attribute(call->problem, "activation");
}

static void softmax(const double *x, double *y, int columns)
{
  double largest = x[0], sum = 0.0;
  for (int k = 1; k < columns; k++) largest = fmax(largest, x[k]);
  for (int k = 0; k < columns; k++) sum += exp(x[k] - largest);
  for (int k = 0; k < columns; k++) y[k] = exp(x[k] - largest) / sum;
}

void clm__ref_activation_forward(const clm__ref_call *call)
{
  const clm__shape *shape = &call->problem->inputs[0];
  const clm__activation kind = kind_of(call);
  const int columns = kind == CLM__SOFTMAX ? shape->dims[shape->rank - 1] : 1;
  const size_t count = clm__shape_elements(shape) * (size_t)call->batch;
  for (size_t i = 0; i < count; i += (size_t)columns) {
    if (kind == CLM__SOFTMAX)
      softmax(call->x[0] + i, call->y + i, columns);
    else
      call->y[i] = clm__ref_activate(kind, call->x[0][i]);
  }
}

void clm__ref_activation_backward(const clm__ref_call *call)
{
  const clm__shape *shape = &call->problem->inputs[0];
  const clm__activation kind = kind_of(call);
  const int columns = kind == CLM__SOFTMAX ? shape->dims[shape->rank - 1] : 1;
  const size_t count = clm__shape_elements(shape) * (size_t)call->batch;
  for (size_t i = 0; i < count; i += (size_t)columns) {
    double sum = 0.0;
    for (int k = 0; k < columns; k++) sum += call->y[i + (size_t)k] * call->dy[i + (size_t)k];
    for (size_t j = i; j < i + (size_t)columns; j++)
      call->dx[0][j] = kind == CLM__SOFTMAX
                           ? call->y[j] * (call->dy[j] - sum)
                           : call->dy[j] * clm__ref_activate_slope(kind, call->x[0][j]);
  }
}

const clm__ref_trial clm__ref_activation_trials[] = {
    {.classes = {"Activation"},
     .configs = {"{\"activation\": \"relu\"}"},
     .inputs = {{3, {5, 3, 7}}}},
    {.classes = {"Activation"},
     .configs = {"{\"activation\": \"relu6\"}"},
     .inputs = {{3, {5, 3, 7}}}},
    {.classes = {"Activation"},
     .configs = {"{\"activation\": \"leaky_relu\"}"},
     .inputs = {{3, {5, 3, 7}}}},
    {.classes = {"Activation"},
     .configs = {"{\"activation\": \"elu\"}"},
     .inputs = {{3, {5, 3, 7}}}},
    {.classes = {"Activation"},
     .configs = {"{\"activation\": \"sigmoid\"}"},
     .inputs = {{3, {5, 3, 7}}}},
    {.classes = {"Activation"},
     .configs = {"{\"activation\": \"tanh\"}"},
     .inputs = {{3, {5, 3, 7}}}},
    {.classes = {"Activation"},
     .configs = {"{\"activation\": \"silu\"}"},
     .inputs = {{3, {5, 3, 7}}}},
    {.classes = {"Activation"},
     .configs = {"{\"activation\": \"gelu\"}"},
     .inputs = {{3, {5, 3, 7}}}},
    {.classes = {"Activation"},
     .configs = {"{\"activation\": \"softmax\"}"},
     .inputs = {{1, {11}}}},
    {.classes = {NULL}},
};
