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

/* Sets CLBlast's parameters where better ones are known than its own (CPUs), the first time it is
 * called for a device; before any other call. A CLBlast that refuses them is told as a DETAIL and
 * keeps its own. Threads: any. Errors: DEVICE_FAILED. */
CLM_MUST_CHECK clm_status clm__blas_prepare(clm__device *device);

/* The bytes of scratch that clm__blas_gemm needs for such a product, 0 where none; depends on
 * sizes, offsets and leading dimensions, not on the buffers. Errors: DEVICE_FAILED, INTERNAL (a
 * size of 0, a leading dimension that is too small). */
CLM_MUST_CHECK clm_status clm__blas_scratch_bytes(clm__device *device, const clm__gemm *gemm,
                                                  size_t *size_bytes);

/* Compiles what these products need, so that no step compiles: runs each once on its own buffers,
 * adding 0 times the product to c, and waits. The first product of a process takes seconds where
 * the driver keeps no binaries. scratch serves the largest of them. Errors: as clm__blas_gemm. */
CLM_MUST_CHECK clm_status clm__blas_warm(clm__device *device, const clm__gemm *gemms, size_t count,
                                         cl_mem scratch, size_t scratch_bytes);

/* Enqueues the product; allocates nothing on the device and waits for nothing. scratch holds at
 * least clm__blas_scratch_bytes, NULL where that is 0. c is not read where beta is 0. Errors:
 * DEVICE_FAILED, INTERNAL (scratch too small, sizes). */
CLM_MUST_CHECK clm_status clm__blas_gemm(clm__device *device, const clm__gemm *gemm, cl_mem scratch,
                                         size_t scratch_bytes);

#endif
