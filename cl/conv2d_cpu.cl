// conv2d, and the forward pass of conv2d_max_pool where POOL is 1, for CPUs: register tiles, groups
// of one item, no local memory.
//
// An item copies the pixels that it needs into a private patch with zeros for the padding, so that
// nothing behind it knows borders. Then it keeps a tile of results in variables, VT vectors of
// channels wide, and walks over the weights.
//
// x, dx [N,H,W,C]; w, dw [KH,KW,C,F]; bias, db [F]; z [N,OH,OW,F] the convolution's own output; y,
// dy and winner as in conv2d.cl. Groups are not known here.
// Defines: those of conv2d.cl; LANES of a vector, at most as many as there are channels to spread
// over (F; in bwd_x C); VT; in fwd and bwd_x TILE_H rows and TILE_W columns a tile (with POOL 2 and
// an even number), STRIP_W columns an item, a multiple of TILE_W; in fwd with POOL WINNERS 1 where
// winner is written; in bwd_w TILE_M weights a tile and ROWS rows at a time.
// Where the channels are no multiple of LANES, the last vector begins earlier and only the lanes
// that no vector before it has are stored.
// Determinism: every sum runs in a fixed order.

#pragma OPENCL FP_CONTRACT ON

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
#define BIAS 1
#define POOL 0
#endif
#ifndef VT
#define VT 1
#define TILE_H 2
#define TILE_W 2
#define STRIP_W 6
#define WINNERS 1
#define TILE_M 3
#define ROWS 1
#endif

#if POOL
#define YH (OH / 2)
#define YW (OW / 2)
#else
#define YH OH
#define YW OW
#endif

// Vectors over so many channels, and tiles of them.
#define VECTORS(channels) ((channels + LANES - 1) / LANES)
#define BLOCKS(channels) ((VECTORS(channels) + VT - 1) / VT)

// Where vector v begins: the last ones do so earlier where they would not fit.
HELPER int first_channel(int v, int channels) { return min(v * LANES, channels - LANES); }

// How many lanes of vector v stand in the vectors before it.
HELPER int known_lanes(int v, int channels)
{
  const bool even = channels % LANES == 0 && VECTORS(channels) % VT == 0;
  return even ? 0 : v * LANES - first_channel(v, channels);
}

HELPER void store_vector(floatv value, int v, int channels, global float *restrict pixel)
{
  const int known = known_lanes(v, channels);
  if (known == 0) {
    STORE(value, pixel + v * LANES);
    return;
  }
  float lanes[LANES];
  STORE(value, lanes);
  for (int i = known; i < LANES; i++) pixel[first_channel(v, channels) + i] = lanes[i];
}

HELPER void store_winners(intv value, int v, global uchar *restrict pixel)
{
  const int known = known_lanes(v, F);
  if (known == 0) {
    STORE_BYTES(value, pixel + v * LANES);
    return;
  }
  uchar lanes[LANES];
  STORE_BYTES(value, lanes);
  for (int i = known; i < LANES; i++) pixel[first_channel(v, F) + i] = lanes[i];
}

HELPER void clear(float *restrict target, int count)
{
  int i = 0;
  for (; i + LANES <= count; i += LANES) STORE((floatv)0.0f, target + i);
  for (; i < count; i++) target[i] = 0.0f;
}

// Where y is given, the values are gradients of it and become those before the activation.
HELPER void copy(float *restrict target, global const float *restrict source,
                 global const float *restrict y, int count)
{
  int i = 0;
  for (; i + LANES <= count; i += LANES)
    STORE(y != 0 ? LOAD(source + i) * clm_activate_slope_lanes(LOAD(y + i)) : LOAD(source + i),
          target + i);
  for (; i < count; i++) target[i] = y != 0 ? source[i] * clm_activate_slope(y[i]) : source[i];
}

// A window of rows x columns pixels, from (top,left) of the image on; zeros outside of it.
typedef struct window {
  int top, left, rows, columns;
} window;

HELPER void fill_patch(float *restrict patch, global const float *restrict image,
                       global const float *restrict y, int height, int width, int depth,
                       window seen)
{
  const int before = clamp(-seen.left, 0, seen.columns);
  const int end = clamp(width - seen.left, before, seen.columns);
  for (int r = 0; r < seen.rows; r++, patch += seen.columns * depth) {
    const bool inside = seen.top + r >= 0 && seen.top + r < height && end > before;
    if (!inside) {
      clear(patch, seen.columns * depth);
      continue;
    }
    const size_t at = ((size_t)(seen.top + r) * width + (seen.left + before)) * depth;
    clear(patch, before * depth);
    copy(patch + before * depth, image + at, y != 0 ? y + at : 0, (end - before) * depth);
    clear(patch + end * depth, (seen.columns - end) * depth);
  }
}

// Adds the products of one weight position: `depth` values a pixel, pixels row_step and column_step
// floats apart, with `depth` rows of `channels` weights.
HELPER void add_tap(floatv a[TILE_H][TILE_W][VT], const float *restrict pixel, int row_step,
                    int column_step, global const float *restrict weights, int v0, int depth,
                    int channels)
{
  for (int i = 0; i < depth; i++) {
    floatv b[VT];
    UNROLL for (int v = 0; v < VT; v++)
        b[v] = LOAD(weights + (size_t)i * channels + first_channel(v0 + v, channels));
    UNROLL for (int r = 0; r < TILE_H; r++) UNROLL for (int j = 0; j < TILE_W; j++)
    {
      const floatv value = (pixel + i)[r * row_step + j * column_step];
      UNROLL for (int v = 0; v < VT; v++) a[r][j][v] = fma(value, b[v], a[r][j][v]);
    }
  }
}

#define PATCH_H ((TILE_H - 1) * SH + (KH - 1) * DH + 1)
#define PATCH_W ((STRIP_W - 1) * SW + (KW - 1) * DW + 1)

#if POOL
HELPER void store_tile(floatv a[TILE_H][TILE_W][VT], int n, int oh, int ow, int v0,
                       global float *restrict y, global uchar *restrict winner)
{
  UNROLL for (int j = 0; j < TILE_W / 2; j++) {
    if (YW % (TILE_W / 2) != 0 && ow / 2 + j >= YW) break;
    const size_t at = (((size_t)n * YH + oh / 2) * YW + ow / 2 + j) * F;
    UNROLL for (int v = 0; v < VT; v++) {
      floatv best = a[0][2 * j][v];
      intv first = 0;
      UNROLL for (int k = 1; k < 4; k++) {
        const floatv other = a[k / 2][2 * j + k % 2][v];
        const intv more = (other > best) | ((other != other) & (best == best));
        best = select(best, other, more);
        first = select(first, (intv)k, more);
      }
      store_vector(clm_activate_lanes(best), v0 + v, F, y + at);
#if WINNERS
      store_winners(first, v0 + v, winner + at);
#endif
    }
  }
}
#else
HELPER void store_tile(floatv a[TILE_H][TILE_W][VT], int n, int oh, int ow, int v0,
                       global float *restrict y, global uchar *restrict winner)
{
  UNROLL for (int r = 0; r < TILE_H; r++) UNROLL for (int j = 0; j < TILE_W; j++)
  {
    const size_t at = (((size_t)n * OH + oh + r) * OW + ow + j) * F;
    if (oh + r < OH && ow + j < OW)
      UNROLL for (int v = 0; v < VT; v++)
          store_vector(clm_activate_lanes(a[r][j][v]), v0 + v, F, y + at);
  }
}
#endif

// Item (block of filters and strip of columns, TILE_H rows of z, image).
CPU_KERNEL void conv2d_fwd_cpu(global float *restrict y, global uchar *restrict winner,
                               global const float *restrict x, global const float *restrict w,
                               global const float *restrict bias)
{
  const int v0 = get_global_id(0) % BLOCKS(F) * VT;
  const int ow0 = get_global_id(0) / BLOCKS(F) * STRIP_W;
  const int oh = get_global_id(1) * TILE_H, n = get_global_id(2);
  float patch[PATCH_H * PATCH_W * C];
  const window seen = {oh * SH - PAD_T, ow0 * SW - PAD_L, PATCH_H, PATCH_W};
  fill_patch(patch, x + (size_t)n * H * W * C, 0, H, W, C, seen);
  for (int ow = ow0; ow < min(ow0 + STRIP_W, POOL ? 2 * YW : OW); ow += TILE_W) {
    floatv a[TILE_H][TILE_W][VT];
    UNROLL for (int v = 0; v < VT; v++) {
      const floatv start = BIAS ? LOAD(bias + first_channel(v0 + v, F)) : (floatv)0.0f;
      UNROLL for (int r = 0; r < TILE_H; r++) UNROLL for (int j = 0; j < TILE_W; j++)
          a[r][j][v] = start;
    }
    for (int kh = 0; kh < KH; kh++)
      for (int kw = 0; kw < KW; kw++)
        add_tap(a, patch + (kh * DH * PATCH_W + (ow - ow0) * SW + kw * DW) * C,
                SH * PATCH_W * C, SW * C, w + (size_t)(kh * KW + kw) * C * F, v0, C, F);
    store_tile(a, n, oh, ow, v0, y, winner);
  }
}

// packed [KH,KW,F,C] = w with its last two axes swapped. Item (filter, position).
CPU_KERNEL void conv2d_pack_cpu(global float *restrict packed, global const float *restrict w)
{
  const int f = get_global_id(0);
  const size_t tap = (size_t)get_global_id(1) * C * F;
  for (int c = 0; c < C; c++) packed[tap + (size_t)f * C + c] = w[tap + (size_t)c * F + f];
}

// Pixels (i * SH + phase) of dx see dz like a convolution of stride 1, from BACK_H rows before to
// AHEAD_H rows behind row i, of which each phase uses those positions of w that fall on whole rows.
#define BACK_H (((KH - 1) * DH - PAD_T + SH - 1) / SH)
#define BACK_W (((KW - 1) * DW - PAD_L + SW - 1) / SW)
#define AHEAD_H ((SH - 1 + PAD_T) / SH)
#define AHEAD_W ((SW - 1 + PAD_L) / SW)
#define SEEN_H (TILE_H + BACK_H + AHEAD_H)
#define SEEN_W (STRIP_W + BACK_W + AHEAD_W)
#define STRIPS ((W + SW * STRIP_W - 1) / (SW * STRIP_W))

// Item (block of channels and strip and phase of columns, tile and phase of rows, image).
CPU_KERNEL void conv2d_bwd_x_cpu(global float *restrict dx, global const float *restrict dy,
                                 global const float *restrict y,
                                 global const float *restrict packed)
{
  const int v0 = get_global_id(0) % BLOCKS(C) * VT;
  const int j0 = get_global_id(0) / BLOCKS(C) % STRIPS * STRIP_W;
  const int phase_w = get_global_id(0) / BLOCKS(C) / STRIPS;
  const int i0 = get_global_id(1) / SH * TILE_H, phase_h = get_global_id(1) % SH;
  const int n = get_global_id(2);
  const size_t image = (size_t)n * OH * OW * F;
  float patch[SEEN_H * SEEN_W * F];
  const window seen = {i0 - BACK_H, j0 - BACK_W, SEEN_H, SEEN_W};
  fill_patch(patch, dy + image, ACTIVATION == ACTIVATION_LINEAR ? 0 : y + image, OH, OW, F, seen);
  for (int j = j0; j < j0 + STRIP_W && j * SW + phase_w < W; j += TILE_W) {
    floatv a[TILE_H][TILE_W][VT];
    UNROLL for (int r = 0; r < TILE_H; r++) UNROLL for (int k = 0; k < TILE_W; k++)
        UNROLL for (int v = 0; v < VT; v++) a[r][k][v] = 0.0f;
    for (int kh = 0; kh < KH; kh++) {
      const int down = phase_h + PAD_T - kh * DH;
      if (down % SH != 0) continue;
      for (int kw = 0; kw < KW; kw++) {
        const int right = phase_w + PAD_L - kw * DW;
        if (right % SW != 0) continue;
        add_tap(a, patch + ((down / SH + BACK_H) * SEEN_W + j - j0 + right / SW + BACK_W) * F,
                SEEN_W * F, F, packed + (size_t)(kh * KW + kw) * F * C, v0, F, C);
      }
    }
    UNROLL for (int r = 0; r < TILE_H; r++) UNROLL for (int k = 0; k < TILE_W; k++)
    {
      const int ih = (i0 + r) * SH + phase_h, iw = (j + k) * SW + phase_w;
      if (ih < H && iw < W)
        UNROLL for (int v = 0; v < VT; v++)
            store_vector(a[r][k][v], v0 + v, C, dx + (((size_t)n * H + ih) * W + iw) * C);
    }
  }
}

// The weights that touch one output are runs of SPAN neighbouring values, in w as in x.
#if DW == 1
#define RUNS KH
#define SPAN (KW * C)
#define RUN_AT(s) ((s) * DH * BLOCK_W * C)
#else
#define RUNS (KH * KW)
#define SPAN C
#define RUN_AT(s) (((s) / KW * DH * BLOCK_W + (s) % KW * DW) * C)
#endif
#define WEIGHTS (KH * KW * C)
// Sums have lanes of their own for every vector, so that items share none.
#define SUM_LANES (BLOCKS(F) * VT * LANES)
// Pixels that ROWS rows of z see.
#define BLOCK_H ((ROWS - 1) * SH + (KH - 1) * DH + 1)
#define BLOCK_W ((OW - 1) * SW + (KW - 1) * DW + 1)

// The gradients of ROWS rows of z from oh on, of VT vectors from v0 on; zeros below the image.
HELPER void fill_gradients(float *restrict dz, global const float *restrict dy,
                           global const float *restrict y, int oh, int v0)
{
  const int pixels = min(ROWS, OH - oh) * OW;
  for (int q = 0; q < pixels; q++)
    UNROLL for (int v = 0; v < VT; v++) {
      const size_t at = ((size_t)oh * OW + q) * F + first_channel(v0 + v, F);
#if ACTIVATION == ACTIVATION_LINEAR
      STORE(LOAD(dy + at), dz + (q * VT + v) * LANES);
#else
      STORE(LOAD(dy + at) * clm_activate_slope_lanes(LOAD(y + at)), dz + (q * VT + v) * LANES);
#endif
    }
  clear(dz + pixels * VT * LANES, (ROWS * OW - pixels) * VT * LANES);
}

// Adds to TILE_M weights from `values` on what the pixels give them; those before `known` have it.
HELPER void add_weights(global float *restrict sums, const float *restrict values,
                        const float *restrict dz, int known)
{
  floatv a[TILE_M][VT];
  UNROLL for (int m = 0; m < TILE_M; m++) UNROLL for (int v = 0; v < VT; v++)
      a[m][v] = LOAD(sums + (size_t)m * SUM_LANES + v * LANES);
  for (int r = 0; r < ROWS; r++)
    for (int ow = 0; ow < OW; ow++) {
      const float *pixel = values + (r * SH * BLOCK_W + ow * SW) * C;
      floatv d[VT];
      UNROLL for (int v = 0; v < VT; v++) d[v] = LOAD(dz + ((r * OW + ow) * VT + v) * LANES);
      UNROLL for (int m = 0; m < TILE_M; m++) {
        const floatv value = pixel[m];
        UNROLL for (int v = 0; v < VT; v++) a[m][v] = fma(value, d[v], a[m][v]);
      }
    }
  UNROLL for (int m = 0; m < TILE_M; m++)
    if (SPAN % TILE_M == 0 || m >= known)
      UNROLL for (int v = 0; v < VT; v++) STORE(a[m][v], sums + (size_t)m * SUM_LANES + v * LANES);
}

// partial [parts,WEIGHTS + 1,SUM_LANES], the last row for the bias.
// Item (block of filters, part): the sums over its share of the blocks of ROWS rows.
CPU_KERNEL void conv2d_bwd_w_cpu(global float *restrict partial, global const float *restrict x,
                                 global const float *restrict dy, global const float *restrict y,
                                 int batch)
{
  const int v0 = get_global_id(0) * VT, part = get_global_id(1), parts = get_global_size(1);
  const int blocks = (OH + ROWS - 1) / ROWS, all = batch * blocks;
  const int first = (int)((long)all * part / parts), end = (int)((long)all * (part + 1) / parts);
  global float *sums = partial + (size_t)part * (WEIGHTS + 1) * SUM_LANES + v0 * LANES;
  float patch[BLOCK_H * BLOCK_W * C], dz[ROWS * OW * VT * LANES];
  floatv db[VT];
  for (int m = 0; m < WEIGHTS; m++)
    UNROLL for (int v = 0; v < VT; v++)
        STORE((floatv)0.0f, sums + (size_t)m * SUM_LANES + v * LANES);
  UNROLL for (int v = 0; v < VT; v++) db[v] = 0.0f;
  for (int block = first; block < end; block++) {
    const int n = block / blocks, oh = block % blocks * ROWS;
    const window seen = {oh * SH - PAD_T, -PAD_L, BLOCK_H, BLOCK_W};
    fill_patch(patch, x + (size_t)n * H * W * C, 0, H, W, C, seen);
    fill_gradients(dz, dy + (size_t)n * OH * OW * F, y + (size_t)n * OH * OW * F, oh, v0);
    for (int q = 0; q < ROWS * OW; q++)
      UNROLL for (int v = 0; v < VT; v++) db[v] += LOAD(dz + (q * VT + v) * LANES);
    for (int s = 0; s < RUNS; s++)
      for (int m = 0; m < SPAN; m += TILE_M) {
        const int begin = min(m, SPAN - TILE_M);
        add_weights(sums + (size_t)(s * SPAN + begin) * SUM_LANES, patch + RUN_AT(s) + begin, dz,
                    m - begin);
      }
  }
  UNROLL for (int v = 0; v < VT; v++)
      STORE(db[v], sums + (size_t)WEIGHTS * SUM_LANES + v * LANES);
}

// Item i: row i of the sums, in the order of their parts.
CPU_KERNEL void conv2d_reduce_cpu(global float *restrict dw, global float *restrict db,
                                  global const float *restrict partial, int parts)
{
  const int row = get_global_id(0);
  global float *target = row < WEIGHTS ? dw + (size_t)row * F : db;
  for (int v = 0; v < VECTORS(F); v++) {
    floatv sum = 0.0f;
    for (int part = 0; part < parts; part++)
      sum += LOAD(partial + ((size_t)part * (WEIGHTS + 1) + row) * SUM_LANES + v * LANES);
    STORE(sum, target + first_channel(v, F));
  }
}
