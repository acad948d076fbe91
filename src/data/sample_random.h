/* Numbers for drawing: a stream that is a function of (seed, picture). */
#ifndef CLM_DATA_SAMPLE_RANDOM_H
#define CLM_DATA_SAMPLE_RANDOM_H

#include <stdint.h>

typedef struct clm__sample_random {
  uint64_t seed;
  uint32_t picture;
  uint64_t block;
  int used;
  uint32_t values[4];
} clm__sample_random;

clm__sample_random clm__sample_random_begin(uint64_t seed, uint32_t picture);

/* The next number, in [low, high). */
float clm__sample_between(clm__sample_random *random, float low, float high);

/* The next number among low, low + 1 ... high. */
int clm__sample_whole(clm__sample_random *random, int low, int high);

/* Sine and cosine of a number of turns. Made of products and sums alone, so that a picture has the
 * same bytes on every machine, which those of the C library do not promise. */
float clm__sample_sin(float turns);
float clm__sample_cos(float turns);

#endif
