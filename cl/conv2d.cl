// conv2d, and conv2d_max_pool where POOL is 1: plain kernels, right on any device.
//
// x [N,H,W,C], w [KH,KW,C/GROUPS,F], bias [F], z [N,OH,OW,F] the convolution's own output. Without
// POOL y = activate(z). With POOL y [N,OH/2,OW/2,F] is the maximum of activate(z) over 2x2 windows
// and winner [N,OH/2,OW/2,F] says which of the four it was, in row-major order, the first of equal
// ones; NaN wins over numbers.
//
// Grid: one item an element of the result; no local memory, any work-group size.
// Defines: all below. SH SW strides, DH DW dilations, PAD_T PAD_L rows and columns of padding
// before the image, BIAS 0 or 1, ACTIVATION as in prelude.cl.
// Determinism: every sum runs in a fixed order; the weight gradient adds `parts` partial sums in
// their order.

#ifndef H
#define H 5
#define W 5
#define C 2
#define OH 5
#define OW 5
#define F 2
#define KH 3
#define KW 3
#define SH 1
#define SW 1
#define DH 1
#define DW 1
#define PAD_T 1
#define PAD_L 1
#define GROUPS 1
#define BIAS 1
#define POOL 0
#endif

#define CG (C / GROUPS)
#define FG (F / GROUPS)
#if POOL
#define YH (OH / 2)
#define YW (OW / 2)
#else
#define YH OH
#define YW OW
#endif
// Places in the workspace are counted in blocks of 64 floats.
#define PLACE(blocks) ((size_t)(blocks) * 64)
#define KERNEL_ELEMENTS (KH * KW * CG * F)

// One element of z without its bias.
HELPER float convolve(global const float *restrict image, global const float *restrict w, int oh,
                      int ow, int f)
{
  float sum = 0.0f;
  for (int kh = 0; kh < KH; kh++) {
    const int ih = oh * SH + kh * DH - PAD_T;
    if (ih < 0 || ih >= H) continue;
    for (int kw = 0; kw < KW; kw++) {
      const int iw = ow * SW + kw * DW - PAD_L;
      if (iw < 0 || iw >= W) continue;
      global const float *pixel = image + ((size_t)ih * W + iw) * C + f / FG * CG;
      global const float *weights = w + (size_t)(kh * KW + kw) * CG * F + f;
      for (int c = 0; c < CG; c++) sum += pixel[c] * weights[(size_t)c * F];
    }
  }
  return sum;
}

kernel void conv2d_fwd_plain(global float *restrict y, global uchar *restrict winner,
                             global const float *restrict x, global const float *restrict w,
                             global const float *restrict bias, int batch)
{
  const int f = get_global_id(0), yw = get_global_id(1), row = get_global_id(2);
  if (f >= F || yw >= YW || row >= batch * YH) return;
  const int n = row / YH, yh = row % YH;
  global const float *image = x + (size_t)n * H * W * C;
  const size_t at = ((size_t)row * YW + yw) * F + f;
  const float b = BIAS ? bias[f] : 0.0f;
#if POOL
  float best = 0.0f;
  int first = 0;
  for (int k = 0; k < 4; k++) {
    const float z = convolve(image, w, 2 * yh + k / 2, 2 * yw + k % 2, f) + b;
    if (k > 0 && !(z > best || (isnan(z) && !isnan(best)))) continue;
    best = z;
    first = k;
  }
  y[at] = clm_activate(best);
  if (winner != 0) winner[at] = (uchar)first;
#else
  y[at] = clm_activate(convolve(image, w, yh, yw, f) + b);
#endif
}

// The gradient of one element of z.
HELPER float gradient(global const float *restrict dy, global const float *restrict y,
                      global const uchar *restrict winner, int n, int oh, int ow, int f)
{
#if POOL
  if (oh >= 2 * YH || ow >= 2 * YW) return 0.0f;
  const size_t at = (((size_t)n * YH + oh / 2) * YW + ow / 2) * F + f;
  if (winner[at] != oh % 2 * 2 + ow % 2) return 0.0f;
#else
  const size_t at = (((size_t)n * YH + oh) * YW + ow) * F + f;
#endif
#if ACTIVATION == ACTIVATION_LINEAR
  return dy[at];
#else
  return dy[at] * clm_activate_slope(y[at]);
#endif
}

kernel void conv2d_bwd_x_plain(global float *restrict dx, global const float *restrict dy,
                               global const float *restrict y, global const uchar *restrict winner,
                               global const float *restrict w, int batch)
{
  const int c = get_global_id(0), iw = get_global_id(1), row = get_global_id(2);
  if (c >= C || iw >= W || row >= batch * H) return;
  const int n = row / H, ih = row % H, f0 = c / CG * FG;
  float sum = 0.0f;
  for (int kh = 0; kh < KH; kh++) {
    const int down = ih + PAD_T - kh * DH;
    if (down < 0 || down % SH != 0 || down / SH >= OH) continue;
    for (int kw = 0; kw < KW; kw++) {
      const int right = iw + PAD_L - kw * DW;
      if (right < 0 || right % SW != 0 || right / SW >= OW) continue;
      global const float *weights = w + ((size_t)(kh * KW + kw) * CG + c % CG) * F;
      for (int f = f0; f < f0 + FG; f++)
        sum += gradient(dy, y, winner, n, down / SH, right / SW, f) * weights[f];
    }
  }
  dx[((size_t)row * W + iw) * C + c] = sum;
}

// The part of one weight's gradient that comes from one row of z.
HELPER float weigh_row(global const float *restrict x, global const float *restrict dy,
                       global const float *restrict y, global const uchar *restrict winner, int row,
                       int element)
{
  const int n = row / OH, oh = row % OH, f = element % F;
  float sum = 0.0f;
  if (element >= KERNEL_ELEMENTS) {
    for (int ow = 0; ow < OW; ow++) sum += gradient(dy, y, winner, n, oh, ow, f);
    return sum;
  }
  const int c = element / F % CG + f / FG * CG;
  const int tap = element / F / CG, kh = tap / KW, kw = tap % KW;
  const int ih = oh * SH + kh * DH - PAD_T;
  if (ih < 0 || ih >= H) return 0.0f;
  for (int ow = 0; ow < OW; ow++) {
    const int iw = ow * SW + kw * DW - PAD_L;
    if (iw < 0 || iw >= W) continue;
    sum += x[(((size_t)n * H + ih) * W + iw) * C + c] * gradient(dy, y, winner, n, oh, ow, f);
  }
  return sum;
}

// partial [parts,elements]: item (e,p) adds up one weight's share p of the rows of all images. The
// elements behind the kernel's are the bias'; `first` is where the elements asked for begin.
kernel void conv2d_bwd_w_plain(global float *restrict partial, uint partial_at,
                               global const float *restrict x, global const float *restrict dy,
                               global const float *restrict y, global const uchar *restrict winner,
                               int batch, int first, int elements, int parts)
{
  const int e = get_global_id(0), part = get_global_id(1);
  if (e >= elements || part >= parts) return;
  const int rows = batch * OH;
  const int begin = (int)((long)rows * part / parts), end = (int)((long)rows * (part + 1) / parts);
  float sum = 0.0f;
  for (int row = begin; row < end; row++) sum += weigh_row(x, dy, y, winner, row, first + e);
  partial[PLACE(partial_at) + (size_t)part * elements + e] = sum;
}

kernel void conv2d_reduce_plain(global float *restrict dw, global float *restrict db,
                                global const float *restrict partial, uint partial_at, int first,
                                int elements, int parts)
{
  const int e = get_global_id(0);
  if (e >= elements) return;
  float sum = 0.0f;
  for (int part = 0; part < parts; part++)
    sum += partial[PLACE(partial_at) + (size_t)part * elements + e];
  if (first + e < KERNEL_ELEMENTS)
    dw[first + e] = sum;
  else
    db[first + e - KERNEL_ELEMENTS] = sum;
}

// ---- For products of matrices: without groups and pool.
//
// columns [images,OH,OW,KH,KW,C] from columns_at on: the values of x under each output of `images`
// images from image `n0` on, zeros for the padding. Item (value, output column, output row).
kernel void conv2d_unfold(global float *restrict columns, uint columns_at,
                          global const float *restrict x, int n0, int images)
{
  const int value = get_global_id(0), ow = get_global_id(1), row = get_global_id(2);
  if (value >= KH * KW * C || ow >= OW || row >= images * OH) return;
  const int tap = value / C, n = n0 + row / OH;
  const int ih = row % OH * SH + tap / KW * DH - PAD_T, iw = ow * SW + tap % KW * DW - PAD_L;
  const bool inside = ih >= 0 && ih < H && iw >= 0 && iw < W;
  columns[PLACE(columns_at) + ((size_t)row * OW + ow) * (KH * KW * C) + value] =
      inside ? x[(((size_t)n * H + ih) * W + iw) * C + value % C] : 0.0f;
}

// The inverse: adds up what belongs to the same value of x. Item (channel, column, row).
kernel void conv2d_fold(global float *restrict dx, global const float *restrict columns,
                        uint columns_at, int n0, int images)
{
  const int c = get_global_id(0), iw = get_global_id(1), row = get_global_id(2);
  if (c >= C || iw >= W || row >= images * H) return;
  const int n = row / H, ih = row % H;
  float sum = 0.0f;
  for (int kh = 0; kh < KH; kh++) {
    const int down = ih + PAD_T - kh * DH;
    if (down < 0 || down % SH != 0 || down / SH >= OH) continue;
    for (int kw = 0; kw < KW; kw++) {
      const int right = iw + PAD_L - kw * DW;
      if (right < 0 || right % SW != 0 || right / SW >= OW) continue;
      const size_t output = ((size_t)n * OH + down / SH) * OW + right / SW;
      sum += columns[PLACE(columns_at) + (output * (KH * KW) + kh * KW + kw) * C + c];
    }
  }
  dx[(((size_t)n0 * H + row) * W + iw) * C + c] = sum;
}

// y = activate(y + bias). Item (filter, column, row).
kernel void conv2d_fwd_finish(global float *restrict y, global const float *restrict bias,
                              int batch)
{
  const int f = get_global_id(0), ow = get_global_id(1), row = get_global_id(2);
  if (f >= F || ow >= OW || row >= batch * OH) return;
  const size_t at = ((size_t)row * OW + ow) * F + f;
  y[at] = clm_activate(y[at] + (BIAS ? bias[f] : 0.0f));
}

// dz [images,OH,OW,F] from dz_at on: the gradient before the activation. Item as above.
kernel void conv2d_bwd_slope(global float *restrict dz, uint dz_at,
                             global const float *restrict dy, global const float *restrict y,
                             int n0, int images)
{
  const int f = get_global_id(0), ow = get_global_id(1), row = get_global_id(2);
  if (f >= F || ow >= OW || row >= images * OH) return;
  const size_t at = ((size_t)row * OW + ow) * F + f, from = (size_t)n0 * OH * OW * F + at;
  dz[PLACE(dz_at) + at] = dy[from] * clm_activate_slope(y[from]);
}
