// Dropout: an element is kept with probability 1 - rate and then multiplied by 1 / (1 - rate).
// Backward is the same kernel over dy: the choice is made again, not remembered.
//
// The elements of an image go in runs of 32, and a run takes eight random blocks, so that eight can
// be computed side by side. The choice for element e of an image is word e % 32 / 8 of the block
// with the counter {e / 32 * 8 + e % 8, image id, node ^ epoch << 16, 3} and the key of the seed
// (base/rng.h: CLM__RNG_DROPOUT, b = image id << 32 | e / 32 * 8 + e % 8): the same on host and
// device, whatever the batch, its split or the group size. Kept where the unit number is not below
// the rate.
//
// Grid: (elements / 32 rounded up, batch). Local memory: none.
// Shapes: y, x [batch,elements]; image_ids [batch].
// Defines: none.
// Determinism: every item writes 32 elements of its own.

// The high halves of eight products.
uint8 multiply_high(uint8 a, uint b) { return convert_uint8(convert_ulong8(a) * b >> 32); }

// Philox4x32-10 as in base/rng.h with the counters {counter, image, place, 3}, eight at once;
// `words` are the first to fourth words of all of them.
void random8(uint8 words[4], uint2 seed, uint8 counter, uint image, uint place)
{
  uint8 x = counter, y = (uint8)(image), z = (uint8)(place), w = (uint8)(3u);
  uint2 key = seed;
  for (int i = 0; i < 10; i++) {
    const uint8 high0 = multiply_high(x, 0xD2511F53u), low0 = x * 0xD2511F53u;
    const uint8 high1 = multiply_high(z, 0xCD9E8D57u), low1 = z * 0xCD9E8D57u;
    x = high1 ^ y ^ key.x;
    y = low1;
    z = high0 ^ w ^ key.y;
    w = low0;
    key += (uint2)(0x9E3779B9u, 0xBB67AE85u);
  }
  words[0] = x;
  words[1] = y;
  words[2] = z;
  words[3] = w;
}

kernel void dropout_plain(global float *restrict y, global const float *restrict x,
                          global const uint *restrict image_ids, uint elements, int batch,
                          float rate, float scale, uint seed_low, uint seed_high, uint place)
{
  const size_t first = get_global_id(0) * 32;
  const size_t n = get_global_id(1);
  if (first >= elements || n >= (size_t)batch) return;
  const uint8 counter = (uint)(first / 4) + (uint8)(0, 1, 2, 3, 4, 5, 6, 7);
  uint8 words[4];
  random8(words, (uint2)(seed_low, seed_high), counter, image_ids[n], place);
  const size_t start = n * elements + first;
  float units[32];
  for (int k = 0; k < 4; k++) {
    const float8 unit = convert_float8(words[k] >> 8) * 5.9604644775390625e-8f;
    vstore8(unit, k, units);
    if (first + 32 <= elements)
      vstore8(select(vload8(k, x + start) * scale, (float8)(0.0f), unit < rate), k, y + start);
  }
  if (first + 32 <= elements) return;
  for (int k = 0; k < 32; k++) // bounds known when it is built, so that `units` needs no memory
    if (first + (size_t)k < elements)
      y[start + (size_t)k] = units[k] < rate ? 0.0f : x[start + (size_t)k] * scale;
}
