#include "bench/samples.h"

#include "sys/clock.h"

#include <stdlib.h>
#include <time.h>

samples_time samples_now(void)
{
  struct timespec busy = {0};
  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &busy);
  return (samples_time){.wall = clm__clock_seconds(),
                        .busy = (double)busy.tv_sec + 1e-9 * (double)busy.tv_nsec};
}

samples_time samples_since(samples_time begin)
{
  const samples_time now = samples_now();
  return (samples_time){.wall = now.wall - begin.wall, .busy = now.busy - begin.busy};
}

static int compare(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The value below which a share of the sorted values lies, between neighbours in proportion. */
static double quantile(const double *values, size_t count, double share)
{
  const double place = share * (double)(count - 1);
  const size_t below = (size_t)place;
  const size_t above = below + 1 < count ? below + 1 : below;
  return values[below] + (values[above] - values[below]) * (place - (double)below);
}

samples_figures samples_evaluate(double *values, size_t count)
{
  qsort(values, count, sizeof *values, compare);
  return (samples_figures){.median = quantile(values, count, 0.5),
                           .low = quantile(values, count, 0.25),
                           .high = quantile(values, count, 0.75),
                           .best = values[0],
                           .count = count};
}
