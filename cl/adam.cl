// Adam and AdamW, one pass over flat arrays. With gradient g = sum * gradient_scale, after the
// weight decay w -= w * weight_decay * learning_rate:
//
//   m += (g - m) * (1 - beta_1); v += (g * g - v) * (1 - beta_2)
//   w -= m * rate / (sqrt(v) + epsilon), where `rate` is the learning rate with both corrections
//
// adam_amsgrad_plain divides by the largest v so far, which is in h.
//
// Grid: one item WIDTH elements. Local memory: none.
// Shapes: w, m, v, h, g [vectors * WIDTH]; stop [1]: not 0 leaves everything as it is.
// Defines: WIDTH (4 or 16).
// Determinism: every item updates elements of its own; nothing is contracted, so that equal devices
// make equal bits.

#pragma OPENCL FP_CONTRACT OFF

#ifndef WIDTH
#define WIDTH 4
#endif
#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
#define vector JOIN(float, WIDTH)

kernel void adam_plain(global vector *restrict w, global vector *restrict m,
                       global vector *restrict v, global const vector *restrict g,
                       global const int *restrict stop, uint vectors, float gradient_scale,
                       float learning_rate, float weight_decay, float rate, float share_1,
                       float share_2, float epsilon)
{
  const size_t i = get_global_id(0);
  if (i >= vectors || stop[0] != 0) return;
  const vector gradient = g[i] * gradient_scale;
  const vector kept = fma(-(w[i] * weight_decay), (vector)(learning_rate), w[i]);
  const vector first = fma(gradient - m[i], (vector)(share_1), m[i]);
  const vector second = fma(gradient * gradient - v[i], (vector)(share_2), v[i]);
  m[i] = first;
  v[i] = second;
  w[i] = kept - first * rate / (sqrt(second) + epsilon);
}

kernel void adam_amsgrad_plain(global vector *restrict w, global vector *restrict m,
                               global vector *restrict v, global vector *restrict h,
                               global const vector *restrict g, global const int *restrict stop,
                               uint vectors, float gradient_scale, float learning_rate,
                               float weight_decay, float rate, float share_1, float share_2,
                               float epsilon)
{
  const size_t i = get_global_id(0);
  if (i >= vectors || stop[0] != 0) return;
  const vector gradient = g[i] * gradient_scale;
  const vector kept = fma(-(w[i] * weight_decay), (vector)(learning_rate), w[i]);
  const vector first = fma(gradient - m[i], (vector)(share_1), m[i]);
  const vector second = fma(gradient * gradient - v[i], (vector)(share_2), v[i]);
  const vector largest = fmax(h[i], second);
  m[i] = first;
  v[i] = second;
  h[i] = largest;
  w[i] = kept - first * rate / (sqrt(largest) + epsilon);
}
