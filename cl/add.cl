// Add: y = a + b; further inputs are added to y one launch each, in their order. An input whose
// size along a dimension is 1 is repeated along it, and its gradient is the sum over it.
//
// add_fwd_plain, add_bwd_x_plain        inputs of the output's shape
// add_fwd_repeated, add_bwd_x_repeated  bit d of a mask: dimension d of that input is repeated
//
// Grid: one item an element of y or dx. Local memory: none.
// Shapes: y, dy [batch,D0,D1,D2,D3]; a, b, dx the same with 1 where the mask says so. y may be a.
// Defines: D0 to D3, with leading ones for tensors of fewer dimensions; for _repeated only.
// Determinism: every item writes one element and sums in order.

#ifndef D0
#define D0 1
#define D1 1
#define D2 1
#define D3 1
#endif

kernel void add_fwd_plain(global float *y, global const float *a, global const float *b,
                          uint elements, int batch)
{
  const size_t i = get_global_id(0);
  if (i >= (size_t)elements * (size_t)batch) return;
  y[i] = a[i] + b[i];
}

kernel void add_bwd_x_plain(global float *restrict dx, global const float *restrict dy,
                            uint elements, int batch)
{
  const size_t i = get_global_id(0);
  if (i >= (size_t)elements * (size_t)batch) return;
  dx[i] = dy[i];
}

// Sizes of an input with these dimensions repeated.
uint4 sizes_of(int repeated)
{
  return (uint4)(repeated & 1 ? 1 : D0, repeated & 2 ? 1 : D1, repeated & 4 ? 1 : D2,
                 repeated & 8 ? 1 : D3);
}

// The index in such an input of the element at c of image n.
size_t index_in(uint4 sizes, size_t n, uint4 c)
{
  const size_t plane = (n * sizes.x + (sizes.x > 1 ? c.x : 0)) * sizes.y + (sizes.y > 1 ? c.y : 0);
  return (plane * sizes.z + (sizes.z > 1 ? c.z : 0)) * sizes.w + (sizes.w > 1 ? c.w : 0);
}

kernel void add_fwd_repeated(global float *y, global const float *a, global const float *b,
                             int batch, int repeated_a, int repeated_b)
{
  const size_t i = get_global_id(0);
  const size_t row = i / D3, plane = row / D2, cube = plane / D1, n = cube / D0;
  if (n >= (size_t)batch) return;
  const uint4 c = (uint4)((uint)(cube % D0), (uint)(plane % D1), (uint)(row % D2), (uint)(i % D3));
  y[i] = a[index_in(sizes_of(repeated_a), n, c)] + b[index_in(sizes_of(repeated_b), n, c)];
}

kernel void add_bwd_x_repeated(global float *restrict dx, global const float *restrict dy,
                               uint elements, int batch, int repeated)
{
  const size_t i = get_global_id(0);
  if (i >= (size_t)elements * (size_t)batch) return;
  const uint4 sizes = sizes_of(repeated), all = (uint4)(D0, D1, D2, D3);
  const size_t row = i / sizes.w, plane = row / sizes.z, cube = plane / sizes.y;
  const uint4 first = (uint4)((uint)(cube % sizes.x), (uint)(plane % sizes.y),
                              (uint)(row % sizes.z), (uint)(i % sizes.w));
  const uint4 end = (uint4)(sizes.x == 1 ? D0 : first.x + 1, sizes.y == 1 ? D1 : first.y + 1,
                            sizes.z == 1 ? D2 : first.z + 1, sizes.w == 1 ? D3 : first.w + 1);
  float sum = 0.0f;
  for (uint p = first.x; p < end.x; p++)
    for (uint q = first.y; q < end.y; q++)
      for (uint r = first.z; r < end.z; r++)
        for (uint s = first.w; s < end.w; s++)
          sum += dy[index_in(all, cube / sizes.x, (uint4)(p, q, r, s))];
  dx[i] = sum;
}
