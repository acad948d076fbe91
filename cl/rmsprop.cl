// RMSprop, one pass over flat arrays. With gradient g = sum * gradient_scale, after the weight
// decay w -= w * weight_decay * learning_rate:
//
//   v = rho * v + (1 - rho) * g * g; d = v + epsilon
//   CENTERED: a = rho * a + (1 - rho) * g; d = v - a * a + epsilon
//   step = learning_rate * g / sqrt(d); MOMENTUM: step = m = momentum * m + step
//   w -= step
//
// Grid: one item WIDTH elements. Local memory: none.
// Shapes: w, v, m, a, g [vectors * WIDTH]; stop [1]: not 0 leaves everything as it is. m and a are
// arguments only where their define is 1.
// Defines: WIDTH (4 or 16), MOMENTUM, CENTERED (0 or 1).
// Determinism: every item updates elements of its own; nothing is contracted, so that equal devices
// make equal bits.

#pragma OPENCL FP_CONTRACT OFF

#ifndef WIDTH
#define WIDTH 4
#endif
#ifndef MOMENTUM
#define MOMENTUM 0
#endif
#ifndef CENTERED
#define CENTERED 0
#endif
#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
#define vector JOIN(float, WIDTH)

kernel void rmsprop_plain(global vector *restrict w, global vector *restrict v,
#if MOMENTUM
                          global vector *restrict m,
#endif
#if CENTERED
                          global vector *restrict a,
#endif
                          global const vector *restrict g, global const int *restrict stop,
                          uint vectors, float gradient_scale, float learning_rate,
                          float weight_decay, float rho, float share, float epsilon,
                          float momentum)
{
  const size_t i = get_global_id(0);
  if (i >= vectors || stop[0] != 0) return;
  const vector gradient = g[i] * gradient_scale;
  const vector kept = fma(-(w[i] * weight_decay), (vector)(learning_rate), w[i]);
  const vector square = fma((vector)(rho), v[i], share * (gradient * gradient));
  vector spread = square;
  v[i] = square;
#if CENTERED
  const vector average = fma((vector)(rho), a[i], share * gradient);
  a[i] = average;
  spread = fma(-average, average, square);
#endif
  vector step = learning_rate * gradient / sqrt(spread + epsilon);
#if MOMENTUM
  step = fma((vector)(momentum), m[i], step);
  m[i] = step;
#endif
  w[i] = kept - step;
}
