#include "ref/conv2d_loops.h"

#include <stdlib.h>
#include <string.h>

static size_t input_at(const clm__conv2d_geometry *g, int n, int h, int w, int c)
{
  return (((size_t)n * (size_t)g->h + (size_t)h) * (size_t)g->w + (size_t)w) * (size_t)g->c +
         (size_t)c;
}

size_t ref_conv2d_output_at(const clm__conv2d_geometry *g, int n, int h, int w, int f)
{
  return (((size_t)n * (size_t)g->oh + (size_t)h) * (size_t)g->ow + (size_t)w) *
             (size_t)g->filters +
         (size_t)f;
}

static size_t weight_at(const clm__conv2d_geometry *g, int kh, int kw, int c, int f)
{
  const int channels = g->c / g->groups;
  return (((size_t)kh * (size_t)g->kw + (size_t)kw) * (size_t)channels + (size_t)c) *
             (size_t)g->filters +
         (size_t)f;
}

/* Calls `visit` for every product x * w that belongs to output (n, oh, ow, f). */
typedef void (*visitor)(const ref_call *call, size_t x, size_t w, size_t z, double *values);

static void visit_one(const ref_call *call, const clm__conv2d_geometry *g, const int at[4],
                      visitor visit, double *values)
{
  const int channels = g->c / g->groups;
  const int first = at[3] / (g->filters / g->groups) * channels;
  const size_t z = ref_conv2d_output_at(g, at[0], at[1], at[2], at[3]);
  for (int tap = 0; tap < g->kh * g->kw; tap++) {
    const int h = at[1] * g->sh + tap / g->kw * g->dh - g->pad_top;
    const int w = at[2] * g->sw + tap % g->kw * g->dw - g->pad_left;
    if (h < 0 || h >= g->h || w < 0 || w >= g->w) continue;
    for (int c = 0; c < channels; c++)
      visit(call, input_at(g, at[0], h, w, first + c),
            weight_at(g, tap / g->kw, tap % g->kw, c, at[3]), z, values);
  }
}

static void visit_all(const ref_call *call, const clm__conv2d_geometry *g, visitor visit,
                      double *values)
{
  for (int n = 0; n < call->batch; n++)
    for (int oh = 0; oh < g->oh; oh++)
      for (int ow = 0; ow < g->ow; ow++)
        for (int f = 0; f < g->filters; f++)
          visit_one(call, g, (int[]){n, oh, ow, f}, visit, values);
}

static void add_forward(const ref_call *call, size_t x, size_t w, size_t z, double *values)
{
  values[z] += call->x[0][x] * call->w[0][w];
}

static void add_backward(const ref_call *call, size_t x, size_t w, size_t z, double *values)
{
  call->dx[0][x] += values[z] * call->w[0][w];
  call->dw[0][w] += values[z] * call->x[0][x];
}

size_t ref_conv2d_output_elements(const clm__conv2d_geometry *g, int batch)
{
  return (size_t)batch * (size_t)g->oh * (size_t)g->ow * (size_t)g->filters;
}

void ref_conv2d_sums(const ref_call *call, const clm__conv2d_geometry *g, double *z)
{
  const size_t count = ref_conv2d_output_elements(g, call->batch);
  for (size_t i = 0; i < count; i++) z[i] = g->use_bias ? call->w[1][i % (size_t)g->filters] : 0.0;
  visit_all(call, g, add_forward, z);
}

void ref_conv2d_gradients(const ref_call *call, const clm__conv2d_geometry *g, double *dz)
{
  const size_t count = ref_conv2d_output_elements(g, call->batch);
  memset(call->dx[0], 0, input_at(g, call->batch, 0, 0, 0) * sizeof(double));
  memset(call->dw[0], 0, clm__conv2d_kernel_elements(g) * sizeof(double));
  visit_all(call, g, add_backward, dz);
  if (!g->use_bias) return;
  memset(call->dw[1], 0, (size_t)g->filters * sizeof(double));
  for (size_t i = 0; i < count; i++) call->dw[1][i % (size_t)g->filters] += dz[i];
}

void ref_conv2d_forward(const ref_call *call)
{
  clm__conv2d_geometry g;
  clm__conv2d_geometry_of(call->problem, &g);
  const size_t count = ref_conv2d_output_elements(&g, call->batch);
  ref_conv2d_sums(call, &g, call->y);
  for (size_t i = 0; i < count; i++) call->y[i] = ref_activate(g.epilogue, call->y[i]);
}

void ref_conv2d_backward(const ref_call *call)
{
  clm__conv2d_geometry g;
  clm__conv2d_geometry_of(call->problem, &g);
  const size_t count = ref_conv2d_output_elements(&g, call->batch);
  double *z = calloc(count, sizeof *z);
  ref_conv2d_sums(call, &g, z);
  for (size_t i = 0; i < count; i++) z[i] = call->dy[i] * ref_activate_slope(g.epilogue, z[i]);
  ref_conv2d_gradients(call, &g, z);
  free(z);
}
