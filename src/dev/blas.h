/* Matrix products by CLBlast: the only file that knows it is blas.c. */
#ifndef CLM_DEV_BLAS_H
#define CLM_DEV_BLAS_H

#include "dev/device.h"

/* c[m,n] = alpha * op(a)[m,k] * op(b)[k,n] + beta * c, row-major, leading dimensions in elements.
 */
typedef struct clm__gemm {
  bool transpose_a;
  bool transpose_b;
  size_t m, n, k;
  float alpha, beta;
  cl_mem a, b, c;
  size_t a_offset, b_offset, c_offset; /* elements */
  size_t lda, ldb, ldc;                /* 0: dense */
} clm__gemm;

/* The bytes of scratch that clm__blas_gemm needs for such a product, 0 where none. */
CLM_MUST_CHECK clm_status clm__blas_scratch_bytes(clm__device *device, const clm__gemm *gemm,
                                                  size_t *size_bytes);

/* Sets CLBlast's parameters where better ones are known than its own (CPUs) and compiles what these
 * products need, so that no step compiles. Called once a device before steps. */
CLM_MUST_CHECK clm_status clm__blas_prepare(clm__device *device);

/* Enqueues the product; allocates nothing and waits for nothing. scratch holds at least
 * clm__blas_scratch_bytes, NULL where that is 0. Errors: DEVICE_FAILED. */
CLM_MUST_CHECK clm_status clm__blas_gemm(clm__device *device, const clm__gemm *gemm, cl_mem scratch,
                                         size_t scratch_bytes);

#endif
