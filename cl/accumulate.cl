// sum[i] += part[i]: the gradient of a value with several consumers.
// Grid: at least `elements` work-items in one dimension. Deterministic: one addition an element.
kernel void accumulate(global float *restrict sum, global const float *restrict part,
                       const uint elements)
{
  const size_t i = get_global_id(0);
  if (i >= elements) return;
  sum[i] += part[i];
}
