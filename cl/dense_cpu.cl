// Dense layers for CPUs: three products of matrices by one register tile.
//
// Grid: see each kernel; groups of one item where not said otherwise, no local memory, no barrier.
// An item of fwd and bwd_w packs a panel of the right matrix, PANEL rows by 2 vectors, into private
// memory and multiplies it with all rows of its block, 8 at a time, sums in registers.
// x, dx [rows,IN]; w, dw [IN,UNITS]; bias, db [UNITS]; y, dz [rows,UNITS].
// Defines: IN, UNITS, BIAS (0 or 1), ACTIVATION, LANES (at most UNITS, but in bwd_x). The last
// vector of a block overlaps the one before it where sizes are no multiple of LANES: the item
// writes the same values twice.
// Sums have a fixed order: through a split in order, then the splits in order.

#ifndef IN
#define IN 32
#define UNITS 32
#define BIAS 1
#endif
#define PANEL 128
#define UNIT_BLOCK 128
#define UNIT_BLOCKS (UNITS < UNIT_BLOCK ? 1 : UNITS / UNIT_BLOCK)

// The left matrix of a product: element (row, step) lies at from[row * stride + step * next].
typedef struct left_matrix {
  global const float *from;
  int stride;
  int next;
} left_matrix;

// c [rows,V vectors] = (add ? c : 0) + a [rows,count] * panel [count,V vectors] for up to R rows. R
// and V are constants of the caller, so that sums stay in registers. Rows that are missing repeat
// the last one; a caller without such says R.
INLINE void multiply_tile(int R, int V, global float *c, int c_stride, left_matrix a,
                          const floatv (*panel)[2], int rows, int count, int add)
{
  floatv sum[8][2];
  UNROLL for (int r = 0; r < R; r++)
    UNROLL for (int v = 0; v < V; v++)
      sum[r][v] =
          add ? LOAD(c + (size_t)min(r, rows - 1) * c_stride + v * LANES) : (floatv)0.0f;
  for (int k = 0; k < count; k++) {
    UNROLL for (int r = 0; r < R; r++) {
      const floatv factor = (floatv)a.from[(size_t)min(r, rows - 1) * a.stride];
      UNROLL for (int v = 0; v < V; v++) sum[r][v] = fma(factor, panel[k][v], sum[r][v]);
    }
    a.from += a.next;
  }
  UNROLL for (int r = 0; r < R; r++)
    UNROLL for (int v = 0; v < V; v++)
      STORE(sum[r][v], c + (size_t)min(r, rows - 1) * c_stride + v * LANES);
}

// The same for any number of rows.
INLINE void multiply_rows(int V, global float *c, int c_stride, left_matrix a,
                          const floatv (*panel)[2], int rows, int count, int add)
{
  for (; rows >= 8; rows -= 8) {
    multiply_tile(8, V, c, c_stride, a, panel, 8, count, add);
    c += (size_t)8 * c_stride;
    a.from += (size_t)8 * a.stride;
  }
  for (; rows > 0; rows -= 4) {
    multiply_tile(4, V, c, c_stride, a, panel, min(4, rows), count, add);
    c += (size_t)4 * c_stride;
    a.from += (size_t)4 * a.stride;
  }
}

// Vectors of the next tile of units: 2 where they fit in the block and are needed. Often known when
// the program is built, so that one kind of tile is left away.
INLINE int tile_vectors(int unit, int first, int last)
{
  if (UNITS < 2 * LANES) return 1;
  if (UNITS % (2 * LANES) == 0) return 2;
  return last - first >= 2 * LANES && last - unit > LANES ? 2 : 1;
}

// The end of block number `block` of `blocks`: the last one takes what is left.
INLINE int block_end(int block, int blocks, int block_size, int size)
{
  return block == blocks - 1 ? size : (block + 1) * block_size;
}

// ---- forward ----

// `tiles` times V vectors of y, from inputs first..last-1. w is read once, in blocks of PANEL rows.
INLINE void forward_columns(int V, int tiles, global float *y, global const float *x,
                            global const float *w, int rows, int first, int last)
{
  floatv panel[PANEL][2];
  for (int i = first; i < last; i += PANEL) {
    const int count = min(PANEL, last - i);
    const left_matrix a = {x + i, IN, 1};
    for (int column = 0; column < tiles * V * LANES; column += V * LANES) {
      for (int k = 0; k < count; k++)
        UNROLL for (int v = 0; v < V; v++)
          panel[k][v] = LOAD(w + (size_t)(i + k) * UNITS + column + v * LANES);
      multiply_rows(V, y + column, UNITS, a, panel, rows, count, i > first);
    }
  }
}

INLINE void finish_row(global float *y, global const float *bias, int first, int last)
{
  for (int unit = first; unit < last; unit++) {
#if BIAS
    y[unit] = clm_activate(y[unit] + bias[unit]);
#else
    y[unit] = clm_activate(y[unit]);
#endif
  }
}

// Grid: splits of IN, blocks of rows, UNIT_BLOCKS. With one split, parts is y and is finished here.
CPU_KERNEL void
dense_fwd_cpu(global float *restrict parts, global const float *restrict x,
              global const float *restrict w, global const float *restrict bias, int rows,
              int block_rows, int splits, int split_size)
{
  const int split = (int)get_global_id(0);
  const int row = (int)get_global_id(1) * block_rows;
  const int block = (int)get_global_id(2);
  if (split >= splits || row >= rows || block >= UNIT_BLOCKS) return;
  const int first = split * split_size;
  const int last = min(first + split_size, IN);
  const int count = min(block_rows, rows - row);
  const int first_unit = block * UNIT_BLOCK;
  const int last_unit = block_end(block, UNIT_BLOCKS, UNIT_BLOCK, UNITS);
  global float *y = parts + ((size_t)split * rows + row) * UNITS;
  x += (size_t)row * IN;
  const int tiles = (last_unit - first_unit) / (2 * LANES);
  if (tiles > 0)
    forward_columns(2, tiles, y + first_unit, x, w + first_unit, count, first, last);
  for (int unit = first_unit + tiles * 2 * LANES; unit < last_unit; unit += LANES) {
    const int start = min(unit, last_unit - LANES);
    forward_columns(1, 1, y + start, x, w + start, count, first, last);
  }
  if (splits > 1) return;
  for (int r = 0; r < count; r++) finish_row(y + (size_t)r * UNITS, bias, first_unit, last_unit);
}

// Adds the splits in order. Grid: rows.
CPU_KERNEL void
dense_fwd_join_cpu(global float *restrict y, global const float *restrict parts,
                   global const float *restrict bias, int rows, int splits)
{
  const int row = (int)get_global_id(0);
  if (row >= rows) return;
  y += (size_t)row * UNITS;
  parts += (size_t)row * UNITS;
  for (int unit = 0; unit < UNITS; unit += LANES) {
    const int start = min(unit, UNITS - LANES);
    floatv sum = LOAD(parts + start);
    for (int split = 1; split < splits; split++)
      sum += LOAD(parts + (size_t)split * rows * UNITS + start);
    STORE(sum, y + start);
  }
  finish_row(y, bias, 0, UNITS);
}

// ---- gradient of the input ----

// dz is turned, so that vectors go over rows, w is read as it lies, and only the result has to be
// turned back: turned [blocks of 2 * LANES rows,UNITS,2 * LANES], zero where there is no row.
#define SIDE (2 * LANES)
#define TILE_IN (LANES < 8 ? LANES : 8)

// Grid: UNITS, rows up to a multiple of SIDE. Groups of any size.
kernel void dense_bwd_x_turn_cpu(global float *restrict turned, global const float *restrict dy,
                                 global const float *restrict y, int rows)
{
  const int unit = (int)get_global_id(0);
  const int row = (int)get_global_id(1);
  if (unit >= UNITS || row >= (rows + SIDE - 1) / SIDE * SIDE) return;
  float dz = 0.0f;
  if (row < rows) {
    const size_t at = (size_t)row * UNITS + unit;
    dz = dy[at];
#if ACTIVATION != ACTIVATION_LINEAR
    dz *= clm_activate_slope(y[at]);
#endif
  }
  turned[((size_t)(row / SIDE) * UNITS + unit) * SIDE + row % SIDE] = dz;
}

// Turns a square in registers: interleaves row j with row j + LANES / 2, log2(LANES) times.
INLINE void turn(floatv *square)
{
#if LANES > 1
  floatv turned[LANES];
  ONCE for (int done = 1; done < LANES; done *= 2) {
    UNROLL for (int j = 0; j < LANES / 2; j++) {
      turned[2 * j].even = square[j].lo;
      turned[2 * j].odd = square[j + LANES / 2].lo;
      turned[2 * j + 1].even = square[j].hi;
      turned[2 * j + 1].odd = square[j + LANES / 2].hi;
    }
    UNROLL for (int j = 0; j < LANES; j++) square[j] = turned[j];
  }
#endif
}

// dx of `count` inputs, LANES or fewer, for `rows` rows, V vectors or fewer.
INLINE void backward_x_square(int V, global float *dx, global const float *turned,
                              global const float *w, int count, int rows)
{
  floatv square[2][LANES];
  ONCE for (int first = 0; first < LANES; first += TILE_IN) {
    floatv sum[TILE_IN][2];
    UNROLL for (int j = 0; j < TILE_IN; j++)
      UNROLL for (int v = 0; v < V; v++) sum[j][v] = (floatv)0.0f;
    for (int unit = 0; unit < UNITS; unit++) {
      UNROLL for (int j = 0; j < TILE_IN; j++) {
        const floatv factor = (floatv)w[(size_t)min(first + j, count - 1) * UNITS + unit];
        UNROLL for (int v = 0; v < V; v++)
          sum[j][v] = fma(factor, LOAD(turned + (size_t)unit * SIDE + v * LANES), sum[j][v]);
      }
    }
    UNROLL for (int j = 0; j < TILE_IN; j++)
      UNROLL for (int v = 0; v < V; v++) square[v][first + j] = sum[j][v];
  }
  ONCE for (int v = 0; v < V; v++) {
    floatv result[LANES];
    UNROLL for (int j = 0; j < LANES; j++) result[j] = square[v][j];
    turn(result);
    UNROLL for (int j = 0; j < LANES; j++) {
      if (v * LANES + j >= rows) continue;
      global float *target = dx + (size_t)(v * LANES + j) * IN;
#if IN >= LANES
      STORE(result[j], target);
#else
      for (int i = 0; i < count; i++) target[i] = ((const float *)&result[j])[i];
#endif
    }
  }
}

// Grid: blocks of IN, blocks of rows; block_rows is a multiple of SIDE.
CPU_KERNEL void dense_bwd_x_cpu(global float *restrict dx, global const float *restrict turned,
                                global const float *restrict w, int rows, int block_rows,
                                int blocks, int block_size)
{
  const int block = (int)get_global_id(0);
  const int first_row = (int)get_global_id(1) * block_rows;
  if (block >= blocks || first_row >= rows) return;
  const int last_row = min(first_row + block_rows, rows);
  const int last = block_end(block, blocks, block_size, IN);
  for (int i = block * block_size; i < last; i += LANES) {
#if IN >= LANES
    const int start = min(i, last - LANES);
    const int count = LANES;
#else
    const int start = i;
    const int count = IN;
#endif
    for (int row = first_row; row < last_row; row += SIDE) {
      const int left = last_row - row;
      global float *target = dx + (size_t)row * IN + start;
      global const float *right = turned + (size_t)row * UNITS;
      if (left > LANES)
        backward_x_square(2, target, right, w + (size_t)start * UNITS, count, left);
      else
        backward_x_square(1, target, right, w + (size_t)start * UNITS, count, left);
    }
  }
}

// ---- gradients of the weights ----

// A vector of the gradient before the activation.
INLINE floatv slope_gradient(global const float *dy, global const float *y)
{
#if ACTIVATION == ACTIVATION_LINEAR
  return LOAD(dy);
#else
  return LOAD(dy) * clm_activate_slope_lanes(LOAD(y));
#endif
}

// dw [count,V vectors] and, where db is given, db [V vectors] from rows first..last-1.
INLINE void backward_w_columns(int V, global float *dw, global float *db, global const float *x,
                               global const float *dy, global const float *y, int count, int first,
                               int last)
{
  floatv panel[PANEL][2];
  floatv bias[2] = {0.0f, 0.0f};
  for (int row = first; row < last; row += PANEL) {
    const int rows = min(PANEL, last - row);
    for (int k = 0; k < rows; k++) {
      UNROLL for (int v = 0; v < V; v++) {
        const size_t at = (size_t)(row + k) * UNITS + v * LANES;
        panel[k][v] = slope_gradient(dy + at, y + at);
      }
    }
    const left_matrix a = {x + (size_t)row * IN, 1, IN};
    multiply_rows(V, dw, UNITS, a, panel, count, rows, row > first);
    UNROLL for (int v = 0; v < V; v++) {
      floatv sum = 0.0f;
      for (int k = 0; k < rows; k++) sum += panel[k][v];
      bias[v] += sum;
    }
  }
  if (db == 0) return;
  UNROLL for (int v = 0; v < V; v++) STORE(bias[v], db + v * LANES);
}

// Grid: blocks of IN, UNIT_BLOCKS, splits of the rows. With one split the results go to dw and db,
// else to workspace [splits,IN * UNITS + UNITS].
CPU_KERNEL void
dense_bwd_w_cpu(global float *restrict dw, global float *restrict db,
                global float *restrict workspace, global const float *restrict x,
                global const float *restrict dy, global const float *restrict y, int rows,
                int blocks, int block_size, int splits, int split_size)
{
  const int block = (int)get_global_id(0);
  const int unit_block = (int)get_global_id(1);
  const int split = (int)get_global_id(2);
  if (block >= blocks || unit_block >= UNIT_BLOCKS || split >= splits) return;
  if (splits > 1) {
    dw = workspace + (size_t)split * (IN + 1) * UNITS;
    db = dw + (size_t)IN * UNITS;
  }
  const int first = split * split_size;
  const int last = min(first + split_size, rows);
  const int start_in = block * block_size;
  const int count = block_end(block, blocks, block_size, IN) - start_in;
  const int first_unit = unit_block * UNIT_BLOCK;
  const int last_unit = block_end(unit_block, UNIT_BLOCKS, UNIT_BLOCK, UNITS);
  dw += (size_t)start_in * UNITS;
  x += start_in;
  for (int unit = first_unit; unit < last_unit;) {
    const int vectors = tile_vectors(unit, first_unit, last_unit);
    const int start = min(unit, last_unit - vectors * LANES);
    global float *sums = BIAS && block == 0 ? db + start : 0;
    if (vectors == 2)
      backward_w_columns(2, dw + start, sums, x, dy + start, y + start, count, first, last);
    else
      backward_w_columns(1, dw + start, sums, x, dy + start, y + start, count, first, last);
    unit = start + vectors * LANES;
  }
}

// Adds the splits in order. Grid: IN + 1 rows of UNITS, the last one being db.
CPU_KERNEL void
dense_bwd_w_join_cpu(global float *restrict dw, global float *restrict db,
                     global const float *restrict workspace, int splits)
{
  const int row = (int)get_global_id(0);
  if (row >= IN + BIAS) return;
  global float *target = row < IN ? dw + (size_t)row * UNITS : db;
  global const float *parts = workspace + (size_t)row * UNITS;
  for (int unit = 0; unit < UNITS; unit += LANES) {
    const int start = min(unit, UNITS - LANES);
    floatv sum = LOAD(parts + start);
    for (int split = 1; split < splits; split++)
      sum += LOAD(parts + (size_t)split * (IN + 1) * UNITS + start);
    STORE(sum, target + start);
  }
}
