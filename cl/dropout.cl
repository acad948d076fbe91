// Dropout: an element is kept with probability 1 - rate and then multiplied by 1 / (1 - rate).
// Backward is the same kernel over dy: the choice is made again, not remembered.
//
// The choice for element e of an image is word e % 4 of the random block with the counter
// {e / 4, image id, node ^ epoch << 16, 3} and the key of the seed (base/rng.h: CLM__RNG_DROPOUT, b =
// image id << 32 | e / 4): the same on host and device, whatever the batch, the split of the batch
// or the group size. Kept where the unit number is not below the rate.
//
// Grid: (elements / 4 rounded up, batch). Local memory: none.
// Shapes: y, x [batch,elements]; image_ids [batch].
// Defines: none.
// Determinism: every item writes four elements of its own.

kernel void dropout_plain(global float *restrict y, global const float *restrict x,
                          global const uint *restrict image_ids, uint elements, int batch,
                          float rate, float scale, uint seed_low, uint seed_high, uint place)
{
  const size_t first = get_global_id(0) * 4;
  const size_t n = get_global_id(1);
  if (first >= elements || n >= (size_t)batch) return;
  const uint2 counter = (uint2)((uint)(first / 4), image_ids[n]);
  const uint4 bits = clm_random2((uint2)(seed_low, seed_high), 3u, place, counter);
  const size_t start = n * elements;
  const uint words[4] = {bits.x, bits.y, bits.z, bits.w};
  for (size_t k = 0; k < 4 && first + k < elements; k++) {
    const size_t i = start + first + k;
    y[i] = clm_random_unit(words[k]) < rate ? 0.0f : x[i] * scale;
  }
}
