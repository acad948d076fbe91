// Whether a step is sound: are all losses and gradients finite, and what is the sum of the squares
// of the gradients?
//
// gradient_check_partial  an item a part of g: parts[p] = sum of squares, 0 or NaN
// gradient_check_reduce   one group: adds the parts and the losses
//
// A number times zero is NaN where it is not finite, so one multiplication and one sum tell, and a
// sum of squares that overflows is no fault.
//
// Grid: PARTS items; one group of 1, 2, 4 ... GROUP items. Local memory: 2 GROUP floats in reduce.
// Shapes: g [vectors * 16]; parts [PARTS,2]; losses [batch]; stop, square_sum [1].
// Defines: PARTS; CONTIGUOUS: 1 for parts of neighbouring vectors, 0 for every PARTS-th one; GROUP.
// Determinism: every sum has a fixed order for a device.

#ifndef PARTS
#define PARTS 64
#define CONTIGUOUS 1
#define GROUP 64
#endif

float add_lanes(float16 v)
{
  float lanes[16], sum = 0.0f;
  vstore16(v, 0, lanes);
  for (int i = 0; i < 16; i++) sum += lanes[i];
  return sum;
}

kernel void gradient_check_partial(global float *restrict parts,
                                   global const float16 *restrict g, uint vectors)
{
  const size_t part = get_global_id(0);
  if (part >= PARTS) return;
#if CONTIGUOUS
  const size_t length = ((size_t)vectors + PARTS - 1) / PARTS;
  const size_t end = min((part + 1) * length, (size_t)vectors);
  const size_t step = 1;
  size_t i = part * length;
#else
  const size_t end = vectors, step = PARTS;
  size_t i = part;
#endif
  float16 sum = (float16)(0.0f), poison = (float16)(0.0f);
  for (; i < end; i += step) {
    const float16 value = g[i];
    sum = fma(value, value, sum);
    poison = fma(value, (float16)(0.0f), poison);
  }
  parts[2 * part] = add_lanes(sum);
  parts[2 * part + 1] = add_lanes(poison);
}

kernel void gradient_check_reduce(global int *restrict stop, global float *restrict square_sum,
                                  global const float *restrict parts,
                                  global const float *restrict losses, int part_count, int batch)
{
  local float sums[GROUP], poisons[GROUP];
  const int item = (int)get_local_id(0), items = (int)get_local_size(0);
  float sum = 0.0f, poison = 0.0f;
  for (int p = item; p < part_count; p += items) {
    sum += parts[2 * p];
    poison += parts[2 * p + 1];
  }
  for (int n = item; n < batch; n += items) poison += losses[n] * 0.0f;
  sums[item] = sum;
  poisons[item] = poison;
  for (int width = items / 2; width > 0; width /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item >= width) continue;
    sums[item] += sums[item + width];
    poisons[item] += poisons[item + width];
  }
  if (item > 0) return;
  *stop = poisons[0] == 0.0f ? 0 : 1;
  *square_sum = sums[0];
}
