// Dense layers: y = activation(x w + bias).
//
// Grid: fwd UNITS by rows, bwd_x IN by rows, bwd_w UNITS by IN, bwd_bias and the element-wise
// kernels UNITS (by rows); one result an item, no local memory, any group.
// x, dx [rows,IN]; w, dw [IN,UNITS]; bias, db [UNITS]; y, dy, dz [rows,UNITS].
// Defines: IN, UNITS, BIAS (0 or 1), ACTIVATION (its slope is told from y).
// Sums go in order through blocks of BLOCK terms, each summed first.

#ifndef IN
#define IN 4
#define UNITS 4
#define BIAS 1
#endif
#define BLOCK 64

// The gradient before the activation.
HELPER float slope_gradient(global const float *dy, global const float *y, size_t at)
{
#if ACTIVATION == ACTIVATION_LINEAR
  return dy[at];
#else
  return dy[at] * clm_activate_slope(y[at]);
#endif
}

kernel void dense_fwd_plain(global float *restrict y, global const float *restrict x,
                            global const float *restrict w, global const float *restrict bias,
                            int rows)
{
  const int unit = (int)get_global_id(0);
  const int row = (int)get_global_id(1);
  if (unit >= UNITS || row >= rows) return;
  global const float *x_row = x + (size_t)row * IN;
  float sum = 0.0f;
  for (int first = 0; first < IN; first += BLOCK) {
    float part = 0.0f;
    for (int i = first; i < min(first + BLOCK, IN); i++)
      part = fma(x_row[i], w[(size_t)i * UNITS + unit], part);
    sum += part;
  }
#if BIAS
  sum += bias[unit];
#endif
  y[(size_t)row * UNITS + unit] = clm_activate(sum);
}

kernel void dense_bwd_x_plain(global float *restrict dx, global const float *restrict dy,
                              global const float *restrict y, global const float *restrict w,
                              int rows)
{
  const int i = (int)get_global_id(0);
  const int row = (int)get_global_id(1);
  if (i >= IN || row >= rows) return;
  float sum = 0.0f;
  for (int first = 0; first < UNITS; first += BLOCK) {
    float part = 0.0f;
    for (int unit = first; unit < min(first + BLOCK, UNITS); unit++)
      part = fma(slope_gradient(dy, y, (size_t)row * UNITS + unit), w[(size_t)i * UNITS + unit],
                 part);
    sum += part;
  }
  dx[(size_t)row * IN + i] = sum;
}

kernel void dense_bwd_w_plain(global float *restrict dw, global const float *restrict x,
                              global const float *restrict dy, global const float *restrict y,
                              int rows)
{
  const int unit = (int)get_global_id(0);
  const int i = (int)get_global_id(1);
  if (unit >= UNITS || i >= IN) return;
  float sum = 0.0f;
  for (int first = 0; first < rows; first += BLOCK) {
    float part = 0.0f;
    for (int row = first; row < min(first + BLOCK, rows); row++)
      part = fma(x[(size_t)row * IN + i], slope_gradient(dy, y, (size_t)row * UNITS + unit), part);
    sum += part;
  }
  dw[(size_t)i * UNITS + unit] = sum;
}

kernel void dense_bwd_bias_plain(global float *restrict db, global const float *restrict dy,
                                 global const float *restrict y, int rows)
{
  const int unit = (int)get_global_id(0);
  if (unit >= UNITS) return;
  float sum = 0.0f;
  for (int first = 0; first < rows; first += BLOCK) {
    float part = 0.0f;
    for (int row = first; row < min(first + BLOCK, rows); row++)
      part += slope_gradient(dy, y, (size_t)row * UNITS + unit);
    sum += part;
  }
  db[unit] = sum;
}

// Finishes a product in place: bias and activation.
kernel void dense_fwd_finish(global float *restrict y, global const float *restrict bias, int rows)
{
  const int unit = (int)get_global_id(0);
  const int row = (int)get_global_id(1);
  if (unit >= UNITS || row >= rows) return;
  const size_t at = (size_t)row * UNITS + unit;
#if BIAS
  y[at] = clm_activate(y[at] + bias[unit]);
#else
  y[at] = clm_activate(y[at]);
#endif
}

// Writes the gradient before the activation behind `offset` elements of dz.
kernel void dense_bwd_slope(global float *restrict dz, global const float *restrict dy,
                            global const float *restrict y, int rows, uint offset)
{
  const int unit = (int)get_global_id(0);
  const int row = (int)get_global_id(1);
  if (unit >= UNITS || row >= rows) return;
  const size_t at = (size_t)row * UNITS + unit;
  dz[offset + at] = slope_gradient(dy, y, at);
}
