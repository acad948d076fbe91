// SGD, one pass over flat arrays. With gradient g = sum * gradient_scale, after the weight decay
// w -= w * weight_decay * learning_rate:
//
// sgd_plain           w -= learning_rate * g
// sgd_momentum_plain  m = momentum * m - learning_rate * g; w += m, or with NESTEROV
//                     w += momentum * m - learning_rate * g
//
// Grid: one item WIDTH elements. Local memory: none.
// Shapes: w, m, g [vectors * WIDTH]; stop [1]: not 0 leaves everything as it is.
// Defines: WIDTH (4 or 16), NESTEROV (0 or 1).
// Determinism: every item updates elements of its own; nothing is contracted, so that equal devices
// make equal bits.

#pragma OPENCL FP_CONTRACT OFF

#ifndef WIDTH
#define WIDTH 4
#endif
#ifndef NESTEROV
#define NESTEROV 0
#endif
#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
#define vector JOIN(float, WIDTH)

kernel void sgd_plain(global vector *restrict w, global const vector *restrict g,
                      global const int *restrict stop, uint vectors, float gradient_scale,
                      float learning_rate, float weight_decay)
{
  const size_t i = get_global_id(0);
  if (i >= vectors || stop[0] != 0) return;
  const vector rate = (vector)(learning_rate);
  const vector kept = fma(-(w[i] * weight_decay), rate, w[i]);
  w[i] = fma(-rate, g[i] * gradient_scale, kept);
}

kernel void sgd_momentum_plain(global vector *restrict w, global vector *restrict m,
                               global const vector *restrict g, global const int *restrict stop,
                               uint vectors, float gradient_scale, float learning_rate,
                               float weight_decay, float momentum)
{
  const size_t i = get_global_id(0);
  if (i >= vectors || stop[0] != 0) return;
  const vector rate = (vector)(learning_rate), inertia = (vector)(momentum);
  const vector kept = fma(-(w[i] * weight_decay), rate, w[i]);
  const vector step = -(rate * (g[i] * gradient_scale));
  const vector moved = fma(inertia, m[i], step);
  m[i] = moved;
#if NESTEROV
  w[i] = kept + fma(inertia, moved, step);
#else
  w[i] = kept + moved;
#endif
}
