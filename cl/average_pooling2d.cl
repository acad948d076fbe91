// Average pooling.
//
// Grid: forward OUT_W * CHANNELS by batch * OUT_H, backward IN_W * CHANNELS by batch * IN_H; one
// element an item, no local memory, any group.
// x, dx [batch,IN_H,IN_W,CHANNELS]; y, dy [batch,OUT_H,OUT_W,CHANNELS].
// Defines: the sizes below.
// A window's sum is divided by the number of its elements that are no padding. Sums have a fixed
// order: row-major, in forward over the window, in backward over the windows of a pixel.

#ifndef IN_H
#define IN_H 4
#define IN_W 4
#define CHANNELS 1
#define OUT_H 2
#define OUT_W 2
#define POOL_H 2
#define POOL_W 2
#define STRIDE_H 2
#define STRIDE_W 2
#define PAD_TOP 0
#define PAD_LEFT 0
#endif

// How many of the elements first..first+count-1 lie in 0..size-1.
HELPER int count_inside(int first, int count, int size)
{
  return min(first + count, size) - max(first, 0);
}

kernel void average_pooling2d_fwd_plain(global float *restrict y, global const float *restrict x,
                                        int batch)
{
  const int column = (int)get_global_id(0);
  const int row = (int)get_global_id(1);
  if (column >= OUT_W * CHANNELS || row >= batch * OUT_H) return;
  const int top = row % OUT_H * STRIDE_H - PAD_TOP;
  const int left = column / CHANNELS * STRIDE_W - PAD_LEFT;
  global const float *image =
      x + (size_t)(row / OUT_H) * IN_H * IN_W * CHANNELS + column % CHANNELS;
  float sum = 0.0f;
  for (int h = max(top, 0); h < min(top + POOL_H, IN_H); h++)
    for (int w = max(left, 0); w < min(left + POOL_W, IN_W); w++)
      sum += image[((size_t)h * IN_W + w) * CHANNELS];
  const int count = count_inside(top, POOL_H, IN_H) * count_inside(left, POOL_W, IN_W);
  y[(size_t)row * OUT_W * CHANNELS + column] = sum / (float)count;
}

kernel void average_pooling2d_bwd_x_plain(global float *restrict dx,
                                          global const float *restrict dy, int batch)
{
  const int column = (int)get_global_id(0);
  const int row = (int)get_global_id(1);
  if (column >= IN_W * CHANNELS || row >= batch * IN_H) return;
  const int h = row % IN_H + PAD_TOP;
  const int w = column / CHANNELS + PAD_LEFT;
  global const float *image =
      dy + (size_t)(row / IN_H) * OUT_H * OUT_W * CHANNELS + column % CHANNELS;
  float sum = 0.0f;
  for (int i = max(h - POOL_H + STRIDE_H, 0) / STRIDE_H; i <= min(h / STRIDE_H, OUT_H - 1); i++) {
    const int rows = count_inside(i * STRIDE_H - PAD_TOP, POOL_H, IN_H);
    for (int j = max(w - POOL_W + STRIDE_W, 0) / STRIDE_W; j <= min(w / STRIDE_W, OUT_W - 1); j++) {
      const int count = rows * count_inside(j * STRIDE_W - PAD_LEFT, POOL_W, IN_W);
      sum += image[((size_t)i * OUT_W + j) * CHANNELS] / (float)count;
    }
  }
  dx[(size_t)row * IN_W * CHANNELS + column] = sum;
}
