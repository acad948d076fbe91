#include "job.h"

#include "base/rng.h"

#include <stdio.h>

static clm__comm *job;

int open_job(void **state)
{
  (void)state;
  if (clm__comm_open(NULL, &job) != CLM_OK) {
    printf("cannot join the job: %s\n", clm_error_last()->message);
    return -1;
  }
  clm__comm_set_timeout(job, 10000);
  return 0;
}

int close_job(void **state)
{
  (void)state;
  clm__comm_close(job);
  return 0;
}

clm__comm *get_job(void) { return job; }

float get_brought(int rank, size_t i, int step)
{
  uint32_t bits[4];
  const uint32_t where = (uint32_t)(rank * 1000 + step);
  clm__rng_block(7, CLM__RNG_TEST, where, i, bits);
  return (clm__rng_unit(bits[0]) - 0.5F) * (float)(1 << (bits[1] % 8));
}

float get_sum(int size, size_t i, int step)
{
  float sum = 0.0F;
  for (int rank = 0; rank < size; rank++) sum += get_brought(rank, i, step);
  return sum;
}
