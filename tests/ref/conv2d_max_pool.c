#include "ref/conv2d_loops.h"

#include <math.h>
#include <stdlib.h>

typedef struct window {
  int n, h, w, f;
} window;

static window window_of(const clm__conv2d_geometry *g, size_t y)
{
  const size_t f = (size_t)g->filters, w = (size_t)g->yw, h = (size_t)g->yh;
  return (window){(int)(y / f / w / h), (int)(y / f / w % h), (int)(y / f % w), (int)(y % f)};
}

/* Where the first maximum of a window stands in z. */
static size_t find_winner(const clm__conv2d_geometry *g, const double *z, window at)
{
  size_t best = ref_conv2d_output_at(g, at.n, 2 * at.h, 2 * at.w, at.f);
  for (int k = 1; k < 4; k++) {
    const size_t other = ref_conv2d_output_at(g, at.n, 2 * at.h + k / 2, 2 * at.w + k % 2, at.f);
    if (z[other] > z[best] || (isnan(z[other]) && !isnan(z[best]))) best = other;
  }
  return best;
}

static size_t count_windows(const clm__conv2d_geometry *g, int batch)
{
  return (size_t)batch * (size_t)g->yh * (size_t)g->yw * (size_t)g->filters;
}

void ref_conv2d_max_pool_forward(const ref_call *call)
{
  clm__conv2d_geometry g;
  clm__conv2d_geometry_of(call->problem, &g);
  double *z = calloc(ref_conv2d_output_elements(&g, call->batch), sizeof *z);
  ref_conv2d_sums(call, &g, z);
  for (size_t i = 0; i < count_windows(&g, call->batch); i++)
    call->y[i] = ref_activate(g.epilogue, z[find_winner(&g, z, window_of(&g, i))]);
  free(z);
}

void ref_conv2d_max_pool_backward(const ref_call *call)
{
  clm__conv2d_geometry g;
  clm__conv2d_geometry_of(call->problem, &g);
  const size_t count = ref_conv2d_output_elements(&g, call->batch);
  double *z = calloc(count, sizeof *z);
  double *dz = calloc(count, sizeof *dz);
  ref_conv2d_sums(call, &g, z);
  for (size_t i = 0; i < count_windows(&g, call->batch); i++) {
    const size_t winner = find_winner(&g, z, window_of(&g, i));
    dz[winner] = call->dy[i] * ref_activate_slope(g.epilogue, z[winner]);
  }
  ref_conv2d_gradients(call, &g, dz);
  free(z);
  free(dz);
}
