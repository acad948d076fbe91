// Batch normalization for GPUs: the steps of batch_normalization.cl that go over the images, with
// groups that add together.
//
// statistics, sums  A group has WIDE neighbouring channels, so that neighbouring items read
//                   neighbouring memory, and GROUP / WIDE items that share the rows of a part.
// join              A group has JOIN channels, and GROUP / JOIN items that share the parts. Its one
//                   part stands before the others, where the steps that follow look for parts.
// apply             An element an item.
//
// Grid: statistics and sums: CHANNELS / WIDE groups, rounded up, by splits; join: CHANNELS / JOIN
// groups, rounded up; apply: rows * CHANNELS items. Groups have GROUP items, those of apply any.
// Local memory: GROUP floats, none in apply.
// Arguments and their shapes: as in batch_normalization.cl, but for one part more in the workspace.
// Defines: as there, and GROUP, WIDE and JOIN, powers of two, the last two no more than GROUP.
// Determinism: sums have a fixed order for a group size: an item adds every GROUP / WIDE-th row,
// the items of a channel are added in pairs.

#ifndef CHANNELS
#define CHANNELS 40
#define BATCH 1
#define GROUP 64
#define WIDE 32
#define JOIN 8
#endif
#define COEFFICIENTS 3
#define DEEP (GROUP / WIDE)
#define SHARE (GROUP / JOIN)
#define GPU_GROUP __attribute__((reqd_work_group_size(GROUP, 1, 1)))

// An item of a group that has `wide` channels. Items behind the last channel do as the last one
// does and write nothing.
typedef struct place {
  int channel;
  int share;      // of the rows or parts
  bool is_writer; // of the channel's result
} place;

place place_of_item(int wide)
{
  const int item = (int)get_local_id(0), wanted = (int)get_group_id(0) * wide + item % wide;
  return (place){min(wanted, CHANNELS - 1), item / wide, wanted < CHANNELS && item < wide};
}

// The gradient before the activation.
float gradient_at(global const float *dy, global const float *y, size_t at)
{
#if ACTIVATION == ACTIVATION_LINEAR
  return dy[at];
#else
  return dy[at] * clm_activate_slope(y[at]);
#endif
}

// Two sums a channel; part -1 is the joined one.
global float *part_at(global float *workspace, int split)
{
  return workspace + COEFFICIENTS * CHANNELS + (size_t)(split + 1) * 2 * CHANNELS;
}

void write_part(global float *workspace, int split, place own, float sum, float other)
{
  if (!own.is_writer) return;
  global float *part = part_at(workspace, split);
  part[own.channel] = sum;
  part[CHANNELS + own.channel] = other;
}

kernel GPU_GROUP void batch_normalization_fwd_statistics_gpu(global float *restrict workspace,
                                                             global const float *restrict x,
                                                             int rows, int splits, int part_rows)
{
  local float values[GROUP];
  const place own = place_of_item(WIDE);
  const int split = (int)get_group_id(1);
  const int first = split * part_rows, last = min(first + part_rows, rows);
  float sum = 0.0f, squares = 0.0f;
  for (int row = first + own.share; row < last; row += DEEP)
    sum += x[(size_t)row * CHANNELS + own.channel];
  sum = clm_group_sum(values, sum, WIDE, DEEP);
  const float mean = sum / (float)(last - first);
  for (int row = first + own.share; row < last; row += DEEP) {
    const float deviation = x[(size_t)row * CHANNELS + own.channel] - mean;
    squares = fma(deviation, deviation, squares);
  }
  squares = clm_group_sum(values, squares, WIDE, DEEP);
  write_part(workspace, split, own, sum, squares);
}

// The sum, and the squared deviations from the mean of all rows. A sum of many parts has lost its
// last places; what the parts are apart from its mean brings them back.
kernel GPU_GROUP void batch_normalization_fwd_join_gpu(global float *restrict workspace, int rows,
                                                       int splits, int part_rows)
{
  local float values[GROUP];
  const place own = place_of_item(JOIN);
  float sum = 0.0f, squares = 0.0f, rest = 0.0f;
  for (int split = own.share; split < splits; split += SHARE)
    sum += part_at(workspace, split)[own.channel];
  sum = clm_group_sum(values, sum, JOIN, SHARE);
  const float mean = sum / (float)rows;
  for (int split = own.share; split < splits; split += SHARE) {
    global const float *part = part_at(workspace, split);
    const float count = (float)min(part_rows, rows - split * part_rows);
    const float apart = part[own.channel] / count - mean;
    squares += fma(apart * apart, count, part[CHANNELS + own.channel]);
    rest = fma(apart, count, rest);
  }
  sum += clm_group_sum(values, rest, JOIN, SHARE);
  squares = clm_group_sum(values, squares, JOIN, SHARE);
  write_part(workspace, -1, own, sum, squares);
}

kernel void batch_normalization_fwd_apply_gpu(global float *restrict y,
                                              global const float *restrict x,
                                              global const float *restrict workspace, int rows)
{
  const uint at = (uint)get_global_id(0);
  if (at >= (uint)rows * CHANNELS) return;
  const uint channel = at % CHANNELS;
  y[at] = clm_activate(fma(x[at], workspace[channel], workspace[CHANNELS + channel]));
}

// Parts of the sums of dz and of dz * (x - mean).
kernel GPU_GROUP void batch_normalization_bwd_sums_gpu(
    global float *restrict workspace, global const float *restrict x,
    global const float *restrict dy, global const float *restrict y,
    global const float *restrict means, int rows, int splits, int part_rows)
{
  local float values[GROUP];
  const place own = place_of_item(WIDE);
  const int split = (int)get_group_id(1);
  const int first = split * part_rows, last = min(first + part_rows, rows);
  const float mean = means[own.channel];
  float sum = 0.0f, product = 0.0f;
  for (int row = first + own.share; row < last; row += DEEP) {
    const size_t at = (size_t)row * CHANNELS + own.channel;
    const float dz = gradient_at(dy, y, at);
    sum += dz;
    product = fma(dz, x[at] - mean, product);
  }
  sum = clm_group_sum(values, sum, WIDE, DEEP);
  product = clm_group_sum(values, product, WIDE, DEEP);
  write_part(workspace, split, own, sum, product);
}

kernel GPU_GROUP void batch_normalization_bwd_join_gpu(global float *restrict workspace, int rows,
                                                       int splits, int part_rows)
{
  local float values[GROUP];
  const place own = place_of_item(JOIN);
  float sum = 0.0f, product = 0.0f;
  for (int split = own.share; split < splits; split += SHARE) {
    global const float *part = part_at(workspace, split);
    sum += part[own.channel];
    product += part[CHANNELS + own.channel];
  }
  sum = clm_group_sum(values, sum, JOIN, SHARE);
  product = clm_group_sum(values, product, JOIN, SHARE);
  write_part(workspace, -1, own, sum, product);
}

kernel void batch_normalization_bwd_x_apply_gpu(global float *restrict dx,
                                                global const float *restrict x,
                                                global const float *restrict dy,
                                                global const float *restrict y,
                                                global const float *restrict means,
                                                global const float *restrict workspace, int rows)
{
  const uint at = (uint)get_global_id(0);
  if (at >= (uint)rows * CHANNELS) return;
  const uint channel = at % CHANNELS;
  const float dz = gradient_at(dy, y, at);
#if BATCH
  const float rest = fma(workspace[CHANNELS + channel], x[at] - means[channel],
                         workspace[2 * CHANNELS + channel]);
  dx[at] = fma(workspace[channel], dz, rest);
#else
  dx[at] = workspace[channel] * dz;
#endif
}
