#include "dev/blas.h"

#include "base/error.h"
#include "base/testswitch.h"
#include "dev/profile.h"

#include <clblast_c.h>

#include <stdlib.h>
#include <string.h>

#define PARAMETERS_MAX 24
#define NAME_SIZE 32
#define ROUTINE_PREFIX "XGEMM_" /* of parameters that choose among CLBlast's kernels */

/* Parameters of one of CLBlast's kernels. */
typedef struct parameters {
  char names[PARAMETERS_MAX][NAME_SIZE];
  size_t values[PARAMETERS_MAX];
  size_t count;
} parameters;

static clm_status check_code(const clm__device *device, CLBlastStatusCode code, const char *call)
{
  if (code == CLBlastSuccess) return CLM_OK;
  if ((int)code > -1000) /* the codes that CLBlast shares with OpenCL */
    return clm__cl_check(device, (cl_int)code, call);
  CLM_FAIL(CLM_DEVICE_FAILED, "device %s (%s): %s gave CLBlast's code %d", device->info.id,
           device->info.name, call, (int)code);
}

static clm_status override(clm__device *device, const char *kernel, const parameters *set)
{
  const char *names[PARAMETERS_MAX];
  if (set->count == 0) return CLM_OK;
  for (size_t i = 0; i < set->count; i++) names[i] = set->names[i];
  const CLBlastStatusCode code = CLBlastOverrideParameters(
      device->handle, kernel, CLBlastPrecisionSingle, set->count, names, set->values);
  if (code != CLBlastInvalidOverrideKernel && code != CLBlastMissingOverrideParameter)
    return check_code(device, code, "CLBlastOverrideParameters");
  clm__log(device->log, CLM_LOG_DETAIL,
           "CLBlast does not take our parameters of %s for device %s (code %d)", kernel,
           device->info.id, (int)code);
  return CLM_OK;
}

/* Takes the words of "KWG=16 XGEMM_...=1" that belong to the routine, or the others. */
static clm_status read_parameters(const char *text, bool of_routine, parameters *set)
{
  *set = (parameters){0};
  for (text += strspn(text, " "); *text != '\0'; text += strspn(text, " ")) {
    const size_t length = strcspn(text, " ");
    const size_t name = strcspn(text, "= ");
    if ((strncmp(text, ROUTINE_PREFIX, sizeof ROUTINE_PREFIX - 1) == 0) == of_routine) {
      CLM_REQUIRE(set->count < PARAMETERS_MAX && name < NAME_SIZE && name < length, CLM_BAD_DATA,
                  "\"%.*s\" is no parameter of matrix products, or there are too many", (int)length,
                  text);
      memcpy(set->names[set->count], text, name);
      set->values[set->count++] = strtoul(text + name + 1, NULL, 10);
    }
    text += length;
  }
  return CLM_OK;
}

/* Overriding makes CLBlast forget the kernels it has compiled. */
clm_status clm__blas_use(clm__device *device, const char *text)
{
  parameters kernel, routine;
  CLM_TRY(read_parameters(text, false, &kernel));
  CLM_TRY(read_parameters(text, true, &routine));
  CLM_TRY(override(device, "Xgemm", &kernel));
  return override(device, "GemmRoutine", &routine);
}

/* CLBlast's own parameters are for GPUs, where they were measured: groups of many items and tiles
 * in local memory. On a CPU one item a group with a register tile is several times faster, and the
 * tiles differ in how many vectors (MWG / VWM) and columns (NWG) they hold. */
#define ONE_ITEM "GEMMK=0 KREG=1 KWI=1 MDIMA=1 MDIMC=1 NDIMB=1 NDIMC=1 SA=0 SB=0 STRM=0 STRN=0 "
#define ALWAYS " XGEMM_MIN_INDIRECT_SIZE=1"

const char *const *clm__blas_candidates(const clm__device_info *info)
{
  static const char *const wide[] = {ONE_ITEM "KWG=16 MWG=32 NWG=12 VWM=16 VWN=4" ALWAYS,
                                     ONE_ITEM "KWG=32 MWG=32 NWG=12 VWM=16 VWN=4" ALWAYS,
                                     ONE_ITEM "KWG=16 MWG=48 NWG=8 VWM=16 VWN=4" ALWAYS,
                                     ONE_ITEM "KWG=16 MWG=64 NWG=6 VWM=16 VWN=2" ALWAYS, NULL};
  static const char *const medium[] = {ONE_ITEM "KWG=16 MWG=16 NWG=6 VWM=8 VWN=2" ALWAYS,
                                       ONE_ITEM "KWG=32 MWG=16 NWG=6 VWM=8 VWN=2" ALWAYS,
                                       ONE_ITEM "KWG=16 MWG=24 NWG=4 VWM=8 VWN=4" ALWAYS, NULL};
  static const char *const narrow[] = {ONE_ITEM "KWG=16 MWG=8 NWG=6 VWM=4 VWN=2" ALWAYS,
                                       ONE_ITEM "KWG=16 MWG=12 NWG=4 VWM=4 VWN=4" ALWAYS, NULL};
  static const char *const none[] = {NULL};
  if (info->kind != CLM__DEVICE_CPU) return none;
  if (info->vector_width >= 16) return wide;
  return info->vector_width >= 8 ? medium : narrow;
}

/* CLBlast keeps programs by the address of their context. A later context may get the same address
 * and would be given programs of one that is gone, so they go with the device. */
static void forget_programs(void) { (void)CLBlastClearCache(); }

static clm_status use_recorded(clm__device *device, const clm__tune *tune)
{
  clm__tune_values values;
  clm__tune_find(tune, &device->info, CLM__BLAS_OP, "*", &values);
  return strcmp(values.variant, CLM__BLAS_VARIANT) == 0 ? clm__blas_use(device, values.defines)
                                                        : CLM_OK;
}

static clm_status use_shipped(clm__device *device)
{
  clm__tune *shipped = NULL;
  CLM_TRY(clm__tune_open_shipped(&shipped));
  const clm_status status = use_recorded(device, shipped);
  clm__tune_close(shipped);
  return status;
}

clm_status clm__blas_prepare(clm__device *device, const clm__tune *tune)
{
  clm_status status = CLM_OK;
  (void)pthread_mutex_lock(&device->lock);
  if (!device->is_blas_prepared)
    status = tune != NULL ? use_recorded(device, tune) : use_shipped(device);
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
      &device->queue, clm__profile_next(device, "gemm", 0), needed > 0 ? scratch : NULL);
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
