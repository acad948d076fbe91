/* Figures of repeated measurements. */
#ifndef CLM_TESTS_BENCH_SAMPLES_H
#define CLM_TESTS_BENCH_SAMPLES_H

#include <stddef.h>

typedef struct samples_figures {
  double median;
  double low;  /* a quarter of the samples is below */
  double high; /* a quarter is above */
  double best;
  size_t count;
} samples_figures;

/* One repeat: seconds on the clock, and those that processors worked for it, summed over them. */
typedef struct samples_time {
  double wall;
  double busy;
} samples_time;

/* The time so far of this process; only differences mean something. */
samples_time samples_now(void);
samples_time samples_since(samples_time begin);

/* Sorts the values. count >= 1. */
samples_figures samples_evaluate(double *values, size_t count);

#endif
