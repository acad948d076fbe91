// Batch normalization for CPUs: the steps of batch_normalization.cl that go over the images.
//
// Grid: parts of `part_rows` rows; groups of one item, no local memory, no barrier. A part is small
// enough to stay in a cache, so its second reading is cheap. Sums stay in registers, TILE vectors
// of channels at a time.
// Arguments and defines: as there; LANES, at most CHANNELS. The last vector overlaps the one before
// it where CHANNELS is no multiple of LANES: the item does the same work twice.
// Sums have a fixed order: the rows of a part in blocks of BLOCK, each summed first.

#ifndef CHANNELS
#define CHANNELS 32
#define SCALE 1
#define CENTER 1
#define BATCH 1
#endif
#define COEFFICIENTS 3
#define TILE 4
#define BLOCK 64

// The gradient before the activation.
INLINE floatv slope_gradient(global const float *dy, global const float *y, size_t at)
{
#if ACTIVATION == ACTIVATION_LINEAR
  return LOAD(dy + at);
#else
  return LOAD(dy + at) * clm_activate_slope_lanes(LOAD(y + at));
#endif
}

// The parts of `V` vectors of channels: sums of x and of squared deviations from the part's mean.
INLINE void statistics_columns(int V, global float *parts, global const float *x, int rows)
{
  floatv sum[TILE], squares[TILE];
  UNROLL for (int v = 0; v < V; v++) sum[v] = squares[v] = (floatv)0.0f;
  for (int block = 0; block < rows; block += BLOCK) {
    floatv part[TILE];
    UNROLL for (int v = 0; v < V; v++) part[v] = (floatv)0.0f;
    for (int row = block; row < min(block + BLOCK, rows); row++)
      UNROLL for (int v = 0; v < V; v++) part[v] += LOAD(x + (size_t)row * CHANNELS + v * LANES);
    UNROLL for (int v = 0; v < V; v++) sum[v] += part[v];
  }
  UNROLL for (int v = 0; v < V; v++) STORE(sum[v], parts + v * LANES);
  UNROLL for (int v = 0; v < V; v++) sum[v] = sum[v] / (floatv)(float)rows;
  for (int block = 0; block < rows; block += BLOCK) {
    floatv part[TILE];
    UNROLL for (int v = 0; v < V; v++) part[v] = (floatv)0.0f;
    for (int row = block; row < min(block + BLOCK, rows); row++) {
      UNROLL for (int v = 0; v < V; v++) {
        const floatv deviation = LOAD(x + (size_t)row * CHANNELS + v * LANES) - sum[v];
        part[v] = fma(deviation, deviation, part[v]);
      }
    }
    UNROLL for (int v = 0; v < V; v++) squares[v] += part[v];
  }
  UNROLL for (int v = 0; v < V; v++) STORE(squares[v], parts + CHANNELS + v * LANES);
}

CPU_KERNEL void batch_normalization_fwd_statistics_cpu(global float *restrict workspace,
                                                       global const float *restrict x, int rows,
                                                       int splits, int part_rows)
{
  const int split = (int)get_global_id(0);
  if (split >= splits) return;
  const int count = min(part_rows, rows - split * part_rows);
  global float *parts = workspace + COEFFICIENTS * CHANNELS + (size_t)split * 2 * CHANNELS;
  int channel = 0;
  x += (size_t)split * part_rows * CHANNELS;
  for (; channel + TILE * LANES <= CHANNELS; channel += TILE * LANES)
    statistics_columns(TILE, parts + channel, x + channel, count);
  for (; channel < CHANNELS; channel += LANES) {
    const int start = min(channel, CHANNELS - LANES);
    statistics_columns(1, parts + start, x + start, count);
  }
}

CPU_KERNEL void batch_normalization_fwd_apply_cpu(global float *restrict y,
                                                  global const float *restrict x,
                                                  global const float *restrict workspace, int rows,
                                                  int splits, int part_rows)
{
  const int split = (int)get_global_id(0);
  if (split >= splits) return;
  const int first = split * part_rows;
  const int last = min(first + part_rows, rows);
  for (int row = first; row < last; row++) {
    for (int channel = 0; channel < CHANNELS; channel += LANES) {
      const int start = min(channel, CHANNELS - LANES);
      const size_t at = (size_t)row * CHANNELS + start;
      const floatv a = LOAD(workspace + start);
      const floatv b = LOAD(workspace + CHANNELS + start);
      STORE(clm_activate_lanes(fma(LOAD(x + at), a, b)), y + at);
    }
  }
}

// The parts of `V` vectors of channels: sums of dz and of dz * (x - mean).
INLINE void sums_columns(int V, global float *parts, global const float *x, global const float *dy,
                         global const float *y, global const float *means, size_t first, int rows)
{
  floatv sum[TILE], product[TILE], mean[TILE];
  UNROLL for (int v = 0; v < V; v++) {
    sum[v] = product[v] = (floatv)0.0f;
    mean[v] = LOAD(means + v * LANES);
  }
  for (int block = 0; block < rows; block += BLOCK) {
    floatv part[TILE], part_product[TILE];
    UNROLL for (int v = 0; v < V; v++) part[v] = part_product[v] = (floatv)0.0f;
    for (int row = block; row < min(block + BLOCK, rows); row++) {
      UNROLL for (int v = 0; v < V; v++) {
        const size_t at = first + (size_t)row * CHANNELS + v * LANES;
        const floatv dz = slope_gradient(dy, y, at);
        part[v] += dz;
        part_product[v] = fma(dz, LOAD(x + at) - mean[v], part_product[v]);
      }
    }
    UNROLL for (int v = 0; v < V; v++) {
      sum[v] += part[v];
      product[v] += part_product[v];
    }
  }
  UNROLL for (int v = 0; v < V; v++) STORE(sum[v], parts + v * LANES);
  UNROLL for (int v = 0; v < V; v++) STORE(product[v], parts + CHANNELS + v * LANES);
}

CPU_KERNEL void batch_normalization_bwd_sums_cpu(global float *restrict workspace,
                                                 global const float *restrict x,
                                                 global const float *restrict dy,
                                                 global const float *restrict y,
                                                 global const float *restrict means, int rows,
                                                 int splits, int part_rows)
{
  const int split = (int)get_global_id(0);
  if (split >= splits) return;
  const int count = min(part_rows, rows - split * part_rows);
  const size_t first = (size_t)split * part_rows * CHANNELS;
  global float *parts = workspace + COEFFICIENTS * CHANNELS + (size_t)split * 2 * CHANNELS;
  int channel = 0;
  for (; channel + TILE * LANES <= CHANNELS; channel += TILE * LANES)
    sums_columns(TILE, parts + channel, x, dy, y, means + channel, first + channel, count);
  for (; channel < CHANNELS; channel += LANES) {
    const int start = min(channel, CHANNELS - LANES);
    sums_columns(1, parts + start, x, dy, y, means + start, first + start, count);
  }
}

CPU_KERNEL void batch_normalization_bwd_x_apply_cpu(global float *restrict dx,
                                                    global const float *restrict x,
                                                    global const float *restrict dy,
                                                    global const float *restrict y,
                                                    global const float *restrict means,
                                                    global const float *restrict workspace,
                                                    int rows, int splits, int part_rows)
{
  const int split = (int)get_global_id(0);
  if (split >= splits) return;
  const int first = split * part_rows;
  const int last = min(first + part_rows, rows);
  for (int row = first; row < last; row++) {
    for (int channel = 0; channel < CHANNELS; channel += LANES) {
      const int start = min(channel, CHANNELS - LANES);
      const size_t at = (size_t)row * CHANNELS + start;
      const floatv dz = slope_gradient(dy, y, at);
      const floatv a = LOAD(workspace + start);
#if BATCH
      const floatv apart = LOAD(x + at) - LOAD(means + start);
      const floatv rest = fma(LOAD(workspace + CHANNELS + start), apart,
                              LOAD(workspace + 2 * CHANNELS + start));
      STORE(fma(a, dz, rest), dx + at);
#else
      STORE(a * dz, dx + at);
#endif
    }
  }
}
