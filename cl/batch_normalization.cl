// Batch normalization over the last axis: per channel y = activation(x * a + b).
//
// Statistics of a batch come in two stages. The rows are cut into `splits` parts of `part_rows`, of
// which the last may be shorter. A part gives the sum of its x and the sum of squared deviations
// from its own mean, which stays exact where the mean is far from zero. The parts are joined in
// order, so sums have a fixed order. Where the replicas of a job join their figures, *_join puts
// those of this one in place of the first part, and what follows reads those of all there.
//
// Grid: statistics and sums CHANNELS by splits, join, finish and coefficients CHANNELS, apply
// CHANNELS by rows; no local memory, any group.
// x, y, dx, dy [rows,CHANNELS]; gamma, beta and moving statistics [CHANNELS];
// saved [2,CHANNELS]: mean, 1 / sqrt(variance + epsilon);
// workspace: coefficients [3,CHANNELS], then parts [splits,2,CHANNELS].
// Defines: CHANNELS, SCALE and CENTER (there is gamma, beta), BATCH (statistics of the batch, else
// the moving ones), ACTIVATION (its slope is told from y).

#ifndef CHANNELS
#define CHANNELS 4
#define SCALE 1
#define CENTER 1
#define BATCH 1
#endif
#define COEFFICIENTS 3
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

// Mean and 1 / sqrt(variance + epsilon) that normalize a channel.
HELPER float2 statistics_of(global const float *saved, global const float *moving_mean,
                            global const float *moving_variance, float epsilon, int channel)
{
#if BATCH
  return (float2)(saved[channel], saved[CHANNELS + channel]);
#else
  return (float2)(moving_mean[channel], 1.0f / sqrt(moving_variance[channel] + epsilon));
#endif
}

kernel void batch_normalization_fwd_statistics_plain(global float *restrict workspace,
                                                     global const float *restrict x, int rows,
                                                     int splits, int part_rows)
{
  const int channel = (int)get_global_id(0);
  const int split = (int)get_global_id(1);
  if (channel >= CHANNELS || split >= splits) return;
  const int first = split * part_rows;
  const int last = min(first + part_rows, rows);
  float sum = 0.0f;
  for (int block = first; block < last; block += BLOCK) {
    float part = 0.0f;
    for (int row = block; row < min(block + BLOCK, last); row++)
      part += x[(size_t)row * CHANNELS + channel];
    sum += part;
  }
  const float mean = sum / (float)(last - first);
  float squares = 0.0f;
  for (int block = first; block < last; block += BLOCK) {
    float part = 0.0f;
    for (int row = block; row < min(block + BLOCK, last); row++) {
      const float deviation = x[(size_t)row * CHANNELS + channel] - mean;
      part = fma(deviation, deviation, part);
    }
    squares += part;
  }
  global float *parts = workspace + COEFFICIENTS * CHANNELS + (size_t)split * 2 * CHANNELS;
  parts[channel] = sum;
  parts[CHANNELS + channel] = squares;
}

// Joins the parts into mean and variance.
HELPER float2 join_statistics(global const float *workspace, int rows, int splits, int part_rows,
                              int channel)
{
  global const float *parts = workspace + COEFFICIENTS * CHANNELS + channel;
  float sum = 0.0f;
  for (int split = 0; split < splits; split++) sum += parts[(size_t)split * 2 * CHANNELS];
  const float mean = sum / (float)rows;
  float squares = 0.0f;
  for (int split = 0; split < splits; split++) {
    const float count = (float)min(part_rows, rows - split * part_rows);
    const float apart = parts[(size_t)split * 2 * CHANNELS] / count - mean;
    squares += fma(apart * apart, count, parts[((size_t)split * 2 + 1) * CHANNELS]);
  }
  return (float2)(mean, squares / (float)rows);
}

// Puts two figures in place of the first part.
HELPER void put_joint(global float *workspace, int channel, float2 figures)
{
  workspace[COEFFICIENTS * CHANNELS + channel] = figures.x;
  workspace[(COEFFICIENTS + 1) * CHANNELS + channel] = figures.y;
}

// Mean and variance of this replica's images for the other replicas.
kernel void batch_normalization_fwd_join(global float *workspace, int rows, int splits,
                                         int part_rows)
{
  const int channel = (int)get_global_id(0);
  if (channel >= CHANNELS) return;
  put_joint(workspace, channel, join_statistics(workspace, rows, splits, part_rows, channel));
}

// Joins the parts, and moves the moving statistics. Mean and variance that are known already are
// one part of one row.
kernel void batch_normalization_fwd_finish(global float *restrict saved,
                                           global float *restrict moving_mean,
                                           global float *restrict moving_variance,
                                           global const float *restrict workspace, int rows,
                                           int splits, int part_rows, float epsilon,
                                           float momentum, float rest)
{
  const int channel = (int)get_global_id(0);
  if (channel >= CHANNELS) return;
  const float2 batch = join_statistics(workspace, rows, splits, part_rows, channel);
  saved[channel] = batch.x;
  saved[CHANNELS + channel] = 1.0f / sqrt(batch.y + epsilon);
  moving_mean[channel] = moving_mean[channel] * momentum + batch.x * rest;
  moving_variance[channel] = moving_variance[channel] * momentum + batch.y * rest;
}

// Writes a and b.
kernel void batch_normalization_fwd_coefficients(
    global float *restrict workspace, global const float *restrict saved,
    global const float *restrict moving_mean, global const float *restrict moving_variance,
    global const float *restrict gamma, global const float *restrict beta, float epsilon)
{
  const int channel = (int)get_global_id(0);
  if (channel >= CHANNELS) return;
  const float2 statistics =
      statistics_of(saved, moving_mean, moving_variance, epsilon, channel);
  float a = statistics.y;
#if SCALE
  a *= gamma[channel];
#endif
#if CENTER
  workspace[CHANNELS + channel] = beta[channel] - statistics.x * a;
#else
  workspace[CHANNELS + channel] = -statistics.x * a;
#endif
  workspace[channel] = a;
}

kernel void batch_normalization_fwd_apply_plain(global float *restrict y,
                                                global const float *restrict x,
                                                global const float *restrict workspace, int rows)
{
  const int channel = (int)get_global_id(0);
  const int row = (int)get_global_id(1);
  if (channel >= CHANNELS || row >= rows) return;
  const size_t at = (size_t)row * CHANNELS + channel;
  y[at] = clm_activate(fma(x[at], workspace[channel], workspace[CHANNELS + channel]));
}

// Parts of the sums of dz and of dz * (x - mean).
kernel void batch_normalization_bwd_sums_plain(global float *restrict workspace,
                                               global const float *restrict x,
                                               global const float *restrict dy,
                                               global const float *restrict y,
                                               global const float *restrict means, int rows,
                                               int splits, int part_rows)
{
  const int channel = (int)get_global_id(0);
  const int split = (int)get_global_id(1);
  if (channel >= CHANNELS || split >= splits) return;
  const int first = split * part_rows;
  const int last = min(first + part_rows, rows);
  const float mean = means[channel];
  float2 sums = 0.0f;
  for (int block = first; block < last; block += BLOCK) {
    float2 part = 0.0f;
    for (int row = block; row < min(block + BLOCK, last); row++) {
      const size_t at = (size_t)row * CHANNELS + channel;
      const float dz = slope_gradient(dy, y, at);
      part += (float2)(dz, dz * (x[at] - mean));
    }
    sums += part;
  }
  global float *parts = workspace + COEFFICIENTS * CHANNELS + (size_t)split * 2 * CHANNELS;
  parts[channel] = sums.x;
  parts[CHANNELS + channel] = sums.y;
}

// Joins the parts into the sums of dz and of dz * (x - mean).
HELPER float2 join_sums(global const float *workspace, int splits, int channel)
{
  global const float *parts = workspace + COEFFICIENTS * CHANNELS + channel;
  float2 sums = 0.0f;
  for (int split = 0; split < splits; split++)
    sums += (float2)(parts[(size_t)split * 2 * CHANNELS],
                     parts[((size_t)split * 2 + 1) * CHANNELS]);
  return sums;
}

// The gradients of gamma and beta, as far as there are such.
kernel void batch_normalization_bwd_w_finish(global float *restrict dgamma,
                                             global float *restrict dbeta,
                                             global const float *restrict workspace,
                                             global const float *restrict saved,
                                             global const float *restrict moving_mean,
                                             global const float *restrict moving_variance,
                                             int splits, float epsilon)
{
  const int channel = (int)get_global_id(0);
  if (channel >= CHANNELS) return;
  const float2 sums = join_sums(workspace, splits, channel);
  (void)sums;
#if CENTER
  dbeta[channel] = sums.x;
#endif
#if SCALE
  dgamma[channel] =
      sums.y * statistics_of(saved, moving_mean, moving_variance, epsilon, channel).y;
#endif
}

// The sums of dz and of dz * (x - mean) * factor: dbeta and dgamma, which has the factor in it,
// where both are given, else they are joined from the parts.
HELPER float2 normalized_sums(global const float *workspace, global const float *dgamma,
                              global const float *dbeta, int splits, float factor, int channel)
{
  if (dgamma != 0 && dbeta != 0) return (float2)(dbeta[channel], dgamma[channel]);
  return join_sums(workspace, splits, channel) * (float2)(1.0f, factor);
}

// The sums over this replica's images for the other replicas.
kernel void batch_normalization_bwd_x_join(global float *workspace,
                                           global const float *restrict dgamma,
                                           global const float *restrict dbeta,
                                           global const float *restrict saved, int splits)
{
  const int channel = (int)get_global_id(0);
  if (channel >= CHANNELS) return;
  put_joint(workspace, channel,
            normalized_sums(workspace, dgamma, dbeta, splits, saved[CHANNELS + channel], channel));
}

// Writes a, b and c of dx = a dz + b (x - mean) + c. Sums that the replicas have joined are one
// part that has the factor in it.
kernel void batch_normalization_bwd_x_coefficients(
    global float *workspace, global const float *restrict dgamma,
    global const float *restrict dbeta, global const float *restrict saved,
    global const float *restrict moving_mean, global const float *restrict moving_variance,
    global const float *restrict gamma, float rows, int splits, int is_joint, float epsilon)
{
  const int channel = (int)get_global_id(0);
  if (channel >= CHANNELS) return;
  const float inverse =
      statistics_of(saved, moving_mean, moving_variance, epsilon, channel).y;
  float a = inverse;
#if SCALE
  a *= gamma[channel];
#endif
#if BATCH
  const float factor = is_joint ? 1.0f : inverse;
  const float2 sums = normalized_sums(workspace, dgamma, dbeta, splits, factor, channel);
  workspace[CHANNELS + channel] = -a * inverse * sums.y / rows;
  workspace[2 * CHANNELS + channel] = -a * sums.x / rows;
#endif
  workspace[channel] = a;
}

kernel void batch_normalization_bwd_x_apply_plain(global float *restrict dx,
                                                  global const float *restrict x,
                                                  global const float *restrict dy,
                                                  global const float *restrict y,
                                                  global const float *restrict means,
                                                  global const float *restrict workspace, int rows)
{
  const int channel = (int)get_global_id(0);
  const int row = (int)get_global_id(1);
  if (channel >= CHANNELS || row >= rows) return;
  const size_t at = (size_t)row * CHANNELS + channel;
  const float dz = slope_gradient(dy, y, at);
#if BATCH
  const float rest = fma(workspace[CHANNELS + channel], x[at] - means[channel],
                         workspace[2 * CHANNELS + channel]);
  dx[at] = fma(workspace[channel], dz, rest);
#else
  dx[at] = workspace[channel] * dz;
#endif
}
