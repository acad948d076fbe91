/* The passes of a training step one by one, each timed to its end.
 *
 * Every value has memory of its own here, so that a pass can be repeated; kernels, order and
 * numbers are those of the trainee's replica. */
#ifndef CLM_TESTS_BENCH_PASSES_H
#define CLM_TESTS_BENCH_PASSES_H

#include "bench/trainee.h"

typedef struct timed_pass {
  const char *layer;               /* "conv2d_1"; "" for what belongs to no layer */
  const char *op;                  /* "conv2d_max_pool", "loss", "optimizer", ... */
  const char *pass;                /* "fwd", "bwd_x", "bwd_w" */
  const char *variant;             /* "cpu" */
  char shape[CLM__TUNE_WORD_SIZE]; /* as tuning values name it; "" for what is no op */
  double gflop;                    /* that the result needs */
  double megabytes;                /* that have to be read and written once */
  double seconds;                  /* median */
  double busy;                     /* median of the processors' seconds, summed over them */
} timed_pass;

typedef struct timed_passes {
  timed_pass *items;
  size_t count;
  double seconds; /* sums of the items */
  double busy;
} timed_passes;

/* Runs `repeats` steps, and gives the median of each pass. Texts are borrowed from the trainee. The
 * result is taken by the caller. */
CLM_MUST_CHECK clm_status passes_time(bench_trainee *trainee, int repeats, timed_passes *passes);
void passes_fini(timed_passes *passes);

#endif
