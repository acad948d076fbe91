// Max pooling.
//
// Grid: forward OUT_W * CHANNELS by batch * OUT_H, backward IN_W * CHANNELS by batch * IN_H; one
// element an item, no local memory, any group.
// x, dx [batch,IN_H,IN_W,CHANNELS]; y, dy, saved [batch,OUT_H,OUT_W,CHANNELS].
// Defines: the sizes below; SAVE keeps the winner's place in its window for backward.
// The first maximum in row-major order wins, a NaN wins over all; padding never does. Backward
// gathers the windows of a pixel in row-major order, so sums have a fixed order.

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
#define SAVE 1
#endif

#if POOL_H * POOL_W > 256
typedef ushort place;
#else
typedef uchar place;
#endif

kernel void max_pooling2d_fwd_plain(global float *restrict y, global place *restrict saved,
                                    global const float *restrict x, int batch)
{
  const int column = (int)get_global_id(0);
  const int row = (int)get_global_id(1);
  if (column >= OUT_W * CHANNELS || row >= batch * OUT_H) return;
  const int top = row % OUT_H * STRIDE_H - PAD_TOP;
  const int left = column / CHANNELS * STRIDE_W - PAD_LEFT;
  global const float *image =
      x + (size_t)(row / OUT_H) * IN_H * IN_W * CHANNELS + column % CHANNELS;
  float best = 0.0f;
  int winner = -1;
  for (int i = max(-top, 0); i < min(POOL_H, IN_H - top); i++) {
    for (int j = max(-left, 0); j < min(POOL_W, IN_W - left); j++) {
      const float value = image[((size_t)(top + i) * IN_W + left + j) * CHANNELS];
      if (winner < 0 || value > best || (isnan(value) && !isnan(best))) {
        best = value;
        winner = i * POOL_W + j;
      }
    }
  }
  const size_t at = (size_t)row * OUT_W * CHANNELS + column;
  y[at] = best;
#if SAVE
  saved[at] = (place)winner;
#endif
}

kernel void max_pooling2d_bwd_x_plain(global float *restrict dx, global const float *restrict dy,
                                      global const place *restrict saved, int batch)
{
  const int column = (int)get_global_id(0);
  const int row = (int)get_global_id(1);
  if (column >= IN_W * CHANNELS || row >= batch * IN_H) return;
  const int h = row % IN_H + PAD_TOP;
  const int w = column / CHANNELS + PAD_LEFT;
  const size_t image = (size_t)(row / IN_H) * OUT_H * OUT_W * CHANNELS + column % CHANNELS;
  float sum = 0.0f;
  for (int i = max(h - POOL_H + STRIDE_H, 0) / STRIDE_H; i <= min(h / STRIDE_H, OUT_H - 1); i++) {
    for (int j = max(w - POOL_W + STRIDE_W, 0) / STRIDE_W; j <= min(w / STRIDE_W, OUT_W - 1); j++) {
      const size_t at = image + ((size_t)i * OUT_W + j) * CHANNELS;
      const int mine = (h - i * STRIDE_H) * POOL_W + w - j * STRIDE_W;
      sum += saved[at] == mine ? dy[at] : 0.0f;
    }
  }
  dx[(size_t)row * IN_W * CHANNELS + column] = sum;
}
