// Forward pass of conv2d_max_pool for CPUs by Winograd's F(2x2,3x3): the 2x2 results of a 3x3
// convolution of stride 1 that a window of the pool covers need 16 products a channel and filter
// instead of 36.
//
// The 4x4 pixels that a window sees are spread to 16 numbers, each of which meets one number told
// from the weights; the sums over the channels are gathered to the 2x2 results, and the largest of
// them is stored. An item does this for TILES windows at a time, so that the products are matrices:
// 16 times [TILES,C] by [C,F], by register tiles of R x VT vectors.
//
// Where pixels do not change along rows or columns, the numbers that tell of changes are exact
// zeros. So results that are equal there stay equal to the last bit, and the first of them wins, as
// in a plain convolution. Larger tiles (conv2d_winograd_cpu.cl) round such results apart.
//
// Groups of one item, no local memory. x [N,H,W,C], w [3,3,C,F], bias [F], y and winner
// [N,YH,YW,F], as in conv2d.cl.
// Defines: those of conv2d.cl; LANES of a vector, at most as many as C and F; VT, R, TILES a
// multiple of R.
// Where channels are no multiple of LANES, the last vector begins earlier.
// Rounding: results of one window round by the largest of its pixels. Determinism: fixed order.

#pragma OPENCL FP_CONTRACT ON

#ifndef H
#define H 9
#define W 9
#define C 16
#define OH 9
#define OW 9
#define F 16
#define PAD_T 1
#define PAD_L 1
#define BIAS 1
#endif
#ifndef TILES
#define VT 1
#define R 4
#define TILES 4
#endif

#define YH (OH / 2)
#define YW (OW / 2)
#define VECTORS(channels) (((channels) + LANES - 1) / LANES)
#define BLOCK (VT * LANES)
#define BLOCKS ((F + BLOCK - 1) / BLOCK)
#define POINTS 16
// The number to which all results of a window add their unchanged sum.
#define MIDDLE 5
// Not a multiple of 4 KB, which would share a place in the cache.
#define V_STEP (TILES * C + 16)
#define M_STEP (TILES * BLOCK + 16)

INLINE int first_channel(int v, int channels) { return min(v * LANES, channels - LANES); }

// Where a window lies.
typedef struct place {
  int n, row, column;
} place;

INLINE place place_of(int window)
{
  const int row = window / YW;
  const place at = {row / YH, row % YH, window % YW};
  return at;
}

INLINE place next_place(place at)
{
  if (++at.column < YW) return at;
  at.column = 0;
  if (++at.row < YH) return at;
  at.row = 0;
  at.n++;
  return at;
}

INLINE bool is_inside(place at)
{
  const int h = 2 * at.row - PAD_T, w = 2 * at.column - PAD_L;
  return h >= 0 && w >= 0 && h + 4 <= H && w + 4 <= W;
}

INLINE void spread(floatv d[4])
{
  const floatv first = d[0] - d[2], sum = d[1] + d[2], change = d[2] - d[1], last = d[1] - d[3];
  d[0] = first;
  d[1] = sum;
  d[2] = change;
  d[3] = last;
}

// Column j of the pixels that a window sees, LANES channels from c on, spread. Pixels that are not
// `checked` lie in the image.
INLINE void spread_column(floatv d[4], global const float *restrict x, place at, int j, int c,
                          bool checked)
{
  const int top = 2 * at.row - PAD_T, w = 2 * at.column - PAD_L + j;
  UNROLL for (int i = 0; i < 4; i++) {
    const int h = top + i;
    const bool outside = checked && (h < 0 || h >= H || w < 0 || w >= W);
    d[i] = outside ? (floatv)0.0f : LOAD(x + (((size_t)at.n * H + h) * W + w) * C + c);
  }
  spread(d);
}

// Columns 0 and 1 are given, and become those of the window to the right.
INLINE void spread_window(float *restrict v, floatv columns[4][4], global const float *restrict x,
                          place at, int c, bool checked)
{
  spread_column(columns[2], x, at, 2, c, checked);
  spread_column(columns[3], x, at, 3, c, checked);
  UNROLL for (int i = 0; i < 4; i++) {
    floatv d[4];
    UNROLL for (int j = 0; j < 4; j++) d[j] = columns[j][i];
    spread(d);
    UNROLL for (int j = 0; j < 4; j++) STORE(d[j], v + (i * 4 + j) * V_STEP);
    columns[0][i] = columns[2][i];
    columns[1][i] = columns[3][i];
  }
}

INLINE void spread_channels(float *restrict v, global const float *restrict x, int first, int count,
                            int c)
{
  floatv columns[4][4];
  place at = place_of(first);
  for (int t = 0; t < count; t++) {
    if (t == 0 || at.column == 0) {
      spread_column(columns[0], x, at, 0, c, true);
      spread_column(columns[1], x, at, 1, c, true);
    }
    if (is_inside(at))
      spread_window(v + t * C + c, columns, x, at, c, false);
    else
      spread_window(v + t * C + c, columns, x, at, c, true);
    at = next_place(at);
  }
}

INLINE void spread_windows(float *restrict v, global const float *restrict x, int first, int count)
{
  for (int k = 0; k < VECTORS(C); k++) spread_channels(v, x, first, count, first_channel(k, C));
}

// Stores the largest of the results z of vector k of window t, and which one it is: the first of
// equal ones.
INLINE void store_largest(const floatv z[4], int t, int k, global float *restrict y,
                          global uchar *restrict winner)
{
  const size_t at = (size_t)t * F + first_channel(k, F);
  floatv best = z[0];
  intv first = 0;
  UNROLL for (int i = 1; i < 4; i++) {
    const intv more = !(z[i] <= best) & (best == best);
    best = select(best, z[i], more);
    first = select(first, (intv)i, more);
  }
  STORE(clm_activate_lanes(best), y + at);
  STORE_BYTES(first, winner + at);
}

INLINE floatv start_of(global const float *bias, int k)
{
  return BIAS ? LOAD(bias + first_channel(k, F)) : (floatv)0.0f;
}

// m [R,VT vectors] = start + v [R,C] * u [C,VT vectors].
INLINE void multiply(float *restrict m, const float *restrict v, global const float *restrict u,
                     const floatv start[VT])
{
  floatv a[R][VT];
  UNROLL for (int r = 0; r < R; r++) UNROLL for (int k = 0; k < VT; k++) a[r][k] = start[k];
  for (int c = 0; c < C; c++) {
    floatv b[VT];
    UNROLL for (int k = 0; k < VT; k++) b[k] = LOAD(u + c * BLOCK + k * LANES);
    UNROLL for (int r = 0; r < R; r++) {
      const floatv value = v[r * C + c];
      UNROLL for (int k = 0; k < VT; k++) a[r][k] = fma(value, b[k], a[r][k]);
    }
  }
  UNROLL for (int r = 0; r < R; r++) UNROLL for (int k = 0; k < VT; k++)
      STORE(a[r][k], m + r * BLOCK + k * LANES);
}

INLINE void gather(floatv y[2], const floatv m[4])
{
  y[0] = m[0] + (m[1] + m[2]);
  y[1] = (m[1] - m[2]) + m[3];
}

INLINE void gather_window(floatv z[4], const float *restrict m)
{
  floatv t[4][2];
  UNROLL for (int j = 0; j < 4; j++) {
    floatv d[4];
    UNROLL for (int i = 0; i < 4; i++) d[i] = LOAD(m + (i * 4 + j) * M_STEP);
    gather(t[j], d);
  }
  UNROLL for (int i = 0; i < 2; i++) {
    floatv d[4];
    UNROLL for (int j = 0; j < 4; j++) d[j] = t[j][i];
    gather(z + 2 * i, d);
  }
}

// Results of a block of vectors of all windows.
INLINE void multiply_windows(const float *restrict v, global const float *restrict u,
                             global const float *restrict bias, int block, int first, int count,
                             global float *restrict y, global uchar *restrict winner)
{
  float m[POINTS * M_STEP] __attribute__((aligned(64)));
  for (int xi = 0; xi < POINTS; xi++) {
    floatv start[VT];
    UNROLL for (int k = 0; k < VT; k++)
        start[k] = xi == MIDDLE ? start_of(bias, block * VT + k) : (floatv)0.0f;
    for (int t = 0; t < count; t += R)
      multiply(m + xi * M_STEP + t * BLOCK, v + xi * V_STEP + t * C,
               u + (size_t)xi * C * BLOCK, start);
  }
  for (int t = 0; t < count; t++)
    for (int k = 0; k < VT && block * VT + k < VECTORS(F); k++) {
      floatv z[4];
      gather_window(z, m + t * BLOCK + k * LANES);
      store_largest(z, first + t, block * VT + k, y, winner);
    }
}

// Item i: windows from i * windows_an_item on, of `windows` windows of all images.
CPU_KERNEL void conv2d_max_pool_winograd_cpu(global float *restrict y,
                                             global uchar *restrict winner,
                                             global const float *restrict x,
                                             global const float *restrict packed,
                                             global const float *restrict bias, int windows,
                                             int windows_an_item)
{
  float v[POINTS * V_STEP] __attribute__((aligned(64)));
  const int begin = get_global_id(0) * windows_an_item;
  const int end = min(begin + windows_an_item, windows);
  for (int first = begin; first < end; first += TILES) {
    const int count = min(TILES, end - first);
    spread_windows(v, x, first, count);
    for (int block = 0; block < BLOCKS; block++)
      multiply_windows(v, packed + (size_t)block * POINTS * C * BLOCK, bias, block, first, count, y,
                       winner);
  }
}

INLINE void spread_weights(floatv k[4], const floatv g[3])
{
  const floatv even = (g[0] + g[2]) * 0.5f, odd = g[1] * 0.5f;
  k[0] = g[0];
  k[1] = even + odd;
  k[2] = even - odd;
  k[3] = -g[2]; // so that gather() adds alone
}

// packed [BLOCKS,16,C,VT vectors]. Item (channel, block).
CPU_KERNEL void conv2d_max_pool_winograd_pack_cpu(global float *restrict packed,
                                                  global const float *restrict w)
{
  const int c = get_global_id(0), block = get_global_id(1);
  global float *u = packed + ((size_t)block * POINTS * C + c) * BLOCK;
  for (int k = 0; k < VT; k++) {
    const int f = first_channel(block * VT + k, F);
    floatv t[4][3];
    UNROLL for (int j = 0; j < 3; j++) {
      floatv g[3], spread_out[4];
      UNROLL for (int i = 0; i < 3; i++) g[i] = LOAD(w + ((size_t)(i * 3 + j) * C + c) * F + f);
      spread_weights(spread_out, g);
      UNROLL for (int i = 0; i < 4; i++) t[i][j] = spread_out[i];
    }
    UNROLL for (int i = 0; i < 4; i++) {
      floatv spread_out[4];
      spread_weights(spread_out, t[i]);
      UNROLL for (int j = 0; j < 4; j++)
          STORE(spread_out[j], u + (size_t)(i * 4 + j) * C * BLOCK + k * LANES);
    }
  }
}
