// Maximum over height and width.
//
// Grid: CHANNELS by batch, one channel of an image an item; no local memory, any group.
// x, dx [batch,IN_H,IN_W,CHANNELS]; y, dy [batch,CHANNELS].
// Defines: the sizes below.
// A NaN wins over all. Equal maxima share the gradient evenly.

#ifndef IN_H
#define IN_H 2
#define IN_W 2
#define CHANNELS 1
#endif

kernel void global_max_pooling2d_fwd_plain(global float *restrict y, global const float *restrict x,
                                           int batch)
{
  const int channel = (int)get_global_id(0);
  const int image = (int)get_global_id(1);
  if (channel >= CHANNELS || image >= batch) return;
  global const float *pixels = x + (size_t)image * IN_H * IN_W * CHANNELS + channel;
  float best = pixels[0];
  for (int i = 1; i < IN_H * IN_W; i++) {
    const float value = pixels[(size_t)i * CHANNELS];
    if (value > best || isnan(value)) best = value;
  }
  y[(size_t)image * CHANNELS + channel] = best;
}

kernel void global_max_pooling2d_bwd_x_plain(global float *restrict dx,
                                             global const float *restrict dy,
                                             global const float *restrict x,
                                             global const float *restrict y, int batch)
{
  const int channel = (int)get_global_id(0);
  const int image = (int)get_global_id(1);
  if (channel >= CHANNELS || image >= batch) return;
  const size_t first = (size_t)image * IN_H * IN_W * CHANNELS + channel;
  const size_t output = (size_t)image * CHANNELS + channel;
  const float best = y[output];
  int count = 0;
  for (int i = 0; i < IN_H * IN_W; i++) count += x[first + (size_t)i * CHANNELS] == best;
  for (int i = 0; i < IN_H * IN_W; i++) {
    const size_t at = first + (size_t)i * CHANNELS;
    dx[at] = (x[at] == best ? 1.0f : 0.0f) / (float)count * dy[output];
  }
}
