#include "ref/pooling2d.h"

static double count_elements(const clm__ref_window *window)
{
  return (double)(window->bottom - window->top) * (double)(window->right - window->left);
}

static void take_mean(const clm__ref_call *call, const clm__ref_window *window, int n, int c,
                      size_t y)
{
  const clm__shape *input = &call->problem->inputs[0];
  double sum = 0.0;
  for (int h = window->top; h < window->bottom; h++)
    for (int w = window->left; w < window->right; w++)
      sum += call->x[0][clm__ref_pooling2d_at(input, n, h, w, c)];
  call->y[y] = sum / count_elements(window);
}

static void give_all(const clm__ref_call *call, const clm__ref_window *window, int n, int c,
                     size_t y)
{
  const clm__shape *input = &call->problem->inputs[0];
  for (int h = window->top; h < window->bottom; h++)
    for (int w = window->left; w < window->right; w++)
      call->dx[0][clm__ref_pooling2d_at(input, n, h, w, c)] += call->dy[y] / count_elements(window);
}

void clm__ref_average_pooling2d_forward(const clm__ref_call *call)
{
  clm__ref_pooling2d_visit(call, take_mean);
}

void clm__ref_average_pooling2d_backward(const clm__ref_call *call)
{
  clm__ref_pooling2d_clear(call);
  clm__ref_pooling2d_visit(call, give_all);
}

const clm__ref_trial clm__ref_average_pooling2d_trials[] = {
    {.classes = {"AveragePooling2D"},
     .configs = {"{\"pool_size\": 3, \"strides\": 2, \"padding\": \"same\"}"},
     .inputs = {{3, {7, 6, 5}}}},
    {.classes = {NULL}},
};
