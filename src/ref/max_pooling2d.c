#include "ref/pooling2d.h"

#include <math.h>

/* The first largest element of a window; a NaN is larger than all. */
static size_t find_winner(const clm__ref_call *call, const clm__ref_window *window, int n, int c)
{
  const clm__shape *input = &call->problem->inputs[0];
  const double *x = call->x[0];
  size_t winner = clm__ref_pooling2d_at(input, n, window->top, window->left, c);
  for (int h = window->top; h < window->bottom; h++) {
    for (int w = window->left; w < window->right; w++) {
      const size_t at = clm__ref_pooling2d_at(input, n, h, w, c);
      if (x[at] > x[winner] || (isnan(x[at]) && !isnan(x[winner]))) winner = at;
    }
  }
  return winner;
}

static void take_winner(const clm__ref_call *call, const clm__ref_window *window, int n, int c,
                        size_t y)
{
  call->y[y] = call->x[0][find_winner(call, window, n, c)];
}

static void give_winner(const clm__ref_call *call, const clm__ref_window *window, int n, int c,
                        size_t y)
{
  call->dx[0][find_winner(call, window, n, c)] += call->dy[y];
}

void clm__ref_max_pooling2d_forward(const clm__ref_call *call)
{
  clm__ref_pooling2d_visit(call, take_winner);
}

void clm__ref_max_pooling2d_backward(const clm__ref_call *call)
{
  clm__ref_pooling2d_clear(call);
  clm__ref_pooling2d_visit(call, give_winner);
}

const clm__ref_trial clm__ref_max_pooling2d_trials[] = {
    {.classes = {"MaxPooling2D"},
     .configs = {"{\"pool_size\": 3, \"strides\": 2, \"padding\": \"same\"}"},
     .inputs = {{3, {7, 6, 5}}}},
    {.classes = {"MaxPooling2D"}, .configs = {"{}"}, .inputs = {{3, {7, 6, 5}}}},
    {.classes = {NULL}},
};
