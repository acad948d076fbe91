// conv2d_max_pool for CPUs, backward: groups of one item, no local memory. Forward is in
// conv2d_cpu.cl.
//
// Of each 2x2 window only the winner has a gradient, so a quarter of the products is enough. The
// outputs that have one are put into short lists without a branch; then the lists are walked with
// full vectors. The weights that touch one output are RUNS runs of SPAN neighbouring values, in w
// as in x; a run is handled as SPAN_VECTORS vectors, whose lanes behind its end are thrown away.
//
// x, dx [N,H,W,C]; w, dw [KH,KW,C,F]; db [F]; y, dy, winner [N,YH,YW,F], see conv2d.cl.
// packed [F,FILTER_FLOATS]: the runs of each filter. partial [parts,F,FILTER_FLOATS], then
// [parts,F] for the bias.
// Defines: those of conv2d.cl (strides and groups are 1); LANES of a vector, at most F; a tile is
// TILE_S runs (a divisor of RUNS, 1 where DW is not) of TILE_V vectors, SPLIT sums for each; in
// bwd_w ROWS rows of y at a time; FEW 1 for bwd_w_few.
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
#define DH 1
#define DW 1
#define PAD_T 1
#define PAD_L 1
#define BIAS 1
#endif
#ifndef LANES
#error LANES is not defined
#endif
#ifndef TILE_S
#define TILE_S 3
#define TILE_V 1
#define SPLIT 2
#define ROWS 1
#define FEW 1
#endif

#define YH (OH / 2)
#define YW (OW / 2)
// Pixels that ROWS rows of y see.
#define SEEN_H (2 * ROWS + (KH - 1) * DH)
#define SEEN_W (2 * YW + (KW - 1) * DW)
// RUN_AT: where a run begins, counted from the pixel of the first weight.
#if DW == 1
#define RUNS KH
#define SPAN (KW * C)
#define RUN_AT(s) ((s) * DH * SEEN_W * C)
#else
#define RUNS (KH * KW)
#define SPAN C
#define RUN_AT(s) (((s) / KW * DH * SEEN_W + (s) % KW * DW) * C)
#endif
#define SPAN_VECTORS ((SPAN + TILE_V * LANES - 1) / (TILE_V * LANES) * TILE_V)
#define SPAN_FLOATS (SPAN_VECTORS * LANES)
#define FILTER_FLOATS (RUNS * SPAN_FLOATS)
#define PATCH_FLOATS (SEEN_H * SEEN_W * C + SPAN_FLOATS)
// Vectors that begin at a cache line are loaded in half the time, and do where C is a multiple of
// LANES.
#define ALIGNED __attribute__((aligned(64)))

HELPER void clear(float *restrict target, int count)
{
  int i = 0;
  for (; i + LANES <= count; i += LANES) STORE((floatv)0.0f, target + i);
  for (; i < count; i++) target[i] = 0.0f;
}

HELPER void copy_in(float *restrict target, global const float *restrict source, int count)
{
  int i = 0;
  for (; i + LANES <= count; i += LANES) STORE(LOAD(source + i), target + i);
  for (; i < count; i++) target[i] = source[i];
}

HELPER void copy_out(global float *restrict target, const float *restrict source, int count)
{
  int i = 0;
  for (; i + LANES <= count; i += LANES) STORE(LOAD(source + i), target + i);
  for (; i < count; i++) target[i] = source[i];
}

// The pixels from row `top` of the image on, with zeros for the padding.
HELPER void fill_patch(float *restrict patch, global const float *restrict image, int top)
{
  const int end = min(W + PAD_L, SEEN_W);
  for (int r = 0; r < SEEN_H; r++, patch += SEEN_W * C) {
    if (top + r < 0 || top + r >= H) {
      clear(patch, SEEN_W * C);
      continue;
    }
    clear(patch, PAD_L * C);
    copy_in(patch + PAD_L * C, image + (size_t)(top + r) * W * C, (end - PAD_L) * C);
    clear(patch + end * C, (SEEN_W - end) * C);
  }
}

// What arrives at the winners of some outputs.
HELPER floatv winner_gradient(global const float *restrict dy, global const float *restrict y)
{
#if ACTIVATION == ACTIVATION_RELU
  return select((floatv)0.0f, LOAD(dy), LOAD(y) > (floatv)0.0f);
#else
  return LOAD(dy);
#endif
}

// An output for the lists: where its pixels begin, and the bits of its gradient.
HELPER void store_outputs(int2 *restrict target, intv at, floatv g)
{
#if LANES == 1
  *target = (int2)(at, as_int(g));
#else
  const intv bits = JOIN(as_int, LANES)(g);
  intv pairs;
  pairs.even = at.lo;
  pairs.odd = bits.lo;
  STORE(pairs, (int *)target);
  pairs.even = at.hi;
  pairs.odd = bits.hi;
  STORE(pairs, (int *)(target + LANES / 2));
#endif
}

// Adds one list of `count` outputs to the tile of weights `sums`: their pixels of `tile` times
// their gradients. SPLIT entries behind the list are zeros.
HELPER void add_list(global float *restrict sums, const float *restrict tile,
                     const int2 *restrict list, int count)
{
  floatv a[SPLIT][TILE_S][TILE_V];
  UNROLL for (int s = 0; s < TILE_S; s++) UNROLL for (int v = 0; v < TILE_V; v++)
  {
    a[0][s][v] = LOAD(sums + s * SPAN_FLOATS + v * LANES);
    UNROLL for (int j = 1; j < SPLIT; j++) a[j][s][v] = 0.0f;
  }
  for (int i = 0; i < count; i += SPLIT)
    UNROLL for (int j = 0; j < SPLIT; j++)
    {
      const float *pixel = tile + list[i + j].x;
      const floatv g = as_float(list[i + j].y);
      UNROLL for (int s = 0; s < TILE_S; s++) UNROLL for (int v = 0; v < TILE_V; v++)
          a[j][s][v] = fma(g, LOAD(pixel + RUN_AT(s) + v * LANES), a[j][s][v]);
    }
  UNROLL for (int s = 0; s < TILE_S; s++) UNROLL for (int v = 0; v < TILE_V; v++)
  {
    floatv sum = a[0][s][v];
    UNROLL for (int j = 1; j < SPLIT; j++) sum += a[j][s][v];
    STORE(sum, sums + s * SPAN_FLOATS + v * LANES);
  }
}

// Makes the outputs of `pixels` pixels ready for LANES filters, from element `o` of y on. Answers
// the sums of their gradients.
HELPER floatv collect_outputs(int2 *restrict outputs, size_t o, int pixels,
                              global const float *restrict dy, global const float *restrict y,
                              global const uchar *restrict winner)
{
  floatv sum = 0.0f;
  for (int q = 0; q < pixels; q++, o += F) {
    const floatv g = winner_gradient(dy + o, y + o);
    const intv k = LOAD_BYTES(winner + o);
    const int corner = (q / YW * 2 * SEEN_W + q % YW * 2) * C;
    store_outputs(outputs + q * LANES, corner + (k >> 1) * (SEEN_W * C) + (k & 1) * C, g);
    sum += g;
  }
  return sum;
}

// Item `part`: the sums over its share of the blocks of ROWS rows of y.
CPU_KERNEL void conv2d_max_pool_bwd_w_cpu(global float *restrict partial,
                                          global const float *restrict x,
                                          global const float *restrict dy,
                                          global const float *restrict y,
                                          global const uchar *restrict winner, int batch)
{
  const int part = get_global_id(0), parts = get_global_size(0);
  const int blocks = (YH + ROWS - 1) / ROWS, all = batch * blocks;
  const int first = (int)((long)all * part / parts), end = (int)((long)all * (part + 1) / parts);
  global float *sums = partial + (size_t)part * F * FILTER_FLOATS;
  global float *sums_db = partial + (size_t)parts * F * FILTER_FLOATS + (size_t)part * F;
  ALIGNED float patch[PATCH_FLOATS];
  ALIGNED int2 outputs[ROWS * YW * LANES], list[ROWS * YW + SPLIT];
  for (int i = 0; i < F * FILTER_FLOATS; i += LANES) STORE((floatv)0.0f, sums + i);
  for (int f = 0; f < F; f++) sums_db[f] = 0.0f;
  clear(patch + SEEN_H * SEEN_W * C, SPAN_FLOATS);
  for (int block = first; block < end; block++) {
    const int n = block / blocks, yh = block % blocks * ROWS;
    const int pixels = min(ROWS, YH - yh) * YW;
    const size_t o = ((size_t)n * YH + yh) * YW * F;
    fill_patch(patch, x + (size_t)n * H * W * C, 2 * yh - PAD_T);
    for (int f0 = 0; f0 < F; f0 += LANES) {
      // The last vector begins earlier, with filters that the one before it has done.
      const int lane = min(f0, F - LANES);
      float db[LANES];
      STORE(collect_outputs(outputs, o + lane, pixels, dy, y, winner), db);
      for (int i = f0 - lane; i < LANES; i++) {
        int found = 0;
        for (int q = 0; q < pixels; q++) {
          const int2 output = outputs[q * LANES + i];
          list[found] = output;
          found += as_float(output.y) != 0.0f;
        }
        for (int j = 0; j < SPLIT; j++) list[found + j] = 0;
        sums_db[lane + i] += db[i];
        for (int s = 0; s < RUNS; s += TILE_S)
          for (int v = 0; v < SPAN_VECTORS; v += TILE_V)
            add_list(sums + (lane + i) * FILTER_FLOATS + s * SPAN_FLOATS + v * LANES,
                     patch + RUN_AT(s) + v * LANES, list, found);
      }
    }
  }
}

#if FEW
// ---- weight gradient, few channels ----

// Runs of few channels leave lanes empty. Here the lanes of a vector are filters, and each takes
// the value that its own winner sees out of the two rows and two columns that it may be in.
#define WEIGHTS (KH * KW * C)
#define FILTER_VECTORS ((F + LANES - 1) / LANES)

// Adds one output of LANES filters to the weights `a` of one channel, whose first value for the
// window's corner is given; DW is 1.
HELPER void add_output(floatv a[KH][KW], const float *restrict corner, floatv g, intv k)
{
  const intv right = (k & 1) != 0, down = k > 1;
  floatv before[KH];
  UNROLL for (int j = 0; j <= KW; j++) UNROLL for (int s = 0; s < KH; s++)
  {
    const float *at = corner + (s * DH * SEEN_W + j) * C;
    const floatv value = select((floatv)at[0], (floatv)at[SEEN_W * C], down);
    if (j > 0) a[s][j - 1] = fma(g, select(before[s], value, right), a[s][j - 1]);
    before[s] = value;
  }
}

// partial [parts,WEIGHTS + 1,FILTER_VECTORS * LANES], the last row for the bias; ROWS is 1.
// Item (part, vector of filters): the sums over its share of the rows of y.
CPU_KERNEL void conv2d_max_pool_bwd_w_few_cpu(global float *restrict partial,
                                              global const float *restrict x,
                                              global const float *restrict dy,
                                              global const float *restrict y,
                                              global const uchar *restrict winner, int batch)
{
  const int part = get_global_id(0), parts = get_global_size(0), v = get_global_id(1);
  const int first = (int)((long)batch * YH * part / parts);
  const int end = (int)((long)batch * YH * (part + 1) / parts);
  ALIGNED float patch[PATCH_FLOATS];
  floatv g[YW], sums[C][KH][KW], db = 0.0f;
  intv k[YW];
  for (int i = 0; i < WEIGHTS; i++) (&sums[0][0][0])[i] = 0.0f;
  for (int row = first; row < end; row++) {
    fill_patch(patch, x + (size_t)(row / YH) * H * W * C, row % YH * 2 - PAD_T);
    floatv sum = 0.0f;
    for (int q = 0; q < YW; q++) {
      const size_t o = ((size_t)row * YW + q) * F + min(v * LANES, F - LANES);
      g[q] = winner_gradient(dy + o, y + o);
      k[q] = LOAD_BYTES(winner + o);
      sum += g[q];
    }
    db += sum;
    for (int c = 0; c < C; c++) {
      floatv a[KH][KW];
      UNROLL for (int i = 0; i < KH * KW; i++) a[i / KW][i % KW] = sums[c][i / KW][i % KW];
      for (int q = 0; q < YW; q++) add_output(a, patch + 2 * q * C + c, g[q], k[q]);
      UNROLL for (int i = 0; i < KH * KW; i++) sums[c][i / KW][i % KW] = a[i / KW][i % KW];
    }
  }
  global float *target = partial + ((size_t)part * (WEIGHTS + 1) * FILTER_VECTORS + v) * LANES;
  for (int i = 0; i < WEIGHTS; i++)
    STORE(sums[i % C][i / C / KW][i / C % KW], target + (size_t)i * FILTER_VECTORS * LANES);
  STORE(db, target + (size_t)WEIGHTS * FILTER_VECTORS * LANES);
}

// Item i: row i of the sums, in the order of their parts.
CPU_KERNEL void conv2d_max_pool_reduce_few_cpu(global float *restrict dw,
                                               global float *restrict db,
                                               global const float *restrict partial, int parts)
{
  const int row = get_global_id(0);
  global float *target = row < WEIGHTS ? dw + (size_t)row * F : db;
  for (int v = 0; v < FILTER_VECTORS; v++) {
    floatv sum = 0.0f;
    for (int part = 0; part < parts; part++)
      sum += LOAD(partial + (((size_t)part * (WEIGHTS + 1) + row) * FILTER_VECTORS + v) * LANES);
    STORE(sum, target + min(v * LANES, F - LANES));
  }
}
#endif

// ---- second stage and input gradient ----

// Item (filter, run): the sums in the order of their parts.
CPU_KERNEL void conv2d_max_pool_reduce_cpu(global float *restrict dw, global float *restrict db,
                                           global const float *restrict partial, int parts)
{
  const int f = get_global_id(0), s = get_global_id(1);
  global const float *run = partial + (size_t)f * FILTER_FLOATS + s * SPAN_FLOATS;
  for (int v = 0; v < SPAN_VECTORS; v++) {
    floatv sum = 0.0f;
    for (int part = 0; part < parts; part++)
      sum += LOAD(run + (size_t)part * F * FILTER_FLOATS + v * LANES);
    float lanes[LANES];
    STORE(sum, lanes);
    for (int i = 0; i < LANES && v * LANES + i < SPAN; i++)
      dw[((size_t)s * SPAN + v * LANES + i) * F + f] = lanes[i];
  }
  if (!BIAS || s > 0) return;
  float sum = 0.0f;
  for (int part = 0; part < parts; part++)
    sum += partial[(size_t)parts * F * FILTER_FLOATS + (size_t)part * F + f];
  db[f] = sum;
}

// Item (filter, run).
CPU_KERNEL void conv2d_max_pool_pack_cpu(global float *restrict packed,
                                         global const float *restrict w)
{
  const int f = get_global_id(0), s = get_global_id(1);
  global float *run = packed + (size_t)f * FILTER_FLOATS + s * SPAN_FLOATS;
  for (int i = 0; i < SPAN_FLOATS; i++)
    run[i] = i < SPAN ? w[((size_t)s * SPAN + i) * F + f] : 0.0f;
}

// Adds to a tile of neighbouring pixels what the filters in a list give them.
HELPER void add_filters(float *restrict target, global const float *restrict tile,
                        const int *restrict list_at, const float *restrict list_g, int count)
{
  floatv a[TILE_S][TILE_V];
  UNROLL for (int s = 0; s < TILE_S; s++) UNROLL for (int v = 0; v < TILE_V; v++) a[s][v] = 0.0f;
  for (int i = 0; i < count; i++) {
    global const float *weights = tile + list_at[i];
    const floatv g = list_g[i];
    UNROLL for (int s = 0; s < TILE_S; s++) UNROLL for (int v = 0; v < TILE_V; v++)
        a[s][v] = fma(g, LOAD(weights + s * SPAN_FLOATS + v * LANES), a[s][v]);
  }
  UNROLL for (int s = 0; s < TILE_S; s++) UNROLL for (int v = 0; v < TILE_V; v++)
  {
    float *pixel = target + RUN_AT(s) + v * LANES;
    STORE(LOAD(pixel) + a[s][v], pixel);
  }
}

// Adds the gradients of one pixel of y to the pixels around its window, whose corner is given.
HELPER void add_pixel(float *restrict corner, global const float *restrict dy,
                      global const float *restrict y, global const uchar *restrict winner,
                      global const float *restrict packed)
{
  ALIGNED float g[F], list_g[4][F];
  ALIGNED int shift[F], list_at[4][F];
  ulong counts = 0; // 16 bits for each place in the window
  for (int f = 0; f < F; f += LANES) {
    const int lane = min(f, F - LANES);
    STORE(winner_gradient(dy + lane, y + lane), g + lane);
    STORE(LOAD_BYTES(winner + lane) << 4, shift + lane);
  }
  for (int f = 0; f < F; f++) {
    const int k = shift[f] >> 4, place = (counts >> shift[f]) & 0xffff;
    list_at[k][place] = f * FILTER_FLOATS;
    list_g[k][place] = g[f];
    counts += (ulong)(g[f] != 0.0f) << shift[f];
  }
  for (int k = 0; k < 4; k++) {
    const int count = (counts >> (16 * k)) & 0xffff;
    float *target = corner + ((k >> 1) * SEEN_W + (k & 1)) * C;
    for (int s = 0; s < RUNS && count > 0; s += TILE_S)
      for (int v = 0; v < SPAN_VECTORS; v += TILE_V)
        add_filters(target + RUN_AT(s) + v * LANES, packed + s * SPAN_FLOATS + v * LANES,
                    list_at[k], list_g[k], count);
  }
}

// Item (part of the rows, image), with ROWS 1: a window of rows moves down the image two rows at a
// time; rows that are complete are written. A part begins with the rows of y before it that reach
// into it.
CPU_KERNEL void conv2d_max_pool_bwd_x_cpu(global float *restrict dx,
                                          global const float *restrict dy,
                                          global const float *restrict y,
                                          global const uchar *restrict winner,
                                          global const float *restrict packed)
{
  const int part = get_global_id(0), parts = get_global_size(0), n = get_global_id(1);
  const int steps = (H + PAD_T + 1) / 2, before = ((KH - 1) * DH + 1) / 2;
  const int first = steps * part / parts, end = steps * (part + 1) / parts;
  const int columns = min(W, SEEN_W - PAD_L), kept = (SEEN_H - 2) * SEEN_W * C;
  ALIGNED float rows[PATCH_FLOATS];
  clear(rows, PATCH_FLOATS);
  for (int step = max(first - before, 0); step < end; step++) {
    for (int yw = 0; yw < YW && step < YH; yw++) {
      const size_t at = (((size_t)n * YH + step) * YW + yw) * F;
      add_pixel(rows + 2 * yw * C, dy + at, y + at, winner + at, packed);
    }
    for (int r = 0; r < 2 && step >= first; r++) {
      const int h = 2 * step - PAD_T + r;
      if (h < 0 || h >= H) continue;
      global float *row = dx + ((size_t)n * H + h) * W * C;
      copy_out(row, rows + (r * SEEN_W + PAD_L) * C, columns * C);
      for (int i = columns * C; i < W * C; i++) row[i] = 0.0f;
    }
    for (int i = 0; i < kept; i += LANES) STORE(LOAD(rows + 2 * SEEN_W * C + i), rows + i);
    clear(rows + kept, 2 * SEEN_W * C);
  }
}
