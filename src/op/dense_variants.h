/* The variants of Dense and what they share: a dense layer as a product of matrices. */
#ifndef CLM_OP_DENSE_VARIANTS_H
#define CLM_OP_DENSE_VARIANTS_H

#include "op/dense.h"
#include "op/variant.h"

extern const clm__variant clm__dense_plain;
extern const clm__variant clm__dense_gemm;
extern const clm__variant clm__dense_cpu;

/* x [rows,in] times w [in,units]. */
typedef struct clm__dense_sizes {
  int rows_per_image;
  int in;
  int units;
  bool use_bias;
  clm__activation epilogue;
} clm__dense_sizes;

clm__dense_sizes clm__dense_sizes_of(const clm__problem *problem);

/* The rows of the largest batch. Errors: BAD_DATA where int does not hold them. */
CLM_MUST_CHECK clm_status clm__dense_rows(const clm__problem *problem, int *rows);

/* Whether a pass has so many products that it matters which kernel does them. The plain gradient of
 * a small layer's input compiles in a fifth of the time, and takes no longer to run. */
bool clm__dense_is_large(const clm__problem *problem, clm__pass pass);

#define CLM__DENSE_OPTIONS_SIZE 256
/* Writes the options that every kernel of Dense needs; returns options. */
char *clm__dense_options(const clm__dense_sizes *sizes, char options[CLM__DENSE_OPTIONS_SIZE]);

#endif
