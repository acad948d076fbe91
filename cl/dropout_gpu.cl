// Dropout for GPUs: the choices of dropout.cl, one random block an item.
//
// The four words of a block decide for elements that are eight apart; the block next to it decides
// for their neighbours, so that neighbouring items read neighbouring memory.
//
// Grid: (elements / 32 rounded up times 8, batch). Local memory: none.
// Shapes: y, x [batch,elements]; image_ids [batch].
// Defines: none.
// Determinism: every item writes 4 elements of its own.

// Philox4x32-10 as in base/rng.h.
uint4 random_block(uint2 key, uint4 counter)
{
  uint4 x = counter;
  for (int i = 0; i < 10; i++) {
    x = (uint4)(mul_hi(x.z, 0xCD9E8D57u) ^ x.y ^ key.x, x.z * 0xCD9E8D57u,
                mul_hi(x.x, 0xD2511F53u) ^ x.w ^ key.y, x.x * 0xD2511F53u);
    key += (uint2)(0x9E3779B9u, 0xBB67AE85u);
  }
  return x;
}

kernel void dropout_gpu(global float *restrict y, global const float *restrict x,
                        global const uint *restrict image_ids, uint elements, int batch,
                        float rate, float scale, uint seed_low, uint seed_high, uint place)
{
  const uint block = (uint)get_global_id(0);
  const size_t n = get_global_id(1), start = n * elements;
  const uint first = block / 8 * 32 + block % 8;
  if (first >= elements || n >= (size_t)batch) return;
  const uint4 words =
      random_block((uint2)(seed_low, seed_high), (uint4)(block, image_ids[n], place, 3u));
  const float4 units = convert_float4(words >> 8) * 5.9604644775390625e-8f;
  const float unit[4] = {units.x, units.y, units.z, units.w};
#pragma unroll
  for (uint k = 0; k < 4; k++) {
    const uint at = first + 8 * k;
    if (at < elements) y[start + at] = unit[k] < rate ? 0.0f : x[start + at] * scale;
  }
}
