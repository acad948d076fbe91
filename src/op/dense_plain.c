#include "op/dense_variants.h"

static clm_status prepare(clm__instance *instance)
{
  static const char *const kernels[CLM__PASS_COUNT] = {"dense_fwd_plain", "dense_bwd_x_plain",
                                                       "dense_bwd_w_plain"};
  const clm__dense_sizes sizes = clm__dense_sizes_of(instance->problem);
  char options[CLM__DENSE_OPTIONS_SIZE];
  int rows = 0;
  CLM_TRY(clm__dense_rows(instance->problem, &rows));
  clm__dense_options(&sizes, options);
  CLM_TRY(clm__instance_add_kernel(instance, "dense.cl", options, kernels[instance->pass]));
  if (instance->pass == CLM__BACKWARD_W && sizes.use_bias)
    CLM_TRY(clm__instance_add_kernel(instance, "dense.cl", options, "dense_bwd_bias_plain"));
  return CLM_OK;
}

static clm_status enqueue_forward(clm__instance *instance, const clm__op_args *args, int rows)
{
  const clm__dense_sizes sizes = clm__dense_sizes_of(instance->problem);
  clm__launch launch = clm__launch_begin(&instance->kernels[0]);
  clm__launch_buffer(&launch, args->y);
  clm__launch_buffer(&launch, args->x[0]);
  clm__launch_buffer(&launch, args->w[0]);
  clm__launch_buffer(&launch, sizes.use_bias ? args->w[1] : NULL);
  clm__launch_int(&launch, rows);
  CLM_TRY(clm__launch_run(&launch, 2, (size_t[]){(size_t)sizes.units, (size_t)rows}, NULL));
  return CLM_OK;
}

static clm_status enqueue_backward_x(clm__instance *instance, const clm__op_args *args, int rows)
{
  const clm__dense_sizes sizes = clm__dense_sizes_of(instance->problem);
  clm__launch launch = clm__launch_begin(&instance->kernels[0]);
  clm__launch_buffer(&launch, args->dx[0]);
  clm__launch_buffer(&launch, args->dy);
  clm__launch_buffer(&launch, args->y);
  clm__launch_buffer(&launch, args->w[0]);
  clm__launch_int(&launch, rows);
  CLM_TRY(clm__launch_run(&launch, 2, (size_t[]){(size_t)sizes.in, (size_t)rows}, NULL));
  return CLM_OK;
}

static clm_status enqueue_backward_w(clm__instance *instance, const clm__op_args *args, int rows)
{
  const clm__dense_sizes sizes = clm__dense_sizes_of(instance->problem);
  clm__launch launch = clm__launch_begin(&instance->kernels[0]);
  clm__launch_buffer(&launch, args->dw[0]);
  clm__launch_buffer(&launch, args->x[0]);
  clm__launch_buffer(&launch, args->dy);
  clm__launch_buffer(&launch, args->y);
  clm__launch_int(&launch, rows);
  CLM_TRY(clm__launch_run(&launch, 2, (size_t[]){(size_t)sizes.units, (size_t)sizes.in}, NULL));
  if (!sizes.use_bias) return CLM_OK;
  launch = clm__launch_begin(&instance->kernels[1]);
  clm__launch_buffer(&launch, args->dw[1]);
  clm__launch_buffer(&launch, args->dy);
  clm__launch_buffer(&launch, args->y);
  clm__launch_int(&launch, rows);
  CLM_TRY(clm__launch_run(&launch, 1, (size_t[]){(size_t)sizes.units}, NULL));
  return CLM_OK;
}

static clm_status enqueue(clm__instance *instance, const clm__op_args *args)
{
  const int rows = args->batch * clm__dense_sizes_of(instance->problem).rows_per_image;
  if (instance->pass == CLM__FORWARD) CLM_TRY(enqueue_forward(instance, args, rows));
  if (instance->pass == CLM__BACKWARD_X) CLM_TRY(enqueue_backward_x(instance, args, rows));
  if (instance->pass == CLM__BACKWARD_W) CLM_TRY(enqueue_backward_w(instance, args, rows));
  return CLM_OK;
}

const clm__variant clm__dense_plain = {
    .name = "plain", .passes = (1U << CLM__PASS_COUNT) - 1, .prepare = prepare, .enqueue = enqueue};
