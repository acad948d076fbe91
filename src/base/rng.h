/* Random numbers.
 *
 * Everything of our own uses Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as
 * 1, 2, 3", SC 2011) as a pure function of (seed, use, a, b): the same on host and device, and
 * never dependent on threads or ranks. The device side is in cl/dropout.cl.
 *
 * The split of the file list must equal Keras', so NumPy's legacy generator is here as well
 * (numpy/random/mtrand.pyx RandomState.shuffle, _mt19937.pyx _legacy_seeding). */
#ifndef CLM_BASE_RNG_H
#define CLM_BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

/* What a number is for; part of the generator's counter. */
typedef enum clm__rng_use {
  CLM__RNG_INIT = 1,    /* initial weights: a = parameter, b = element / 4 */
  CLM__RNG_SHUFFLE = 2, /* order of the images: a = epoch, b = draw */
  CLM__RNG_DROPOUT = 3, /* a = node and epoch, b = image and element */
  CLM__RNG_AUGMENT = 4,
  CLM__RNG_TEST = 5
} clm__rng_use;

/* Four 32-bit numbers of Philox4x32-10: key = {seed low, seed high}, counter as given. */
void clm__rng_philox(uint64_t seed, const uint32_t counter[4], uint32_t result[4]);

/* The same with the counter {b low, b high, a, use}. */
void clm__rng_block(uint64_t seed, clm__rng_use use, uint32_t a, uint64_t b, uint32_t result[4]);

/* A number in [0,1) from 24 bits: (bits >> 8) * 2^-24, exact in float32. */
static inline float clm__rng_unit(uint32_t bits) { return (float)(bits >> 8) * 0x1p-24F; }

/* Puts a fresh permutation of 0..count-1 into order, a function of (seed, epoch) alone
 * (Fisher-Yates with unbiased draws). */
void clm__rng_permutation(uint64_t seed, uint32_t epoch, uint32_t *order, size_t count);

/* Puts NumPy's RandomState(seed).shuffle(range(count)) into order: Keras' file order. */
void clm__rng_numpy_shuffle(uint32_t seed, uint32_t *order, size_t count);

/* Positions in the order of the it-th iterator (from 1) of
 * tf.data.Dataset.range(count).shuffle(buffer, seed), reshuffled each iteration, with
 * tf.random.set_seed never called. `order` holds count entries. Source: shuffle_dataset_op.cc. */
void clm__rng_tensorflow_shuffle(uint32_t seed, uint32_t iterator, size_t buffer, uint32_t *order,
                                 size_t count);

#endif
