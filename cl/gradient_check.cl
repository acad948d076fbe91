// Whether a step is sound: are all losses and gradients finite, and what is the sum of the squares
// of the gradients?
//
// gradient_check_partial  an item a part of g: parts[p] = {sum of squares, 0 or NaN}
// gradient_check_reduce   one group: adds the parts and the losses
//
// A number times zero is NaN where it is not finite, so one multiplication and one sum tell, and a
// sum of squares that overflows is no fault.
//
// Grid: PARTS items; one group of 1, 2, 4 ... GROUP items. Local memory: 2 GROUP floats in reduce.
// Shapes: g [vectors * 16]; parts [PARTS]; losses [batch]; stop, square_sum [1].
// Defines: PARTS; CONTIGUOUS: 1 for parts of neighbouring vectors, 0 for every PARTS-th one; GROUP.
// Determinism: every sum has a fixed order for a device.

#ifndef PARTS
#define PARTS 64
#define CONTIGUOUS 1
#define GROUP 64
#endif

kernel void gradient_check_partial(global float2 *restrict parts,
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
  const float8 sum8 = sum.lo + sum.hi, poison8 = poison.lo + poison.hi;
  const float4 sum4 = sum8.lo + sum8.hi, poison4 = poison8.lo + poison8.hi;
  const float2 sum2 = sum4.lo + sum4.hi, poison2 = poison4.lo + poison4.hi;
  parts[part] = (float2)(sum2.x + sum2.y, poison2.x + poison2.y);
}

kernel void gradient_check_reduce(global int *restrict stop, global float *restrict square_sum,
                                  global const float2 *restrict parts,
                                  global const float *restrict losses, int part_count, int batch)
{
  local float2 sums[GROUP];
  const int item = (int)get_local_id(0), items = (int)get_local_size(0);
  float2 sum = (float2)(0.0f, 0.0f);
  for (int p = item; p < part_count; p += items) sum += parts[p];
  for (int n = item; n < batch; n += items) sum.y += losses[n] * 0.0f;
  sums[item] = sum;
  for (int width = items / 2; width > 0; width /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < width) sums[item] += sums[item + width];
  }
  if (item > 0) return;
  *stop = sums[0].y == 0.0f ? 0 : 1;
  *square_sum = sums[0].x;
}
