#include "dev/blas_check.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/rng.h"
#include "dev/buffer.h"

#include <math.h>

/* Rows of c compared in a large product. */
#define ROWS_MAX 40

/* The matrices of one product, on the host and on the device. */
typedef struct product {
  clm__gemm gemm;
  float *a, *b, *c;
  cl_mem scratch;
  size_t scratch_bytes;
} product;

static clm_status make_operand(clm__device *device, size_t count, uint32_t which, float **values,
                               cl_mem *buffer)
{
  CLM_TRY(clm__mem_alloc(count, sizeof(float), values));
  for (size_t i = 0; i < count; i += 4) {
    uint32_t bits[4];
    clm__rng_block(1, CLM__RNG_TEST, which, i / 4, bits);
    for (size_t k = 0; k < 4 && i + k < count; k++)
      (*values)[i + k] = clm__rng_unit(bits[k]) - 0.5F;
  }
  CLM_TRY(clm__buffer_create(device, count * sizeof(float), buffer));
  return clm__buffer_write(device, *buffer, 0, *values, count * sizeof(float), true);
}

static clm_status multiply(clm__device *device, product *p)
{
  clm__gemm *g = &p->gemm;
  CLM_TRY(make_operand(device, g->m * g->k, 1, &p->a, &g->a));
  CLM_TRY(make_operand(device, g->k * g->n, 2, &p->b, &g->b));
  CLM_TRY(make_operand(device, g->m * g->n, 3, &p->c, &g->c));
  CLM_TRY(clm__blas_scratch_bytes(device, g, &p->scratch_bytes));
  if (p->scratch_bytes > 0) CLM_TRY(clm__buffer_create(device, p->scratch_bytes, &p->scratch));
  CLM_TRY(clm__blas_gemm(device, g, p->scratch, p->scratch_bytes));
  return clm__buffer_read(device, g->c, 0, p->c, g->m * g->n * sizeof(float), true);
}

static void free_product(product *p)
{
  clm__buffer_release(&p->gemm.a);
  clm__buffer_release(&p->gemm.b);
  clm__buffer_release(&p->gemm.c);
  clm__buffer_release(&p->scratch);
  clm__mem_free(p->a);
  clm__mem_free(p->b);
  clm__mem_free(p->c);
}

static double error_at(const product *p, size_t row, size_t column)
{
  const clm__gemm *g = &p->gemm;
  double sum = 0, terms = 0;
  for (size_t l = 0; l < g->k; l++) {
    const double a = p->a[g->transpose_a ? l * g->m + row : row * g->k + l];
    const double b = p->b[g->transpose_b ? column * g->k + l : l * g->n + column];
    sum += a * b;
    terms += fabs(a * b);
  }
  const double error = fabs(p->c[row * g->n + column] - sum) / (terms + 1e-30);
  return isfinite(error) ? error : HUGE_VAL;
}

/* The largest error in rows spread over the whole product, the first and the last among them. */
static double find_error(const product *p)
{
  const size_t rows = clm__min_size(p->gemm.m, ROWS_MAX);
  double worst = 0;
  for (size_t i = 0; i < rows; i++) {
    const size_t row = rows == 1 ? 0 : i * (p->gemm.m - 1) / (rows - 1);
    for (size_t column = 0; column < p->gemm.n; column++)
      worst = fmax(worst, error_at(p, row, column));
  }
  return worst;
}

static clm_status check_product(clm__device *device, const clm__gemm *gemm,
                                clm__blas_verdict *verdict)
{
  product p = {.gemm = *gemm};
  const clm_status status = multiply(device, &p);
  if (status == CLM_OK) {
    const double error = find_error(&p);
    if (verdict->products == 0 || error > verdict->worst_error) {
      verdict->worst_error = error;
      verdict->worst = *gemm;
    }
    verdict->products++;
  }
  free_product(&p);
  return status;
}

static clm_status check_transposes(clm__device *device, const size_t size[3],
                                   clm__blas_verdict *verdict)
{
  for (int i = 0; i < 4; i++) {
    const clm__gemm gemm = {.transpose_a = (i & 1) != 0,
                            .transpose_b = (i & 2) != 0,
                            .m = size[0],
                            .n = size[1],
                            .k = size[2],
                            .alpha = 1.0F};
    CLM_TRY(check_product(device, &gemm, verdict));
  }
  return CLM_OK;
}

clm_status clm__blas_check(clm__device *device, bool is_full, clm__blas_verdict *verdict)
{
  static const size_t sizes[][3] = {{257, 129, 65},  {1, 1, 1},        {32, 128, 4099},
                                    {4099, 16, 27},  {1152, 1152, 64}, {1250, 333, 1152},
                                    {1024, 1024, 96}};
  const size_t count = is_full ? sizeof sizes / sizeof sizes[0] : 1;
  clm__blas_verdict found = {0};
  CLM_TRY(clm__blas_prepare(device, NULL));
  for (size_t i = 0; i < count; i++) CLM_TRY(check_transposes(device, sizes[i], &found));
  found.is_right = found.worst_error <= CLM__BLAS_TOLERANCE;
  *verdict = found;
  return CLM_OK;
}
