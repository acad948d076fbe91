/* A pass of a problem with memory of its own, on which variants are compared with plain and
 * timed. */
#ifndef CLM_TRAIN_TUNE_BENCH_H
#define CLM_TRAIN_TUNE_BENCH_H

#include "op/variant.h"

/* An array on the device, and what plain wrote to it. */
typedef struct clm__tune_array {
  size_t elements;
  cl_mem buffer;
  float *expected; /* [elements]; NULL where the pass does not write it */
} clm__tune_array;

typedef struct clm__tune_bench {
  clm__device *device; /* borrowed, as is the problem */
  const clm__problem *problem;
  clm__pass pass;
  clm__problem probe; /* the problem with all gradients, for plain */
  clm__instance plain[CLM__PASS_COUNT];
  bool has_plain[CLM__PASS_COUNT];
  clm__tune_array x[CLM__INPUTS_MAX];
  clm__tune_array dx[CLM__INPUTS_MAX];
  clm__tune_array y, dy;
  clm__tune_array w[CLM__PARAMS_MAX];
  clm__tune_array dw[CLM__PARAMS_MAX];
  cl_mem saved;
  size_t saved_bytes;
  cl_mem image_ids;
  cl_mem workspace; /* as large as was needed so far */
  size_t workspace_bytes;
  float *host; /* as large as the largest array */
} clm__tune_bench;

/* What goes in: adversarial patterns first, the random one last. */
typedef enum clm__tune_pattern {
  CLM__TUNE_ZEROS,    /* every window of a pool is a tie */
  CLM__TUNE_TIES,     /* few different values */
  CLM__TUNE_EXTREMES, /* zeros of both signs, denormals and huge values */
  CLM__TUNE_RANDOM,
  CLM__TUNE_PATTERNS
} clm__tune_pattern;

/* Takes memory for the problem's largest batch. bench is valid for clm__tune_bench_close also on
 * failure. */
CLM_MUST_CHECK clm_status clm__tune_bench_open(clm__tune_bench *bench, clm__device *device,
                                               const clm__problem *problem, clm__pass pass);
void clm__tune_bench_close(clm__tune_bench *bench);

/* Builds the plain kernels, without which nothing can be compared. */
CLM_MUST_CHECK clm_status clm__tune_bench_add_plain(clm__tune_bench *bench);

/* Fills the inputs and lets plain run, if it was added: what comes before the pass, and the pass.
 */
CLM_MUST_CHECK clm_status clm__tune_bench_fill(clm__tune_bench *bench, clm__tune_pattern pattern);

/* Runs an instance of the pass and widens *error by the largest
 * |instance - plain| / max(1, |plain|, the root of the mean square of plain). What forward saved is
 * judged by plain's gradients behind it, of which one in a thousand may differ: in a pool, sums
 * that are nearly equal. is_spoiled: a test wants a wrong result. */
CLM_MUST_CHECK clm_status clm__tune_bench_check(clm__tune_bench *bench, clm__instance *instance,
                                                bool is_spoiled, double *error);

/* The seconds a call takes, of `calls` in a row. */
CLM_MUST_CHECK clm_status clm__tune_bench_time(clm__tune_bench *bench, clm__instance *instance,
                                               int calls, double *seconds);

#endif
