#include "base/rng.h"

#include "base/error.h"
#include "base/num.h"

#include <string.h>

/* ---- Philox4x32-10 ---- */

static void philox_round(uint32_t c[4], uint32_t key0, uint32_t key1)
{
  const uint64_t product0 = UINT64_C(0xD2511F53) * c[0];
  const uint64_t product1 = UINT64_C(0xCD9E8D57) * c[2];
  const uint32_t next0 = (uint32_t)(product1 >> 32) ^ c[1] ^ key0;
  const uint32_t next2 = (uint32_t)(product0 >> 32) ^ c[3] ^ key1;
  c[1] = (uint32_t)product1;
  c[3] = (uint32_t)product0;
  c[0] = next0;
  c[2] = next2;
}

void clm__rng_philox(uint64_t seed, const uint32_t counter[4], uint32_t result[4])
{
  uint32_t key0 = (uint32_t)seed;
  uint32_t key1 = (uint32_t)(seed >> 32);
  memcpy(result, counter, 4 * sizeof *result);
  for (int i = 0; i < 10; i++) {
    philox_round(result, key0, key1);
    key0 += UINT32_C(0x9E3779B9);
    key1 += UINT32_C(0xBB67AE85);
  }
}

void clm__rng_block(uint64_t seed, clm__rng_use use, uint32_t a, uint64_t b, uint32_t result[4])
{
  const uint32_t counter[4] = {(uint32_t)b, (uint32_t)(b >> 32), a, (uint32_t)use};
  clm__rng_philox(seed, counter, result);
}

/* A stream over the blocks of one (seed, use, a). */
typedef struct philox_stream {
  uint64_t seed;
  uint64_t block;
  uint32_t a;
  clm__rng_use use;
  int used;
  uint32_t values[4];
} philox_stream;

static uint32_t stream_next(philox_stream *stream)
{
  if (stream->used == 4) {
    clm__rng_block(stream->seed, stream->use, stream->a, stream->block++, stream->values);
    stream->used = 0;
  }
  return stream->values[stream->used++];
}

/* Unbiased draw in [0, limit] by rejection under the smallest covering mask. */
static uint32_t masked_draw(uint32_t limit, uint32_t (*next)(void *), void *state)
{
  uint32_t mask = limit;
  for (int shift = 1; shift < 32; shift *= 2) mask |= mask >> shift;
  uint32_t value = 0;
  do {
    value = next(state) & mask;
  } while (value > limit);
  return value;
}

static void fisher_yates(uint32_t *order, size_t count, uint32_t (*next)(void *), void *state)
{
  CLM_ASSERT(count <= UINT32_MAX);
  for (size_t i = 0; i < count; i++) order[i] = (uint32_t)i;
  for (size_t i = count; i-- > 1;) {
    const uint32_t other = masked_draw((uint32_t)i, next, state);
    const uint32_t kept = order[i];
    order[i] = order[other];
    order[other] = kept;
  }
}

static uint32_t next_of_stream(void *state) { return stream_next(state); }

void clm__rng_permutation(uint64_t seed, uint32_t epoch, uint32_t *order, size_t count)
{
  philox_stream stream = {.seed = seed, .use = CLM__RNG_SHUFFLE, .a = epoch, .used = 4};
  fisher_yates(order, count, next_of_stream, &stream);
}

/* ---- NumPy's MT19937 ---- */

#define MT_SIZE 624
#define MT_SHIFT 397

typedef struct mersenne {
  uint32_t key[MT_SIZE];
  int position;
} mersenne;

static void mersenne_seed(mersenne *mt, uint32_t seed)
{
  mt->key[0] = seed;
  for (uint32_t k = 1; k < MT_SIZE; k++)
    mt->key[k] = UINT32_C(1812433253) * (mt->key[k - 1] ^ (mt->key[k - 1] >> 30)) + k;
  mt->position = MT_SIZE;
}

static void mersenne_refill(mersenne *mt)
{
  for (int k = 0; k < MT_SIZE; k++) {
    const uint32_t mixed =
        (mt->key[k] & UINT32_C(0x80000000)) | (mt->key[(k + 1) % MT_SIZE] & UINT32_C(0x7fffffff));
    const uint32_t twist = (mixed & 1) != 0 ? UINT32_C(0x9908b0df) : 0;
    mt->key[k] = mt->key[(k + MT_SHIFT) % MT_SIZE] ^ (mixed >> 1) ^ twist;
  }
  mt->position = 0;
}

static uint32_t next_of_mersenne(void *state)
{
  mersenne *mt = state;
  if (mt->position == MT_SIZE) mersenne_refill(mt);
  uint32_t y = mt->key[mt->position++];
  y ^= y >> 11;
  y ^= (y << 7) & UINT32_C(0x9d2c5680);
  y ^= (y << 15) & UINT32_C(0xefc60000);
  y ^= y >> 18;
  return y;
}

void clm__rng_numpy_shuffle(uint32_t seed, uint32_t *order, size_t count)
{
  mersenne mt;
  mersenne_seed(&mt, seed);
  fisher_yates(order, count, next_of_mersenne, &mt);
}

/* ---- tf.data's shuffle ---- */

/* TensorFlow's Philox: key = first seed, counter words 2 and 3 = second seed, counting from 0. */
typedef struct tensorflow_stream {
  uint64_t seed;
  uint64_t seed2;
  uint64_t block;
  int used;
  uint32_t values[4];
} tensorflow_stream;

static uint32_t tensorflow_next(tensorflow_stream *stream)
{
  if (stream->used == 4) {
    const uint32_t counter[4] = {(uint32_t)stream->block, (uint32_t)(stream->block >> 32),
                                 (uint32_t)stream->seed2, (uint32_t)(stream->seed2 >> 32)};
    clm__rng_philox(stream->seed, counter, stream->values);
    stream->block++;
    stream->used = 0;
  }
  return stream->values[stream->used++];
}

void clm__rng_tensorflow_shuffle(uint32_t seed, uint32_t iterator, size_t buffer, uint32_t *order,
                                 size_t count)
{
  CLM_ASSERT(iterator >= 1);
  CLM_ASSERT(buffer >= 1);
  tensorflow_stream seeds = {.seed = 87654321, .seed2 = seed, .used = 4};
  tensorflow_stream stream = {.used = 4};
  for (uint32_t i = 0; i < iterator; i++) {
    stream.seed = tensorflow_next(&seeds);
    stream.seed2 = tensorflow_next(&seeds);
  }
  /* The window [done, done + held) of `order` is TensorFlow's ring, laid out flat: the element that
   * leaves is swapped with the front one. */
  for (size_t i = 0; i < count; i++) order[i] = (uint32_t)i;
  for (size_t done = 0; done < count; done++) {
    const size_t held = clm__min_size(buffer, count - done);
    const size_t chosen = done + tensorflow_next(&stream) % held;
    const uint32_t kept = order[chosen];
    order[chosen] = order[done];
    order[done] = kept;
  }
}
