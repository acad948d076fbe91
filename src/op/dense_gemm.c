#include "op/dense_variants.h"

#include "base/num.h"
#include "dev/blas.h"

/* Products by CLBlast. The workspace holds its scratch and, behind that, the gradient before the
 * activation where there is one. */

/* The product of a pass; buffers are not filled in. */
static clm__gemm product_of(clm__pass pass, const clm__dense_sizes *sizes, int rows)
{
  const size_t m = (size_t)rows;
  const size_t in = (size_t)sizes->in;
  const size_t units = (size_t)sizes->units;
  clm__gemm gemm = {.alpha = 1.0F};
  switch (pass) {
  case CLM__FORWARD: /* y = x w */
    gemm.m = m, gemm.n = units, gemm.k = in;
    break;
  case CLM__BACKWARD_X: /* dx = dz w' */
    gemm.m = m, gemm.n = in, gemm.k = units, gemm.transpose_b = true;
    break;
  default: /* dw = x' dz */
    gemm.m = in, gemm.n = units, gemm.k = m, gemm.transpose_a = true;
    break;
  }
  return gemm;
}

/* Bytes of scratch that do for every batch up to `rows`, a multiple of 256, so that dz behind it is
 * aligned. Offsets make the answer the largest there is: without them, CLBlast works in place where
 * sizes happen to suit it, and a smaller batch may need more than a larger one. */
static clm_status find_scratch(clm__instance *instance, const clm__dense_sizes *sizes, int rows,
                               size_t *size_bytes)
{
  clm__gemm gemm = product_of(instance->pass, sizes, rows);
  size_t needed = 0;
  gemm.a_offset = gemm.b_offset = gemm.c_offset = 1;
  CLM_TRY(clm__blas_scratch_bytes(instance->device, &gemm, &needed));
  *size_bytes = clm__round_up(needed, 256);
  return CLM_OK;
}

static bool has_slope(const clm__instance *instance, const clm__dense_sizes *sizes)
{
  return instance->pass != CLM__FORWARD && sizes->epilogue != CLM__LINEAR;
}

static size_t count_outputs(const clm__dense_sizes *sizes, int rows)
{
  return (size_t)rows * (size_t)sizes->units;
}

static clm_status prepare(clm__instance *instance)
{
  const clm__dense_sizes sizes = clm__dense_sizes_of(instance->problem);
  char options[CLM__DENSE_OPTIONS_SIZE];
  int rows = 0;
  size_t scratch = 0;
  CLM_TRY(clm__dense_rows(instance->problem, &rows));
  CLM_TRY(find_scratch(instance, &sizes, rows, &scratch));
  clm__dense_options(&sizes, options);
  instance->workspace_bytes = scratch;
  if (instance->pass == CLM__FORWARD && (sizes.use_bias || sizes.epilogue != CLM__LINEAR))
    CLM_TRY(clm__instance_add_kernel(instance, "dense.cl", options, "dense_fwd_finish"));
  if (has_slope(instance, &sizes)) {
    CLM_TRY(clm__instance_add_kernel(instance, "dense.cl", options, "dense_bwd_slope"));
    instance->workspace_bytes += count_outputs(&sizes, rows) * sizeof(float);
  }
  if (instance->pass == CLM__BACKWARD_W && sizes.use_bias)
    CLM_TRY(clm__instance_add_kernel(instance, "dense.cl", options, "dense_bwd_bias_plain"));
  return CLM_OK;
}

static clm_status enqueue_finish(clm__instance *instance, const clm__op_args *args, int rows)
{
  const clm__dense_sizes sizes = clm__dense_sizes_of(instance->problem);
  if (instance->kernel_count == 0) return CLM_OK;
  clm__launch launch = clm__launch_begin(&instance->kernels[0]);
  clm__launch_buffer(&launch, args->y);
  clm__launch_buffer(&launch, sizes.use_bias ? args->w[1] : NULL);
  clm__launch_int(&launch, rows);
  CLM_TRY(clm__launch_run(&launch, 2, (size_t[]){(size_t)sizes.units, (size_t)rows}, NULL));
  return CLM_OK;
}

/* Writes dz into the workspace behind `scratch` bytes. */
static clm_status enqueue_slope(clm__instance *instance, const clm__op_args *args, int rows,
                                size_t scratch)
{
  const size_t units = (size_t)clm__dense_sizes_of(instance->problem).units;
  clm__launch launch = clm__launch_begin(&instance->kernels[0]);
  clm__launch_buffer(&launch, args->workspace);
  clm__launch_buffer(&launch, args->dy);
  clm__launch_buffer(&launch, args->y);
  clm__launch_int(&launch, rows);
  clm__launch_uint(&launch, (uint32_t)(scratch / sizeof(float)));
  CLM_TRY(clm__launch_run(&launch, 2, (size_t[]){units, (size_t)rows}, NULL));
  return CLM_OK;
}

static clm_status enqueue_bias(clm__instance *instance, const clm__op_args *args, int rows)
{
  const clm__dense_sizes sizes = clm__dense_sizes_of(instance->problem);
  if (!sizes.use_bias) return CLM_OK;
  clm__launch launch = clm__launch_begin(&instance->kernels[instance->kernel_count - 1]);
  clm__launch_buffer(&launch, args->dw[1]);
  clm__launch_buffer(&launch, args->dy);
  clm__launch_buffer(&launch, args->y);
  clm__launch_int(&launch, rows);
  CLM_TRY(clm__launch_run(&launch, 1, (size_t[]){(size_t)sizes.units}, NULL));
  return CLM_OK;
}

static clm_status enqueue_forward(clm__instance *instance, const clm__op_args *args, int rows,
                                  clm__gemm *gemm)
{
  gemm->a = args->x[0];
  gemm->b = args->w[0];
  gemm->c = args->y;
  CLM_TRY(clm__blas_gemm(instance->device, gemm, args->workspace, instance->workspace_bytes));
  CLM_TRY(enqueue_finish(instance, args, rows));
  return CLM_OK;
}

static clm_status enqueue_backward(clm__instance *instance, const clm__op_args *args, int rows,
                                   clm__gemm *gemm)
{
  const clm__dense_sizes sizes = clm__dense_sizes_of(instance->problem);
  const bool slope = has_slope(instance, &sizes);
  size_t scratch = instance->workspace_bytes;
  int rows_max = 0;
  if (slope) {
    CLM_TRY(clm__dense_rows(instance->problem, &rows_max));
    scratch -= count_outputs(&sizes, rows_max) * sizeof(float);
    CLM_TRY(enqueue_slope(instance, args, rows, scratch));
  }
  const bool to_x = instance->pass == CLM__BACKWARD_X;
  cl_mem dz = slope ? args->workspace : args->dy;
  const size_t dz_offset = slope ? scratch / sizeof(float) : 0;
  gemm->a = to_x ? dz : args->x[0];
  gemm->a_offset = to_x ? dz_offset : 0;
  gemm->b = to_x ? args->w[0] : dz;
  gemm->b_offset = to_x ? 0 : dz_offset;
  gemm->c = to_x ? args->dx[0] : args->dw[0];
  CLM_TRY(clm__blas_gemm(instance->device, gemm, scratch > 0 ? args->workspace : NULL, scratch));
  if (!to_x) CLM_TRY(enqueue_bias(instance, args, rows));
  return CLM_OK;
}

static clm_status enqueue(clm__instance *instance, const clm__op_args *args)
{
  const clm__dense_sizes sizes = clm__dense_sizes_of(instance->problem);
  const int rows = args->batch * sizes.rows_per_image;
  clm__gemm gemm = product_of(instance->pass, &sizes, rows);
  if (instance->pass == CLM__FORWARD) CLM_TRY(enqueue_forward(instance, args, rows, &gemm));
  if (instance->pass != CLM__FORWARD) CLM_TRY(enqueue_backward(instance, args, rows, &gemm));
  return CLM_OK;
}

const clm__variant clm__dense_gemm = {.name = "gemm",
                                      .passes = (1U << CLM__PASS_COUNT) - 1,
                                      .uses_blas = true,
                                      .worth_it = clm__dense_is_large,
                                      .prepare = prepare,
                                      .enqueue = enqueue};
