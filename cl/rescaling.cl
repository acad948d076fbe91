// Rescaling: y = x * scale + offset, with one pair of numbers or one for each channel. Backward is
// the same kernel with offset 0: dx = dy * scale.
//
// Grid: one item an element. Local memory: none.
// Shapes: y, x [batch,elements]; the channel of an element is its index modulo `period` (1 to 4).
// Defines: none.
// Determinism: every item writes one element.

kernel void rescaling_plain(global float *restrict y, global const float *restrict x,
                            uint elements, int batch, int period, float scale0, float scale1,
                            float scale2, float scale3, float offset0, float offset1,
                            float offset2, float offset3)
{
  const size_t i = get_global_id(0);
  if (i >= (size_t)elements * (size_t)batch) return;
  const int channel = period == 1 ? 0 : (int)(i % (size_t)period);
  const float scale =
      channel == 0 ? scale0 : channel == 1 ? scale1 : channel == 2 ? scale2 : scale3;
  const float offset =
      channel == 0 ? offset0 : channel == 1 ? offset1 : channel == 2 ? offset2 : offset3;
  y[i] = fma(x[i], scale, offset);
}
