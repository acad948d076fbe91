// conv2d and conv2d_max_pool for GPUs: a pass is one product of matrices, of which the operands are
// gathered from images while tiles of them are read into local memory. ([rows,depth] times
// [depth,columns], for each group of channels.)
//
//   PASS  rows                          depth                 columns
//   0     places of z                   taps x channels       filters    forward
//   1     pixels of x of one phase      taps x filters        channels   input gradient
//   2     taps x channels, ones (bias)  places of z, a part   filters    weight gradient
//
// An item keeps ITEM_M x ITEM_N sums in registers. While a work-group multiplies its tiles, it has
// the next ones on their way to registers. With POOL the four places of a window are neighbouring
// rows of one item. With strides, pixels of x are cut into SH x SW phases, so that a work-group
// leaves out the taps that reach none of its pixels.
//
// Grid: ITEMS * row tiles by column tiles by groups (* phases, * parts); groups of ITEMS.
// Local memory: (TILE_M + TILE_N + 8) * TILE_K floats; the sum of parts: ITEMS floats.
// x [N,H,W,C], w [KH,KW,C/GROUPS,F], bias [F], y, dy, winner [N,YH,YW,F], partial
// [parts,KH*KW*C/GROUPS+BIAS,F].
// Defines: those of conv2d.cl; PASS, WINNERS (winners are kept), VEC (4 where channels and filters
// of a group are multiples of it, else 1), and for tuning TILE_M TILE_N TILE_K ITEM_M ITEM_N.
// ITEM_M, ITEM_N and TILE_K are multiples of 4, ITEMS of 32.
// Determinism: a sum goes up the depth; parts of a weight gradient are added in a fixed order.

#ifndef H
#define H 5
#define W 5
#define C 4
#define OH 5
#define OW 5
#define F 4
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
#define WINNERS 0
#define VEC 4
#endif
#ifndef PASS
#define PASS 0
#endif
#ifndef TILE_M
#define TILE_M 64
#define TILE_N 64
#define TILE_K 16
#define ITEM_M 4
#define ITEM_N 4
#endif

#define CG (C / GROUPS)
#define FG (F / GROUPS)
#if POOL
#define YH (OH / 2)
#define YW (OW / 2)
#define PLACES (4 * YH * YW)
#else
#define YH OH
#define YW OW
#define PLACES (OH * OW)
#endif
#define VALUES (KH * KW * CG)
// Filters of a tap in bwd_x, filled up to whole tiles.
#define SPAN ((FG + TILE_K - 1) / TILE_K * TILE_K)
#define ROWS_X ((H + SH - 1) / SH)
#define COLUMNS_X ((W + SW - 1) / SW)

#define ITEMS_N (TILE_N / ITEM_N)
#define ITEMS (TILE_M / ITEM_M * ITEMS_N)
#define VECTORS (ITEM_N / 4)
// Rows of tiles are longer than they need be, so that they begin in different banks.
#define STRIDE_A (TILE_M + 4)
#define STRIDE_B (TILE_N + 4)
#define SLOTS(tile) (((tile) * TILE_K / VEC + ITEMS - 1) / ITEMS)
#define GPU_KERNEL kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))

#if VEC == 4
typedef float4 values;
#define FIRST_LANE (float4)(1.0f, 0.0f, 0.0f, 0.0f)
#else
typedef float values;
#define FIRST_LANE 1.0f
#endif

// What a work-group multiplies.
typedef struct operands {
  global const float *x, *w, *dy, *y;
  global const uchar *winner;
  int rows;
  int depth; // where it ends
  int group, phase_h, phase_w;
} operands;

INLINE values load(global const float *at) { return *(global const values *)at; }

// ---- Operands

// Image, row and column of a place of z.
INLINE int3 place_of(int place)
{
#if POOL
  const int window = place / 4, k = place % 4;
  return (int3)(window / (YH * YW), window / YW % YH * 2 + k / 2, window % YW * 2 + k % 2);
#else
  return (int3)(place / (OH * OW), place / OW % OH, place % OW);
#endif
}

INLINE values load_x(const operands *o, int place, int value)
{
  const int3 at = place_of(place);
  const int tap = value / CG;
  const int ih = at.y * SH + tap / KW * DH - PAD_T, iw = at.z * SW + tap % KW * DW - PAD_L;
  if (ih < 0 || ih >= H || iw < 0 || iw >= W) return (values)0.0f;
  return load(o->x + (((size_t)at.x * H + ih) * W + iw) * C + o->group * CG + value % CG);
}

// The gradient before activation and pool.
INLINE values load_dz(const operands *o, int3 place, int filter)
{
#if POOL
  if (place.y >= 2 * YH || place.z >= 2 * YW) return (values)0.0f;
  const size_t row = ((size_t)place.x * YH + place.y / 2) * YW + place.z / 2;
#else
  const size_t row = ((size_t)place.x * YH + place.y) * YW + place.z;
#endif
  const size_t at = row * F + o->group * FG + filter;
  values dz = load(o->dy + at);
#if ACTIVATION != ACTIVATION_LINEAR
  const values y = load(o->y + at);
#if VEC == 4
  dz *= (float4)(clm_activate_slope(y.x), clm_activate_slope(y.y), clm_activate_slope(y.z),
                 clm_activate_slope(y.w));
#else
  dz *= clm_activate_slope(y);
#endif
#endif
#if POOL
  const int mine = place.y % 2 * 2 + place.z % 2;
#if VEC == 4
  const int4 won = convert_int4(*(global const uchar4 *)(o->winner + at));
  dz = select((float4)0.0f, dz, won == (int4)mine);
#else
  dz = o->winner[at] == mine ? dz : 0.0f;
#endif
#endif
  return dz;
}

// Image, row and column of a row of bwd_x.
INLINE int3 pixel_of(const operands *o, int row)
{
  return (int3)(row / (ROWS_X * COLUMNS_X), row / COLUMNS_X % ROWS_X * SH + o->phase_h,
                row % COLUMNS_X * SW + o->phase_w);
}

INLINE values load_dz_of(const operands *o, int row, int tap, int filter)
{
  int3 at = pixel_of(o, row);
  if (at.y >= H || at.z >= W) return (values)0.0f;
  const int down = at.y + PAD_T - tap / KW * DH, right = at.z + PAD_L - tap % KW * DW;
  if (down < 0 || down % SH != 0 || down / SH >= OH) return (values)0.0f;
  if (right < 0 || right % SW != 0 || right / SW >= OW) return (values)0.0f;
  at.y = down / SH;
  at.z = right / SW;
  return load_dz(o, at, filter);
}

// VEC values of the left operand, zeros beyond its end: along the depth, in bwd_w along the rows.
INLINE values load_a(const operands *o, int row, int k)
{
  if (row >= o->rows || k >= o->depth) return (values)0.0f;
#if PASS == 0
  return load_x(o, row, k);
#elif PASS == 1
  return k % SPAN < FG ? load_dz_of(o, row, k / SPAN, k % SPAN) : (values)0.0f;
#else
  return row < VALUES ? load_x(o, k, row) : FIRST_LANE;
#endif
}

// VEC values of the right operand: along the columns, in bwd_x along the depth.
INLINE values load_b(const operands *o, int k, int column)
{
  if (k >= o->depth) return (values)0.0f;
#if PASS == 0
  if (column >= FG) return (values)0.0f;
  return load(o->w + (size_t)k * F + o->group * FG + column);
#elif PASS == 1
  if (column >= CG || k % SPAN >= FG) return (values)0.0f;
  return load(o->w + ((size_t)(k / SPAN) * CG + column) * F + o->group * FG + k % SPAN);
#else
  return column < FG ? load_dz(o, place_of(k), column) : (values)0.0f;
#endif
}

// ---- Tiles

// Place number i of a tile of `size` columns that is read along the depth or along the columns.
INLINE int2 across(int i, int size)
{
  return (int2)(i / (size / VEC), i % (size / VEC) * VEC);
}

INLINE int2 along(int i) { return (int2)(i % (TILE_K / VEC) * VEC, i / (TILE_K / VEC)); }

INLINE int2 place_a(int i) { return PASS == 2 ? across(i, TILE_M) : along(i); }
INLINE int2 place_b(int i) { return PASS == 1 ? along(i) : across(i, TILE_N); }

INLINE void keep_across(local float *tile, values v) { *(local values *)tile = v; }

INLINE void keep_along(local float *tile, int stride, values v)
{
#if VEC == 4
  tile[0] = v.x;
  tile[stride] = v.y;
  tile[2 * stride] = v.z;
  tile[3 * stride] = v.w;
#else
  tile[0] = v;
#endif
}

// sums [ITEM_M,VECTORS] += a tile of rows times a tile of columns.
INLINE void add_products(local const float *a, local const float *b, float4 *sums)
{
  UNROLL
  for (int k = 0; k < TILE_K; k++) {
    float4 right[VECTORS];
    UNROLL
    for (int v = 0; v < VECTORS; v++)
      right[v] = *(local const float4 *)(b + k * STRIDE_B + v * ITEMS_N * 4);
    UNROLL
    for (int i = 0; i < ITEM_M; i += 4) {
      const float4 left = *(local const float4 *)(a + k * STRIDE_A + i);
      UNROLL
      for (int v = 0; v < VECTORS; v++) {
        sums[i * VECTORS + v] += left.x * right[v];
        sums[(i + 1) * VECTORS + v] += left.y * right[v];
        sums[(i + 2) * VECTORS + v] += left.z * right[v];
        sums[(i + 3) * VECTORS + v] += left.w * right[v];
      }
    }
  }
}

// The first depth from k on that this work-group needs.
INLINE int find_depth(const operands *o, int k)
{
#if PASS == 1 && (SH > 1 || SW > 1)
  while (k < o->depth && ((o->phase_h + PAD_T - k / SPAN / KW * DH) % SH != 0 ||
                          (o->phase_w + PAD_L - k / SPAN % KW * DW) % SW != 0))
    k += SPAN;
#endif
  return k;
}

INLINE void fetch(const operands *o, int row, int column, int k, values *a, values *b)
{
  const int item = get_local_id(0);
  UNROLL
  for (int s = 0; s < SLOTS(TILE_M); s++) {
    const int2 at = place_a(s * ITEMS + item);
    a[s] = load_a(o, row + at.y, k + at.x);
  }
  UNROLL
  for (int s = 0; s < SLOTS(TILE_N); s++) {
    const int2 at = place_b(s * ITEMS + item);
    b[s] = load_b(o, k + at.x, column + at.y);
  }
}

INLINE void keep(local float *a, local float *b, const values *next_a, const values *next_b)
{
  const int item = get_local_id(0);
  UNROLL
  for (int s = 0; s < SLOTS(TILE_M); s++) {
    const int2 at = place_a(s * ITEMS + item);
    if (PASS == 2)
      keep_across(a + at.x * STRIDE_A + at.y, next_a[s]);
    else
      keep_along(a + at.x * STRIDE_A + at.y, STRIDE_A, next_a[s]);
  }
  UNROLL
  for (int s = 0; s < SLOTS(TILE_N); s++) {
    const int2 at = place_b(s * ITEMS + item);
    if (PASS == 1)
      keep_along(b + at.x * STRIDE_B + at.y, STRIDE_B, next_b[s]);
    else
      keep_across(b + at.x * STRIDE_B + at.y, next_b[s]);
  }
}

// The sums of the work-group's tile, from depth k on.
INLINE void multiply(const operands *o, int k, local float *a, local float *b, float4 *sums)
{
  const int item = get_local_id(0);
  const int row = get_group_id(0) * TILE_M, column = get_group_id(1) * TILE_N;
  local const float *own_a = a + item / ITEMS_N * ITEM_M, *own_b = b + item % ITEMS_N * 4;
  values next_a[SLOTS(TILE_M)], next_b[SLOTS(TILE_N)];
  UNROLL
  for (int i = 0; i < ITEM_M * VECTORS; i++) sums[i] = 0.0f;
  k = find_depth(o, k);
  fetch(o, row, column, k, next_a, next_b);
  // Unrolled further, a short depth would fill all registers with what is on its way.
  ONCE
  while (k < o->depth) {
    keep(a, b, next_a, next_b);
    barrier(CLK_LOCAL_MEM_FENCE);
    k = find_depth(o, k + TILE_K);
    fetch(o, row, column, k, next_a, next_b);
    add_products(own_a, own_b, sums);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

// The first row and the column of vector v of this item's sums.
INLINE int own_row(void)
{
  return get_group_id(0) * TILE_M + (int)get_local_id(0) / ITEMS_N * ITEM_M;
}

INLINE int own_column(int v)
{
  return get_group_id(1) * TILE_N + (v * ITEMS_N + (int)get_local_id(0) % ITEMS_N) * 4;
}

// Writes the lanes of v that lie in the first `columns`.
INLINE void write(global float *row, int column, int columns, float4 v)
{
#if VEC == 4
  if (column < columns) *(global float4 *)(row + column) = v;
#else
  if (column < columns) row[column] = v.x;
  if (column + 1 < columns) row[column + 1] = v.y;
  if (column + 2 < columns) row[column + 2] = v.z;
  if (column + 3 < columns) row[column + 3] = v.w;
#endif
}

#if PASS == 0
INLINE float4 activate(float4 z)
{
  return (float4)(clm_activate(z.x), clm_activate(z.y), clm_activate(z.z), clm_activate(z.w));
}

INLINE float4 bias_of(global const float *bias, int column)
{
#if BIAS
  return (float4)(bias[min(column, FG - 1)], bias[min(column + 1, FG - 1)],
                  bias[min(column + 2, FG - 1)], bias[min(column + 3, FG - 1)]);
#else
  return 0.0f;
#endif
}

#if POOL
// The largest of four, the first of equal ones, NaN over numbers; *first says which.
INLINE float4 find_largest(const float4 *sums, float4 bias, int4 *first)
{
  float4 best = sums[0] + bias;
  *first = 0;
  UNROLL
  for (int k = 1; k < 4; k++) {
    const float4 z = sums[k * VECTORS] + bias;
    const int4 better = z > best || (isnan(z) && !isnan(best));
    best = select(best, z, better);
    *first = select(*first, (int4)k, better);
  }
  return best;
}

INLINE void write_winners(global uchar *row, int column, int4 v)
{
  if (column < FG) row[column] = (uchar)v.x;
  if (column + 1 < FG) row[column + 1] = (uchar)v.y;
  if (column + 2 < FG) row[column + 2] = (uchar)v.z;
  if (column + 3 < FG) row[column + 3] = (uchar)v.w;
}
#endif

GPU_KERNEL void conv2d_fwd_gpu(global float *restrict y, global uchar *restrict winner,
                               global const float *restrict x, global const float *restrict w,
                               global const float *restrict bias, int batch)
{
  local float4 a[TILE_K * STRIDE_A / 4], b[TILE_K * STRIDE_B / 4];
  float4 sums[ITEM_M * VECTORS];
  const int group = get_group_id(2);
  const operands o = {
      .x = x, .w = w, .rows = batch * PLACES, .depth = VALUES, .group = group};
  multiply(&o, 0, (local float *)a, (local float *)b, sums);
  UNROLL
  for (int v = 0; v < VECTORS; v++) {
    const int column = own_column(v);
    const float4 own_bias = bias_of(bias + group * FG, column);
#if POOL
    UNROLL
    for (int i = 0; i < ITEM_M; i += 4) {
      const int row = own_row() + i;
      if (row >= o.rows) continue;
      const size_t at = (size_t)(row / 4) * F;
      int4 first;
      const float4 best = find_largest(&sums[i * VECTORS + v], own_bias, &first);
      write(y + at, column, FG, activate(best));
      if (WINNERS) write_winners(winner + at, column, first);
    }
#else
    UNROLL
    for (int i = 0; i < ITEM_M; i++) {
      const int row = own_row() + i;
      if (row >= o.rows) continue;
      write(y + (size_t)row * F + group * FG, column, FG,
            activate(sums[i * VECTORS + v] + own_bias));
    }
#endif
  }
}
#endif

#if PASS == 1
GPU_KERNEL void conv2d_bwd_x_gpu(global float *restrict dx, global const float *restrict dy,
                                 global const float *restrict y,
                                 global const uchar *restrict winner,
                                 global const float *restrict w, int batch)
{
  local float4 a[TILE_K * STRIDE_A / 4], b[TILE_K * STRIDE_B / 4];
  float4 sums[ITEM_M * VECTORS];
  const int group = get_group_id(2) / (SH * SW), phase = get_group_id(2) % (SH * SW);
  const operands o = {.w = w, .dy = dy, .y = y, .winner = winner,
                      .rows = batch * ROWS_X * COLUMNS_X, .depth = KH * KW * SPAN,
                      .group = group, .phase_h = phase / SW, .phase_w = phase % SW};
  multiply(&o, 0, (local float *)a, (local float *)b, sums);
  UNROLL
  for (int i = 0; i < ITEM_M; i++) {
    const int row = own_row() + i;
    const int3 at = pixel_of(&o, row);
    if (row >= o.rows || at.y >= H || at.z >= W) continue;
    global float *pixel = dx + (((size_t)at.x * H + at.y) * W + at.z) * C + group * CG;
    UNROLL
    for (int v = 0; v < VECTORS; v++) write(pixel, own_column(v), CG, sums[i * VECTORS + v]);
  }
}
#endif

#if PASS == 2
// Part p sums over `chunk` places from p * chunk on, a multiple of TILE_K.
GPU_KERNEL void conv2d_bwd_w_gpu(global float *restrict partial, global const float *restrict x,
                                 global const float *restrict dy, global const float *restrict y,
                                 global const uchar *restrict winner, int batch, int chunk)
{
  local float4 a[TILE_K * STRIDE_A / 4], b[TILE_K * STRIDE_B / 4];
  float4 sums[ITEM_M * VECTORS];
  const int group = get_group_id(2) % GROUPS, part = get_group_id(2) / GROUPS;
  const int first = part * chunk;
  const operands o = {.x = x, .dy = dy, .y = y, .winner = winner, .rows = VALUES + BIAS,
                      .depth = min(batch * PLACES - first, chunk) + first,
                      .group = group};
  multiply(&o, first, (local float *)a, (local float *)b, sums);
  global float *own = partial + (size_t)part * (VALUES + BIAS) * F + group * FG;
  UNROLL
  for (int i = 0; i < ITEM_M; i++) {
    const int row = own_row() + i;
    if (row >= o.rows) continue;
    UNROLL
    for (int v = 0; v < VECTORS; v++)
      write(own + (size_t)row * F, own_column(v), FG, sums[i * VECTORS + v]);
  }
}

// Adds up the parts: 32 elements by ITEMS / 32 shares of the parts a work-group.
kernel __attribute__((reqd_work_group_size(32, ITEMS / 32, 1))) void
conv2d_reduce_gpu(global float *restrict dw, global float *restrict db,
                  global const float *restrict partial, int parts)
{
  local float shares[ITEMS / 32][32];
  const int lane = get_local_id(0), share = get_local_id(1), element = get_global_id(0);
  const int elements = (VALUES + BIAS) * F;
  float sum = 0.0f;
  if (element < elements)
    for (int part = share; part < parts; part += ITEMS / 32)
      sum += partial[(size_t)part * elements + element];
  shares[share][lane] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (share > 0 || element >= elements) return;
  for (int k = 1; k < ITEMS / 32; k++) sum += shares[k][lane];
  if (element < VALUES * F)
    dw[element] = sum;
  else
    db[element - VALUES * F] = sum;
}
#endif
