/* Matrix products by CLBlast: the only file that knows it is blas.c. */
#ifndef CLM_DEV_BLAS_H
#define CLM_DEV_BLAS_H

#include "dev/tune.h"

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

/* The op and the variant that CLBlast's parameters go by in files of tuning values; the shape is
 * "*", since CLBlast keeps one set of parameters a device. */
#define CLM__BLAS_OP "gemm"
#define CLM__BLAS_VARIANT "clblast"

/* Sets CLBlast's parameters as the tuning values have them (tune NULL: the shipped ones), the first
 * time it is called for a device; before any other call. Where there are none CLBlast keeps its
 * own. Threads: any. Errors: those of clm__blas_use. */
CLM_MUST_CHECK clm_status clm__blas_prepare(clm__device *device, const clm__tune *tune);

/* Sets other parameters, "KWG=16 MWG=32 ...", while nothing is enqueued. A CLBlast that refuses
 * them as a whole is told as a DETAIL and keeps those it had. Errors: BAD_DATA (more than CLBlast
 * has), DEVICE_FAILED. */
CLM_MUST_CHECK clm_status clm__blas_use(clm__device *device, const char *parameters);

/* Parameters worth trying on a device; ends with NULL. Static storage. */
const char *const *clm__blas_candidates(const clm__device_info *info);

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
