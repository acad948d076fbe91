#include "ref/conv2d_loops.h"

#include <string.h>

static size_t input_at(const clm__conv2d_geometry *g, int n, int h, int w, int c)
{
  return (((size_t)n * (size_t)g->h + (size_t)h) * (size_t)g->w + (size_t)w) * (size_t)g->c +
         (size_t)c;
}

static size_t weight_at(const clm__conv2d_geometry *g, int kh, int kw, int c, int f)
{
  const int channels = g->c / g->groups;
  return (((size_t)kh * (size_t)g->kw + (size_t)kw) * (size_t)channels + (size_t)c) *
             (size_t)g->filters +
         (size_t)f;
}

/* Calls `visit` for every product x * w that belongs to an output. */
typedef void (*visitor)(const clm__ref_call *call, size_t x, size_t w, double *value);

static void visit_products(const clm__ref_call *call, const clm__conv2d_geometry *g,
                           clm__ref_place at, visitor visit, double *value)
{
  const int channels = g->c / g->groups;
  const int first = at.f / (g->filters / g->groups) * channels;
  for (int tap = 0; tap < g->kh * g->kw; tap++) {
    const int h = at.h * g->sh + tap / g->kw * g->dh - g->pad_top;
    const int w = at.w * g->sw + tap % g->kw * g->dw - g->pad_left;
    if (h < 0 || h >= g->h || w < 0 || w >= g->w) continue;
    for (int c = 0; c < channels; c++)
      visit(call, input_at(g, at.n, h, w, first + c),
            weight_at(g, tap / g->kw, tap % g->kw, c, at.f), value);
  }
}

static void add_forward(const clm__ref_call *call, size_t x, size_t w, double *value)
{
  *value += call->x[0][x] * call->w[0][w];
}

static void add_backward(const clm__ref_call *call, size_t x, size_t w, double *value)
{
  call->dx[0][x] += *value * call->w[0][w];
  call->dw[0][w] += *value * call->x[0][x];
}

clm__ref_place clm__ref_conv2d_place(size_t i, int h, int w, int f)
{
  const size_t pixel = i / (size_t)f, row = pixel / (size_t)w;
  return (clm__ref_place){(int)(row / (size_t)h), (int)(row % (size_t)h), (int)(pixel % (size_t)w),
                          (int)(i % (size_t)f)};
}

double clm__ref_conv2d_sum(const clm__ref_call *call, const clm__conv2d_geometry *g,
                           clm__ref_place at)
{
  double sum = g->use_bias ? call->w[1][at.f] : 0.0;
  visit_products(call, g, at, add_forward, &sum);
  return sum;
}

void clm__ref_conv2d_clear(const clm__ref_call *call, const clm__conv2d_geometry *g)
{
  memset(call->dx[0], 0, input_at(g, call->batch, 0, 0, 0) * sizeof(double));
  memset(call->dw[0], 0, clm__conv2d_kernel_elements(g) * sizeof(double));
  if (g->use_bias) memset(call->dw[1], 0, (size_t)g->filters * sizeof(double));
}

void clm__ref_conv2d_spread(const clm__ref_call *call, const clm__conv2d_geometry *g,
                            clm__ref_place at, double dz)
{
  visit_products(call, g, at, add_backward, &dz);
  if (g->use_bias) call->dw[1][at.f] += dz;
}

static size_t count_outputs(const clm__conv2d_geometry *g, int batch)
{
  return (size_t)batch * (size_t)g->oh * (size_t)g->ow * (size_t)g->filters;
}

void clm__ref_conv2d_forward(const clm__ref_call *call)
{
  clm__conv2d_geometry g;
  clm__conv2d_geometry_of(call->problem, &g);
  const size_t count = count_outputs(&g, call->batch);
  for (size_t i = 0; i < count; i++) {
    const clm__ref_place at = clm__ref_conv2d_place(i, g.oh, g.ow, g.filters);
    call->y[i] = clm__ref_activate(g.epilogue, clm__ref_conv2d_sum(call, &g, at));
  }
}

void clm__ref_conv2d_backward(const clm__ref_call *call)
{
  clm__conv2d_geometry g;
  clm__conv2d_geometry_of(call->problem, &g);
  const size_t count = count_outputs(&g, call->batch);
  clm__ref_conv2d_clear(call, &g);
  for (size_t i = 0; i < count; i++) {
    const clm__ref_place at = clm__ref_conv2d_place(i, g.oh, g.ow, g.filters);
    const double z = clm__ref_conv2d_sum(call, &g, at);
    clm__ref_conv2d_spread(call, &g, at, call->dy[i] * clm__ref_activate_slope(g.epilogue, z));
  }
}

const clm__ref_trial clm__ref_conv2d_trials[] = {
    {.classes = {"Conv2D"},
     .configs = {"{\"filters\": 8, \"kernel_size\": 3, \"padding\": \"same\"}"},
     .inputs = {{3, {9, 7, 5}}}},
    {.classes = {"Conv2D"},
     .configs = {"{\"filters\": 19, \"kernel_size\": [3, 2], \"strides\": 2}"},
     .inputs = {{3, {11, 8, 17}}}},
    {.classes = {"Conv2D"},
     .configs =
         {"{\"filters\": 5, \"kernel_size\": 3, \"padding\": \"same\", \"dilation_rate\": 2}"},
     .inputs = {{3, {8, 9, 3}}}},
    {.classes = {"Conv2D"},
     .configs = {"{\"filters\": 6, \"kernel_size\": 3, \"groups\": 2, \"use_bias\": false}"},
     .inputs = {{3, {7, 6, 4}}}},
    {.classes = {"Conv2D", "Activation"},
     .configs = {"{\"filters\": 16, \"kernel_size\": 1}", "{\"activation\": \"relu\"}"},
     .inputs = {{3, {6, 5, 24}}}},
    {.classes = {NULL}},
};
