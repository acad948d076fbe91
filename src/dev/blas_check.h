/* Whether a device multiplies matrices rightly: some drivers do not, for some sizes only, and tell
 * nothing. */
#ifndef CLM_DEV_BLAS_CHECK_H
#define CLM_DEV_BLAS_CHECK_H

#include "dev/blas.h"

#define CLM__BLAS_TOLERANCE 1e-5 /* of the sum of the terms' absolute values */

typedef struct clm__blas_verdict {
  bool is_right;
  int products;       /* how many were compared */
  clm__gemm worst;    /* sizes and transposes of the worst one */
  double worst_error; /* as a share of the sum of the terms' absolute values */
} clm__blas_verdict;

/* Compares products with double sums on the host, after clm__blas_prepare: every transpose at one
 * odd size, and where is_full at large and narrow sizes as well (some seconds). A wrong product is
 * no error: verdict->is_right tells. Errors: DEVICE_FAILED, DEVICE_MEMORY, NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__blas_check(clm__device *device, bool is_full,
                                          clm__blas_verdict *verdict);

#endif
