// Mean over height and width.
//
// Grid: forward CHANNELS by batch, one output an item; backward IN_H * IN_W * CHANNELS by batch,
// one element an item; no local memory, any group.
// x, dx [batch,IN_H,IN_W,CHANNELS]; y, dy [batch,CHANNELS].
// Defines: the sizes below.
// Each row is summed, then the rows, in order.

#ifndef IN_H
#define IN_H 2
#define IN_W 2
#define CHANNELS 1
#endif

kernel void global_average_pooling2d_fwd_plain(global float *restrict y,
                                               global const float *restrict x, int batch)
{
  const int channel = (int)get_global_id(0);
  const int image = (int)get_global_id(1);
  if (channel >= CHANNELS || image >= batch) return;
  global const float *pixel = x + (size_t)image * IN_H * IN_W * CHANNELS + channel;
  float sum = 0.0f;
  for (int h = 0; h < IN_H; h++) {
    float part = 0.0f;
    for (int w = 0; w < IN_W; w++) {
      part += *pixel;
      pixel += CHANNELS;
    }
    sum += part;
  }
  y[(size_t)image * CHANNELS + channel] = sum / (float)(IN_H * IN_W);
}

kernel void global_average_pooling2d_bwd_x_plain(global float *restrict dx,
                                                 global const float *restrict dy, int batch)
{
  const int element = (int)get_global_id(0);
  const int image = (int)get_global_id(1);
  if (element >= IN_H * IN_W * CHANNELS || image >= batch) return;
  const float share = dy[(size_t)image * CHANNELS + element % CHANNELS] / (float)(IN_H * IN_W);
  dx[(size_t)image * IN_H * IN_W * CHANNELS + element] = share;
}
