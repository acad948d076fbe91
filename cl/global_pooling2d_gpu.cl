// Mean and maximum over height and width, for GPUs.
//
// A group has WIDE neighbouring channels of an image, so that neighbouring items read neighbouring
// memory, and GROUP / WIDE items that share the pixels of each.
//
// Grid: CHANNELS / WIDE groups, rounded up, by batch; groups of GROUP items, a power of two.
// Local memory: GROUP floats.
// x, dx [batch,IN_H,IN_W,CHANNELS]; y, dy [batch,CHANNELS].
// Defines: the sizes below; WIDE is a power of two, no more than GROUP.
// Sums have a fixed order for a group size: an item adds blocks of BLOCK pixels, the group pairs. A
// NaN is the maximum where there is one. Equal maxima share the gradient evenly.

#ifndef IN_H
#define IN_H 8
#define IN_W 8
#define CHANNELS 40
#define GROUP 64
#define WIDE 32
#endif
#define PIXELS (IN_H * IN_W)
#define DEEP (GROUP / WIDE)
#define BLOCK 64

// Where an item stands: its first pixel, its channel and image. Items behind the last channel do
// as the last one does and write nothing.
typedef struct place {
  int deep;
  bool is_inside;
  size_t first;  // of the channel's pixels
  size_t output; // in y
} place;

place place_of_item(void)
{
  const int item = (int)get_local_id(0);
  const int wanted = (int)get_group_id(0) * WIDE + item % WIDE;
  const int channel = min(wanted, CHANNELS - 1);
  const size_t image = get_group_id(1);
  return (place){item / WIDE, wanted < CHANNELS, image * PIXELS * CHANNELS + channel,
                 image * CHANNELS + channel};
}

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
global_average_pooling2d_fwd_gpu(global float *restrict y, global const float *restrict x)
{
  local float values[GROUP];
  const place at = place_of_item();
  float sum = 0.0f;
  for (int block = at.deep; block < PIXELS; block += DEEP * BLOCK) {
    float part = 0.0f;
    for (int i = block; i < min(block + DEEP * BLOCK, PIXELS); i += DEEP)
      part += x[at.first + (size_t)i * CHANNELS];
    sum += part;
  }
  sum = clm_group_sum(values, sum, WIDE, DEEP);
  if (at.is_inside && at.deep == 0) y[at.output] = sum / (float)PIXELS;
}

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
global_max_pooling2d_fwd_gpu(global float *restrict y, global const float *restrict x)
{
  local float values[GROUP];
  const place at = place_of_item();
  float best = -INFINITY, poison = 0.0f;
  for (int i = at.deep; i < PIXELS; i += DEEP) {
    const float value = x[at.first + (size_t)i * CHANNELS];
    best = fmax(best, value);
    poison = isnan(value) ? value : poison;
  }
  best = clm_group_max(values, best, WIDE, DEEP);
  poison = clm_group_sum(values, poison, WIDE, DEEP);
  if (at.is_inside && at.deep == 0) y[at.output] = isnan(poison) ? poison : best;
}

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
global_max_pooling2d_bwd_x_gpu(global float *restrict dx, global const float *restrict dy,
                               global const float *restrict x, global const float *restrict y)
{
  local float values[GROUP];
  const place at = place_of_item();
  const float best = y[at.output];
  int count = 0;
  for (int i = at.deep; i < PIXELS; i += DEEP)
    count += x[at.first + (size_t)i * CHANNELS] == best;
  const float all = clm_group_sum(values, (float)count, WIDE, DEEP);
  if (!at.is_inside) return;
  for (int i = at.deep; i < PIXELS; i += DEEP) {
    const size_t pixel = at.first + (size_t)i * CHANNELS;
    dx[pixel] = (x[pixel] == best ? 1.0f : 0.0f) / all * dy[at.output];
  }
}
