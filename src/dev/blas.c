#include "dev/blas.h"

#include "base/error.h"
#include "base/testswitch.h"

#include <clblast_c.h>

/* A parameter of a kernel of CLBlast. */
typedef struct parameter {
  const char *name;
  size_t value;
} parameter;

#define PARAMETERS_MAX 16

static clm_status check_code(const clm__device *device, CLBlastStatusCode code, const char *call)
{
  if (code == CLBlastSuccess) return CLM_OK;
  if ((int)code > -1000) /* the codes that CLBlast shares with OpenCL */
    return clm__cl_check(device, (cl_int)code, call);
  CLM_FAIL(CLM_DEVICE_FAILED, "device %s (%s): %s gave CLBlast's code %d", device->info.id,
           device->info.name, call, (int)code);
}

static clm_status override(clm__device *device, const char *kernel, const parameter *parameters,
                           size_t count)
{
  const char *names[PARAMETERS_MAX];
  size_t values[PARAMETERS_MAX];
  for (size_t i = 0; i < count; i++) {
    names[i] = parameters[i].name;
    values[i] = parameters[i].value;
  }
  const CLBlastStatusCode code = CLBlastOverrideParameters(
      device->handle, kernel, CLBlastPrecisionSingle, count, names, values);
  if (code != CLBlastInvalidOverrideKernel && code != CLBlastMissingOverrideParameter)
    return check_code(device, code, "CLBlastOverrideParameters");
  clm__log(device->log, CLM_LOG_DETAIL,
           "CLBlast does not take our parameters of %s for device %s (code %d)", kernel,
           device->info.id, (int)code);
  return CLM_OK;
}

/* CLBlast's own parameters are for GPUs: groups of many items and tiles in local memory. On a CPU
 * one item a group with a register tile of two vectors by twelve (six where vectors are short and
 * registers few) is several times faster; docs/devices.md has the numbers. */
static clm_status override_all(clm__device *device)
{
  const bool is_wide = device->info.vector_width >= 16;
  const size_t vector = is_wide ? 16 : device->info.vector_width >= 8 ? 8 : 4;
  const parameter gemm[] = {{"GEMMK", 0},        {"KREG", 1},
                            {"KWG", 16},         {"KWI", 1},
                            {"MDIMA", 1},        {"MDIMC", 1},
                            {"MWG", 2 * vector}, {"NDIMB", 1},
                            {"NDIMC", 1},        {"NWG", is_wide ? 12 : 6},
                            {"SA", 0},           {"SB", 0},
                            {"STRM", 0},         {"STRN", 0},
                            {"VWM", vector},     {"VWN", is_wide ? 4 : 2}};
  const parameter routine[] = {{"XGEMM_MIN_INDIRECT_SIZE", 1}};
  CLM_TRY(override(device, "Xgemm", gemm, sizeof gemm / sizeof gemm[0]));
  return override(device, "GemmRoutine", routine, sizeof routine / sizeof routine[0]);
}

/* CLBlast keeps programs by the address of their context. A later context may get the same address
 * and would be given programs of one that is gone, so they go with the device. */
static void forget_programs(void) { (void)CLBlastClearCache(); }

/* Overriding makes CLBlast forget the kernels it has compiled: once is enough. */
clm_status clm__blas_prepare(clm__device *device)
{
  clm_status status = CLM_OK;
  (void)pthread_mutex_lock(&device->lock);
  if (!device->is_blas_prepared && device->info.kind == CLM__DEVICE_CPU)
    status = override_all(device);
  if (status == CLM_OK) device->is_blas_prepared = true;
  device->forget = forget_programs;
  (void)pthread_mutex_unlock(&device->lock);
  return status;
}

static CLBlastTranspose transpose_of(bool is_transposed)
{
  return is_transposed ? CLBlastTransposeYes : CLBlastTransposeNo;
}

/* Puts the leading dimensions of dense matrices where they are 0, and checks all of them. */
static clm_status complete(const clm__gemm *gemm, clm__gemm *whole)
{
  const size_t a_width = gemm->transpose_a ? gemm->m : gemm->k;
  const size_t b_width = gemm->transpose_b ? gemm->k : gemm->n;
  *whole = *gemm;
  if (whole->lda == 0) whole->lda = a_width;
  if (whole->ldb == 0) whole->ldb = b_width;
  if (whole->ldc == 0) whole->ldc = gemm->n;
  CLM_REQUIRE(gemm->m > 0 && gemm->n > 0 && gemm->k > 0, CLM_INTERNAL,
              "a matrix product of %zux%zux%zu", gemm->m, gemm->n, gemm->k);
  CLM_REQUIRE(whole->lda >= a_width && whole->ldb >= b_width && whole->ldc >= gemm->n, CLM_INTERNAL,
              "a matrix product of %zux%zux%zu with leading dimensions %zu, %zu and %zu", gemm->m,
              gemm->n, gemm->k, whole->lda, whole->ldb, whole->ldc);
  return CLM_OK;
}

clm_status clm__blas_scratch_bytes(clm__device *device, const clm__gemm *gemm, size_t *size_bytes)
{
  clm__gemm g;
  size_t needed = 0;
  CLM_TRY(complete(gemm, &g));
  const CLBlastStatusCode code = CLBlastSGemmTempBufferSize(
      CLBlastLayoutRowMajor, transpose_of(g.transpose_a), transpose_of(g.transpose_b), g.m, g.n,
      g.k, g.a_offset, g.lda, g.b_offset, g.ldb, g.c_offset, g.ldc, &device->queue, &needed);
  CLM_TRY(check_code(device, code, "CLBlastSGemmTempBufferSize"));
  *size_bytes = needed;
  return CLM_OK;
}

clm_status clm__blas_gemm(clm__device *device, const clm__gemm *gemm, cl_mem scratch,
                          size_t scratch_bytes)
{
  clm__gemm g;
  size_t needed = 0;
  CLM_TRY(complete(gemm, &g));
  CLM_TRY(clm__blas_scratch_bytes(device, gemm, &needed));
  CLM_REQUIRE(needed == 0 || (scratch != NULL && scratch_bytes >= needed), CLM_INTERNAL,
              "a matrix product of %zux%zux%zu needs %zu bytes of scratch and was given %zu", g.m,
              g.n, g.k, needed, scratch != NULL ? scratch_bytes : 0);
  if (clm__testswitch_is("CLEMATIS_TEST_BAD_GEMM", "1")) g.alpha = g.alpha * 1.125F + 0.125F;
  const CLBlastStatusCode code = CLBlastSgemmWithTempBuffer(
      CLBlastLayoutRowMajor, transpose_of(g.transpose_a), transpose_of(g.transpose_b), g.m, g.n,
      g.k, g.alpha, g.a, g.a_offset, g.lda, g.b, g.b_offset, g.ldb, g.beta, g.c, g.c_offset, g.ldc,
      &device->queue, NULL, needed > 0 ? scratch : NULL);
  CLM_TRY(check_code(device, code, "CLBlastSgemmWithTempBuffer"));
  atomic_fetch_add(&device->counts.kernels_enqueued, 1);
  return CLM_OK;
}

clm_status clm__blas_warm(clm__device *device, const clm__gemm *gemms, size_t count, cl_mem scratch,
                          size_t scratch_bytes)
{
  for (size_t i = 0; i < count; i++) {
    clm__gemm harmless = gemms[i];
    harmless.alpha = 0.0F;
    harmless.beta = 1.0F;
    CLM_TRY(clm__blas_gemm(device, &harmless, scratch, scratch_bytes));
  }
  return clm__device_finish(device);
}
