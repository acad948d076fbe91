/* One case of an op made ready to be judged: its problem, host arrays and expected results. Used
 * by the checker alone. */
#ifndef CLM_TESTS_OP_BENCH_H
#define CLM_TESTS_OP_BENCH_H

#include "op/checker.h"

/* Results of a pass, or what is expected of it: arrays of floats, NULL where there is none. */
typedef struct op_results {
  float *y;
  float *dx[CLM__INPUTS_MAX];
  float *w[CLM__PARAMS_MAX]; /* after forward */
  float *dw[CLM__PARAMS_MAX];
  unsigned char *saved;
} op_results;

typedef struct op_bench {
  const op_suite *suite;
  const op_case *test;
  clm__problem problem;
  void *attributes;
  int batch;
  float *x[CLM__INPUTS_MAX];
  float *dy;
  float *w[CLM__PARAMS_MAX];
  uint32_t *image_ids;
  op_results expected;
  op_results golden;                /* arrays that were recorded */
  bool *judged_dx[CLM__INPUTS_MAX]; /* which elements of expected.dx are known; NULL: all */
  bool *judged_dw[CLM__PARAMS_MAX];
} op_bench;

#define BENCH_SEED UINT64_C(0x123456789abcdef)
#define BENCH_EPOCH 3
#define BENCH_NODE 5

/* Infers the case; the test fails where infer does. */
void bench_init(op_bench *bench, const op_suite *suite, const op_case *test);
void bench_fini(op_bench *bench);
/* Runs the reference, and checks its gradients by finite differences. */
void bench_expect(op_bench *bench);

/* Elements of one image. */
size_t bench_input_elements(const op_bench *bench, int i);
size_t bench_output_elements(const op_bench *bench);
size_t bench_param_elements(const op_bench *bench, int i);
/* Whether param i has a gradient here. */
bool bench_is_trained(const op_bench *bench, int i);
bool bench_needs_dx(const op_bench *bench, int i);
/* Bytes of `saved` for a number of images. */
size_t bench_saved_bytes(const op_bench *bench, int images);

/* Memory for all results of `images` images. */
void results_init(op_results *results, const op_bench *bench, int images);
void results_fini(op_results *results);

#endif
