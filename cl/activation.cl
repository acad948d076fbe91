// Pointwise activations, and softmax over the last axis.
//
// activation_fwd_plain    y = f(x)
// activation_bwd_x_plain  dx = dy * f'(x), where f' is told from `v`: x for silu and gelu, else y
// softmax_fwd_plain       rows of y = softmax of rows of x
// softmax_bwd_x_plain     dx = y * (dy - sum of y * dy over the row)
//
// Grid: one item an element; softmax: one item a row. Local memory: none.
// Shapes: activation: all [batch,elements]; softmax: all [batch,rows,COLUMNS].
// Defines: ACTIVATION (prelude.cl); COLUMNS, the length of a softmax row.
// Determinism: every item writes elements of its own and sums in order.

#ifndef COLUMNS
#define COLUMNS 1
#endif

float activation_of(float z)
{
#if ACTIVATION == ACTIVATION_SILU
  return z / (1.0f + exp(-z));
#elif ACTIVATION == ACTIVATION_GELU
  return 0.5f * z * (1.0f + erf(z * 0.70710678118654752f));
#else
  return clm_activate(z);
#endif
}

// The slope at the place that v (see above) tells of.
float activation_slope(float v)
{
#if ACTIVATION == ACTIVATION_SILU
  const float s = 1.0f / (1.0f + exp(-v));
  return s * (1.0f + v * (1.0f - s));
#elif ACTIVATION == ACTIVATION_GELU
  const float density = 0.39894228040143268f * exp(-0.5f * v * v);
  return 0.5f * (1.0f + erf(v * 0.70710678118654752f)) + v * density;
#else
  return clm_activate_slope(v);
#endif
}

kernel void activation_fwd_plain(global float *restrict y, global const float *restrict x,
                                 uint elements, int batch)
{
  const size_t i = get_global_id(0);
  if (i >= (size_t)elements * (size_t)batch) return;
  y[i] = activation_of(x[i]);
}

kernel void activation_bwd_x_plain(global float *restrict dx, global const float *restrict v,
                                   global const float *restrict dy, uint elements, int batch)
{
  const size_t i = get_global_id(0);
  if (i >= (size_t)elements * (size_t)batch) return;
  dx[i] = dy[i] * activation_slope(v[i]);
}

kernel void softmax_fwd_plain(global float *restrict y, global const float *restrict x, uint rows,
                              int batch)
{
  const size_t row = get_global_id(0);
  if (row >= (size_t)rows * (size_t)batch) return;
  const size_t start = row * COLUMNS;
  float largest = x[start];
  for (int k = 1; k < COLUMNS; k++) largest = fmax(largest, x[start + k]);
  float sum = 0.0f;
  for (int k = 0; k < COLUMNS; k++) sum += exp(x[start + k] - largest);
  for (int k = 0; k < COLUMNS; k++) y[start + k] = exp(x[start + k] - largest) / sum;
}

kernel void softmax_bwd_x_plain(global float *restrict dx, global const float *restrict y,
                                global const float *restrict dy, uint rows,
                                int batch)
{
  const size_t row = get_global_id(0);
  if (row >= (size_t)rows * (size_t)batch) return;
  const size_t start = row * COLUMNS;
  float sum = 0.0f;
  for (int k = 0; k < COLUMNS; k++) sum = fma(y[start + k], dy[start + k], sum);
  for (int k = 0; k < COLUMNS; k++) dx[start + k] = y[start + k] * (dy[start + k] - sum);
}
