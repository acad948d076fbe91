/* The problems of the self-test: small, odd-sized, at least one an op. */
#ifndef CLM_TRAIN_SELFTEST_CASE_H
#define CLM_TRAIN_SELFTEST_CASE_H

#include "op/variant.h"

#define CLM__CHAIN_LENGTH_MAX 3

/* One layer or a chain of layers that becomes one fused op. */
typedef struct clm__selftest_case {
  const char *classes[CLM__CHAIN_LENGTH_MAX]; /* Keras' class names; NULL ends the chain */
  const char *configs[CLM__CHAIN_LENGTH_MAX]; /* Keras' keys as JSON */
  clm__shape inputs[CLM__INPUTS_MAX];         /* up to the first of rank 0 */
  bool inference;
} clm__selftest_case;

/* Ends with a case without classes. */
extern const clm__selftest_case clm__selftest_cases[];

/* The problem of a case for a batch of that size; *attributes is taken by the caller
 * (clm__mem_free) and must outlive the problem. Errors: INTERNAL where the layers do not fuse. */
CLM_MUST_CHECK clm_status clm__selftest_make_problem(const clm__selftest_case *test, int batch,
                                                     clm__problem *problem, void **attributes);

#endif
