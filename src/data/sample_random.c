#include "data/sample_random.h"

#include "base/rng.h"

#include <math.h>

/* The fourth word of the counter; base/rng.h's own uses are small numbers. */
#define USE_SAMPLE UINT32_C(0x666c6f77)

clm__sample_random clm__sample_random_begin(uint64_t seed, uint32_t picture)
{
  return (clm__sample_random){.seed = seed, .picture = picture, .used = 4};
}

static uint32_t next(clm__sample_random *random)
{
  if (random->used == 4) {
    const uint32_t counter[4] = {(uint32_t)random->block, (uint32_t)(random->block >> 32),
                                 random->picture, USE_SAMPLE};
    clm__rng_philox(random->seed, counter, random->values);
    random->block++;
    random->used = 0;
  }
  return random->values[random->used++];
}

float clm__sample_between(clm__sample_random *random, float low, float high)
{
  return low + (high - low) * clm__rng_unit(next(random));
}

int clm__sample_whole(clm__sample_random *random, int low, int high)
{
  return low + (int)((float)(high - low + 1) * clm__rng_unit(next(random)));
}

/* sin(2 pi x) for x in [-1/4, 1/4], to about 1e-6: Taylor's terms up to the ninth. */
static float quarter_sin(float turns)
{
  const float x = turns * 6.28318531F;
  const float square = x * x;
  return x * (1 - square / 6 * (1 - square / 20 * (1 - square / 42 * (1 - square / 72))));
}

float clm__sample_sin(float turns)
{
  float part = turns - floorf(turns + 0.5F);
  if (part > 0.25F) part = 0.5F - part;
  if (part < -0.25F) part = -0.5F - part;
  return quarter_sin(part);
}

float clm__sample_cos(float turns) { return clm__sample_sin(turns + 0.25F); }
