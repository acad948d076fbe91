// conv2d and conv2d_max_pool for CPUs by Winograd's F(4x4,3x3): a tile of 4x4 results of a 3x3
// convolution of stride 1 needs 36 products a channel and filter instead of 144.
//
// The 6x6 pixels that a tile sees are spread to 36 numbers, each of which meets one number told
// from the weights; the sums over the channels are gathered to the 4x4 results. An item does this
// for TILES tiles at a time, so that the products are matrices: 36 times [TILES,channels] by
// [channels,filters], by register tiles of R x VT vectors. In between nothing leaves the cache.
// The gradient of x is such a convolution of dz with turned weights. The gradient of w is the same
// with other ends: both x and dz are spread, and the sums over all tiles gathered to 3x3.
//
// Groups of one item, no local memory. x, dx [N,H,W,C]; w, dw [3,3,C,F]; bias, db [F]; y, dy and
// winner as in conv2d.cl: behind a pool [N,YH,YW,F]. Behind a pool, forward serves inference alone
// and tells no winner: equal sums round apart by chance, and the first of them must win.
// Defines: those of conv2d.cl; TO_X 1 for the gradient of x, TO_W 1 for that of w; LANES of a
// vector, at most as many as C and F; VT, R, TILES a multiple of R. Where channels are no multiple
// of LANES, the last vector begins earlier.
// Rounding: sums of one tile round by the largest of its pixels. Determinism: fixed order.

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
#define POOL 0
#define TO_X 0
#define TO_W 0
#define VT 1
#define R 8
#define TILES 8
#endif

#define YH (OH / 2)
#define YW (OW / 2)
#define UP(count, step) (((count) + (step)-1) / (step) * (step))
#if TO_X
#define PIXEL dz_pixel
#define IN_C F
#define OUT_H H
#define OUT_W W
#define OUT_C C
#else
#define PIXEL x_pixel
#define IN_C C
#define OUT_C F
#define OUT_H (POOL ? 2 * YH : OH)
#define OUT_W (POOL ? 2 * YW : OW)
#endif
#define ROWS UP(OUT_H, 4) / 4
#define COLUMNS UP(OUT_W, 4) / 4
#define VECTORS(channels) (((channels) + LANES - 1) / LANES)
#define BLOCK (VT * LANES)
#define BLOCKS (UP(OUT_C, BLOCK) / BLOCK)
#define IN_STEP UP(IN_C, R)
// Where x is spread to.
#define SCRATCH_0 private
#define SCRATCH_1 global
#define SCRATCH JOIN(SCRATCH_, TO_W)
// Not a multiple of 4 KB, which would share a place in the cache.
#define V_STEP (TILES * IN_STEP + 16)
#define M_STEP (TILES * BLOCK + 16)

INLINE int first_channel(int v, int channels) { return min(v * LANES, channels - LANES); }

// Where a tile lies.
typedef struct place {
  int n, row, column;
} place;

INLINE place place_of(int tile)
{
  const int row = tile / (COLUMNS);
  const place at = {row / (ROWS), row % (ROWS), tile % (COLUMNS)};
  return at;
}

// What is spread: x, or dz told from dy, y and winner.
typedef struct source {
  global const float *values;
  global const float *y;
  global const uchar *winner;
} source;

// Pixel (i,j) from the tile's corner of x. One that is not `checked` lies in the image.
INLINE floatv x_pixel(source from, place at, int i, int j, int c, bool checked)
{
  const int h = 4 * at.row + i, w = 4 * at.column + j;
  if (checked && (h < 0 || h >= H || w < 0 || w >= W)) return (floatv)0.0f;
  return LOAD(from.values + (((size_t)at.n * H + h) * W + w) * C + c);
}

// The same of dz.
INLINE floatv dz_pixel(source from, place at, int i, int j, int f, bool checked)
{
#if POOL
  const int h = 2 * at.row + (i >> 1), w = 2 * at.column + (j >> 1);
  if (checked && (h < 0 || h >= YH || w < 0 || w >= YW)) return (floatv)0.0f;
  const size_t o = (((size_t)at.n * YH + h) * YW + w) * F + f;
  intv wins = LOAD_BYTES(from.winner + o) == (intv)((i & 1) * 2 + (j & 1));
#if ACTIVATION == ACTIVATION_RELU
  wins &= LOAD(from.y + o) > (floatv)0.0f;
#endif
  return select((floatv)0.0f, LOAD(from.values + o), wins);
#else
  const int h = 4 * at.row + i, w = 4 * at.column + j;
  if (checked && (h < 0 || h >= OH || w < 0 || w >= OW)) return (floatv)0.0f;
  const size_t o = (((size_t)at.n * OH + h) * OW + w) * F + f;
  const floatv dy = LOAD(from.values + o);
  return ACTIVATION == ACTIVATION_LINEAR ? dy : dy * clm_activate_slope_lanes(LOAD(from.y + o));
#endif
}

// Whether `size` rows and columns from (i,j) of the tile on lie in an image of that height.
INLINE bool is_inside(place at, int i, int j, int size, int height, int width)
{
  const int h = 4 * at.row + i, w = 4 * at.column + j;
  return h >= 0 && w >= 0 && h + size <= height && w + size <= width;
}

// The points are 0, +-POINT, +-2 * POINT and infinity. With 11/16, sums round about as those of the
// plain convolution do; with 1, which spares products, four times as much.
#define POINT 0.6875f
#define NEAR (POINT * POINT)
#define FAR (4.0f * NEAR)
// What the sums at a point are divided by: its distances from the others.
#define SCALE_0 (1.0f / (NEAR * FAR))
#define SCALE_1 (1.0f / (2.0f * NEAR * (NEAR - FAR)))
#define SCALE_2 (1.0f / (2.0f * FAR * (FAR - NEAR)))

INLINE void spread(floatv d[6])
{
  const floatv even = fma((floatv)-FAR, d[2], d[4]), odd = fma((floatv)-FAR, d[1], d[3]);
  const floatv even2 = fma((floatv)-NEAR, d[2], d[4]), odd2 = fma((floatv)-NEAR, d[1], d[3]);
  const floatv first = fma((floatv)-NEAR, d[0], d[2]), last = fma((floatv)-NEAR, d[3], d[5]);
  d[0] = fma((floatv)-FAR, first, even2);
  d[5] = fma((floatv)-FAR, odd2, last);
  d[1] = fma((floatv)POINT, odd, even);
  d[2] = fma((floatv)-POINT, odd, even);
  d[3] = fma((floatv)(2.0f * POINT), odd2, even2);
  d[4] = fma((floatv)(-2.0f * POINT), odd2, even2);
}

// Spreads the pixels from (top,left) of the tile on, LANES channels from c on.
INLINE void spread_pixels(SCRATCH float *restrict v, source from, place at, int top, int left,
                          int c)
{
  floatv t[6][6];
  UNROLL for (int j = 0; j < 6; j++) {
    floatv d[6];
    UNROLL for (int i = 0; i < 6; i++) d[i] = PIXEL(from, at, top + i, left + j, c, false);
    spread(d);
    UNROLL for (int i = 0; i < 6; i++) t[i][j] = d[i];
  }
  UNROLL for (int i = 0; i < 6; i++) {
    spread(t[i]);
    UNROLL for (int j = 0; j < 6; j++) STORE(t[i][j], v + (i * 6 + j) * V_STEP + c);
  }
}

// The same for a tile at an edge: few enough for loops.
INLINE void spread_edge_pixels(SCRATCH float *restrict v, source from, place at, int top, int left,
                               int c)
{
  floatv t[6][6];
  ONCE for (int j = 0; j < 6; j++) {
    floatv d[6];
    ONCE for (int i = 0; i < 6; i++) d[i] = PIXEL(from, at, top + i, left + j, c, true);
    spread(d);
    UNROLL for (int i = 0; i < 6; i++) t[i][j] = d[i];
  }
  ONCE for (int i = 0; i < 6; i++) {
    spread(t[i]);
    UNROLL for (int j = 0; j < 6; j++) STORE(t[i][j], v + (i * 6 + j) * V_STEP + c);
  }
}

INLINE void spread_tile(SCRATCH float *restrict v, source from, place at)
{
#if TO_X
  const int top = PAD_T - 2, left = PAD_L - 2;
  const bool inside = is_inside(at, top, left, 6, POOL ? 2 * YH : OH, POOL ? 2 * YW : OW);
#else
  const int top = -PAD_T, left = -PAD_L;
  const bool inside = is_inside(at, top, left, 6, H, W);
#endif
  for (int k = 0; k < VECTORS(IN_C); k++) {
    const int c = first_channel(k, IN_C);
    if (inside)
      spread_pixels(v, from, at, top, left, c);
    else
      spread_edge_pixels(v, from, at, top, left, c);
  }
}

#if !TO_W // ---- results that are images ----

// m [R,VT vectors] = v [R,IN_C] * u [IN_C,VT vectors].
INLINE void multiply(float *restrict m, const float *restrict v, global const float *restrict u)
{
  floatv a[R][VT];
  UNROLL for (int r = 0; r < R; r++) UNROLL for (int k = 0; k < VT; k++) a[r][k] = 0.0f;
  for (int c = 0; c < IN_C; c++) {
    floatv b[VT];
    UNROLL for (int k = 0; k < VT; k++) b[k] = LOAD(u + c * BLOCK + k * LANES);
    UNROLL for (int r = 0; r < R; r++) {
      const floatv value = v[r * IN_STEP + c];
      UNROLL for (int k = 0; k < VT; k++) a[r][k] = fma(value, b[k], a[r][k]);
    }
  }
  UNROLL for (int r = 0; r < R; r++) UNROLL for (int k = 0; k < VT; k++)
      STORE(a[r][k], m + r * BLOCK + k * LANES);
}

INLINE void gather(floatv y[4], const floatv m[6])
{
  const floatv s = m[1] + m[2], d = m[1] - m[2], s2 = m[3] + m[4], d2 = m[3] - m[4];
  y[0] = m[0] + s + s2;
  y[1] = fma((floatv)2.0f, d2, d) * POINT;
  y[2] = fma((floatv)4.0f, s2, s) * NEAR;
  y[3] = fma(fma((floatv)8.0f, d2, d), (floatv)(POINT * NEAR), m[5]);
}

#if POOL && !TO_X
INLINE void store_results(floatv z[4][4], place at, int f, global float *restrict y)
{
  UNROLL for (int i = 0; i < 2; i++) UNROLL for (int j = 0; j < 2; j++)
  {
    const int h = 2 * at.row + i, w = 2 * at.column + j;
    if (h >= YH || w >= YW) continue;
    const size_t o = (((size_t)at.n * YH + h) * YW + w) * F + f;
    floatv best = z[2 * i][2 * j];
    UNROLL for (int k = 1; k < 4; k++) {
      const floatv other = z[2 * i + k / 2][2 * j + k % 2];
      best = select(best, other, (other > best) | ((other != other) & (best == best)));
    }
    STORE(clm_activate_lanes(best), y + o);
  }
}
#else
INLINE void store_results(floatv z[4][4], place at, int f, global float *restrict y)
{
  UNROLL for (int i = 0; i < 4; i++) UNROLL for (int j = 0; j < 4; j++)
  {
    const int h = 4 * at.row + i, w = 4 * at.column + j;
    if (h >= OUT_H || w >= OUT_W) continue;
    const floatv value = TO_X ? z[i][j] : clm_activate_lanes(z[i][j]);
    STORE(value, y + (((size_t)at.n * OUT_H + h) * OUT_W + w) * OUT_C + f);
  }
}
#endif

INLINE void gather_tile(const float *restrict m, place at, int f, global const float *bias,
                        global float *restrict y)
{
  floatv t[6][4], z[4][4];
  UNROLL for (int j = 0; j < 6; j++) {
    floatv d[6];
    UNROLL for (int i = 0; i < 6; i++) d[i] = LOAD(m + (i * 6 + j) * M_STEP);
    gather(t[j], d);
  }
  const floatv start = (BIAS * !TO_X) ? LOAD(bias + f) : (floatv)0.0f;
  UNROLL for (int i = 0; i < 4; i++) {
    floatv d[6];
    UNROLL for (int j = 0; j < 6; j++) d[j] = t[j][i];
    gather(z[i], d);
    UNROLL for (int j = 0; j < 4; j++) z[i][j] += start;
  }
  store_results(z, at, f, y);
}

// y is y or dx. Item i: tiles from i * tiles_an_item on, of `tiles` tiles of all images.
CPU_KERNEL void conv2d_winograd_cpu(global float *restrict y,
                                    global const float *restrict values,
                                    global const float *restrict before,
                                    global const uchar *restrict won,
                                    global const float *restrict packed,
                                    global const float *restrict bias, int tiles,
                                    int tiles_an_item)
{
  float v[36 * V_STEP] __attribute__((aligned(64))), m[36 * M_STEP] __attribute__((aligned(64)));
  const source from = {values, before, won};
  const int begin = get_global_id(0) * tiles_an_item, end = min(begin + tiles_an_item, tiles);
  for (int first = begin; first < end; first += TILES) {
    const int count = min(TILES, end - first);
    for (int t = 0; t < count; t++) spread_tile(v + t * IN_STEP, from, place_of(first + t));
    for (int block = 0; block < BLOCKS; block++) {
      global const float *u = packed + (size_t)block * 36 * IN_C * BLOCK;
      for (int xi = 0; xi < 36; xi++)
        for (int t = 0; t < count; t += R)
          multiply(m + xi * M_STEP + t * BLOCK, v + xi * V_STEP + t * IN_STEP,
                   u + (size_t)xi * IN_C * BLOCK);
      for (int t = 0; t < count; t++)
        for (int k = 0; k < VT && block * VT + k < VECTORS(OUT_C); k++)
          gather_tile(m + t * BLOCK + k * LANES, place_of(first + t),
                      first_channel(block * VT + k, OUT_C), bias, y);
    }
  }
}

INLINE void spread_weights(floatv k[6], const floatv g[3])
{
  const floatv even = fma((floatv)NEAR, g[2], g[0]) * SCALE_1, odd = g[1] * (SCALE_1 * POINT);
  const floatv even2 = fma((floatv)FAR, g[2], g[0]) * SCALE_2;
  const floatv odd2 = g[1] * (SCALE_2 * 2.0f * POINT);
  k[0] = g[0] * SCALE_0;
  k[1] = even + odd;
  k[2] = even - odd;
  k[3] = even2 + odd2;
  k[4] = even2 - odd2;
  k[5] = g[2];
}

// Weights of one position and input channel, for the vector of output channels from c on.
INLINE floatv tap_weights(global const float *restrict w, int tap, int in, int out)
{
#if TO_X
  float lanes[LANES];
  for (int i = 0; i < LANES; i++) lanes[i] = w[((size_t)(8 - tap) * C + out + i) * F + in];
  return LOAD(lanes);
#else
  return LOAD(w + ((size_t)tap * C + in) * F + out);
#endif
}

// packed [BLOCKS,36,IN_C,VT vectors]. Item (input channel, block).
CPU_KERNEL void conv2d_winograd_pack_cpu(global float *restrict packed,
                                         global const float *restrict w)
{
  const int in = get_global_id(0), block = get_global_id(1);
  global float *u = packed + ((size_t)block * 36 * IN_C + in) * BLOCK;
  for (int k = 0; k < VT; k++) {
    const int out = first_channel(block * VT + k, OUT_C);
    floatv t[6][3];
    UNROLL for (int j = 0; j < 3; j++) {
      floatv g[3], spread_out[6];
      UNROLL for (int i = 0; i < 3; i++) g[i] = tap_weights(w, i * 3 + j, in, out);
      spread_weights(spread_out, g);
      UNROLL for (int i = 0; i < 6; i++) t[i][j] = spread_out[i];
    }
    UNROLL for (int i = 0; i < 6; i++) {
      floatv spread_out[6];
      spread_weights(spread_out, t[i]);
      UNROLL for (int j = 0; j < 6; j++)
          STORE(spread_out[j], u + (size_t)(i * 6 + j) * IN_C * BLOCK + k * LANES);
    }
  }
}

#else // ---- gradients of the weights ----

// A part of the workspace: sums [36,IN_STEP,F_STEP], those of the bias [F_STEP], then scratch.
#define F_STEP (BLOCKS * BLOCK)
#define Z_STEP (TILES * F_STEP + 16)
#define SUMS_STEP (IN_STEP * F_STEP)
#define PART_FLOATS (36 * (SUMS_STEP + V_STEP + Z_STEP) + F_STEP)

INLINE void spread_gradient(floatv z[6], const floatv g[4])
{
  const floatv even = fma((floatv)NEAR, g[2], g[0]), odd = fma((floatv)NEAR, g[3], g[1]);
  const floatv even2 = fma((floatv)FAR, g[2], g[0]), odd2 = fma((floatv)FAR, g[3], g[1]);
  z[0] = g[0];
  z[1] = fma((floatv)POINT, odd, even);
  z[2] = fma((floatv)-POINT, odd, even);
  z[3] = fma((floatv)(2.0f * POINT), odd2, even2);
  z[4] = fma((floatv)(-2.0f * POINT), odd2, even2);
  z[5] = g[3];
}

// Spreads the gradients of a tile, and adds them to those of the bias.
INLINE void spread_gradients(global float *restrict z, global float *restrict db, source from,
                             place at, int f, bool checked)
{
  floatv t[6][4], sum = 0.0f;
  UNROLL for (int j = 0; j < 4; j++) {
    floatv g[4], spread_out[6];
    UNROLL for (int i = 0; i < 4; i++) g[i] = dz_pixel(from, at, i, j, f, checked);
    sum += (g[0] + g[1]) + (g[2] + g[3]);
    spread_gradient(spread_out, g);
    UNROLL for (int i = 0; i < 6; i++) t[i][j] = spread_out[i];
  }
  STORE(LOAD(db) + sum, db);
  UNROLL for (int i = 0; i < 6; i++) {
    floatv spread_out[6];
    spread_gradient(spread_out, t[i]);
    UNROLL for (int j = 0; j < 6; j++) STORE(spread_out[j], z + (i * 6 + j) * Z_STEP);
  }
}

INLINE void spread_gradient_tile(global float *restrict z, global float *restrict db, source from,
                                 place at)
{
  const bool inside = is_inside(at, 0, 0, 4, OH, OW);
  for (int k = 0; k < VECTORS(F); k++) {
    const int f = first_channel(k, F);
    if (inside)
      spread_gradients(z + k * LANES, db + k * LANES, from, at, f, false);
    else
      spread_gradients(z + k * LANES, db + k * LANES, from, at, f, true);
  }
}

// sums [R,VT vectors] += v [count,R] turned * z [count,VT vectors].
INLINE void add_products(global float *restrict sums, global const float *restrict v,
                         global const float *restrict z, int count)
{
  floatv a[R][VT];
  UNROLL for (int r = 0; r < R; r++) UNROLL for (int k = 0; k < VT; k++)
      a[r][k] = LOAD(sums + r * F_STEP + k * LANES);
  for (int t = 0; t < count; t++) {
    floatv b[VT];
    UNROLL for (int k = 0; k < VT; k++) b[k] = LOAD(z + t * F_STEP + k * LANES);
    UNROLL for (int r = 0; r < R; r++) {
      const floatv value = v[t * IN_STEP + r];
      UNROLL for (int k = 0; k < VT; k++) a[r][k] = fma(value, b[k], a[r][k]);
    }
  }
  UNROLL for (int r = 0; r < R; r++) UNROLL for (int k = 0; k < VT; k++)
      STORE(a[r][k], sums + r * F_STEP + k * LANES);
}

// Item: part of the tiles.
CPU_KERNEL void conv2d_winograd_bwd_w_cpu(global float *restrict workspace,
                                          global const float *restrict x,
                                          global const float *restrict dy,
                                          global const float *restrict y,
                                          global const uchar *restrict winner, int tiles)
{
  const int part = get_global_id(0), parts = get_global_size(0);
  const int begin = (int)((long)tiles * part / parts);
  const int end = (int)((long)tiles * (part + 1) / parts);
  global float *restrict sums = workspace + (size_t)part * PART_FLOATS;
  global float *restrict db = sums + 36 * SUMS_STEP;
  global float *restrict v = db + F_STEP, *restrict z = v + 36 * V_STEP;
  const source images = {x, 0, 0}, gradients = {dy, y, winner};
  for (int i = 0; i < 36 * SUMS_STEP + F_STEP; i += LANES) STORE((floatv)0.0f, sums + i);
  for (int i = 0; i < 36 * (V_STEP + Z_STEP); i++) v[i] = 0.0f;
  for (int first = begin; first < end; first += TILES) {
    const int count = min(TILES, end - first);
    for (int t = 0; t < count; t++) {
      const place at = place_of(first + t);
      spread_tile(v + t * IN_STEP, images, at);
      spread_gradient_tile(z + t * F_STEP, db, gradients, at);
    }
    for (int xi = 0; xi < 36; xi++)
      for (int f = 0; f < F_STEP; f += BLOCK)
        for (int c = 0; c < IN_STEP; c += R)
          add_products(sums + (xi * IN_STEP + c) * F_STEP + f, v + xi * V_STEP + c,
                       z + xi * Z_STEP + f, count);
  }
}

INLINE void gather_weights(floatv w[3], const floatv m[6])
{
  const floatv near = (m[1] + m[2]) * SCALE_1, far = (m[3] + m[4]) * SCALE_2;
  const floatv d = (m[1] - m[2]) * SCALE_1, d2 = (m[3] - m[4]) * SCALE_2;
  w[0] = fma(m[0], (floatv)SCALE_0, near + far);
  w[1] = fma((floatv)2.0f, d2, d) * POINT;
  w[2] = fma((floatv)4.0f, far, near) * NEAR + m[5];
}

// Item: channel, the last one for the bias. The parts are added in order.
CPU_KERNEL void conv2d_winograd_reduce_cpu(global float *restrict dw, global float *restrict db,
                                           global const float *restrict workspace, int parts)
{
  const int c = get_global_id(0);
  for (int k = 0; k < VECTORS(F); k++) {
    const int f = first_channel(k, F);
    if (c == C) {
      floatv sum = 0.0f;
      for (int part = 0; part < parts; part++)
        sum += LOAD(workspace + (size_t)part * PART_FLOATS + 36 * SUMS_STEP + k * LANES);
      STORE(sum, db + f);
      continue;
    }
    floatv m[36], t[6][3];
    UNROLL for (int xi = 0; xi < 36; xi++) m[xi] = 0.0f;
    for (int part = 0; part < parts; part++) {
      global const float *sums =
          workspace + (size_t)part * PART_FLOATS + c * F_STEP + k * LANES;
      UNROLL for (int xi = 0; xi < 36; xi++) m[xi] += LOAD(sums + xi * SUMS_STEP);
    }
    UNROLL for (int i = 0; i < 6; i++) gather_weights(t[i], m + i * 6);
    UNROLL for (int j = 0; j < 3; j++) {
      floatv d[6], column[3];
      UNROLL for (int i = 0; i < 6; i++) d[i] = t[i][j];
      gather_weights(column, d);
      UNROLL for (int i = 0; i < 3; i++)
          STORE(column[i], dw + ((size_t)(i * 3 + j) * C + c) * F + f);
    }
  }
}
#endif
