#include "ref/conv2d_loops.h"

#include <math.h>

/* The first largest of the four sums of a window; a NaN is larger than all. */
static clm__ref_place find_winner(const clm__ref_call *call, const clm__conv2d_geometry *g,
                                  clm__ref_place window, double *largest)
{
  clm__ref_place winner = {0};
  for (int k = 0; k < 4; k++) {
    const clm__ref_place at = {window.n, 2 * window.h + k / 2, 2 * window.w + k % 2, window.f};
    const double z = clm__ref_conv2d_sum(call, g, at);
    if (k > 0 && !(z > *largest || (isnan(z) && !isnan(*largest)))) continue;
    winner = at;
    *largest = z;
  }
  return winner;
}

static size_t count_windows(const clm__conv2d_geometry *g, int batch)
{
  return (size_t)batch * (size_t)g->yh * (size_t)g->yw * (size_t)g->filters;
}

void clm__ref_conv2d_max_pool_forward(const clm__ref_call *call)
{
  clm__conv2d_geometry g;
  clm__conv2d_geometry_of(call->problem, &g);
  for (size_t i = 0; i < count_windows(&g, call->batch); i++) {
    double z = 0.0;
    (void)find_winner(call, &g, clm__ref_conv2d_place(i, g.yh, g.yw, g.filters), &z);
    call->y[i] = clm__ref_activate(g.epilogue, z);
  }
}

void clm__ref_conv2d_max_pool_backward(const clm__ref_call *call)
{
  clm__conv2d_geometry g;
  clm__conv2d_geometry_of(call->problem, &g);
  clm__ref_conv2d_clear(call, &g);
  for (size_t i = 0; i < count_windows(&g, call->batch); i++) {
    double z = 0.0;
    const clm__ref_place winner =
        find_winner(call, &g, clm__ref_conv2d_place(i, g.yh, g.yw, g.filters), &z);
    clm__ref_conv2d_spread(call, &g, winner, call->dy[i] * clm__ref_activate_slope(g.epilogue, z));
  }
}

const clm__ref_trial clm__ref_conv2d_max_pool_trials[] = {
    {.classes = {"Conv2D", "Activation", "MaxPooling2D"},
     .configs = {"{\"filters\": 16, \"kernel_size\": 3, \"padding\": \"same\"}",
                 "{\"activation\": \"relu\"}", "{}"},
     .inputs = {{3, {13, 12, 3}}}},
    {.classes = {"Conv2D", "Activation", "MaxPooling2D"},
     .configs = {"{\"filters\": 33, \"kernel_size\": 3, \"padding\": \"same\"}",
                 "{\"activation\": \"relu\"}", "{}"},
     .inputs = {{3, {9, 7, 16}}}},
    {.classes = {NULL}},
};
