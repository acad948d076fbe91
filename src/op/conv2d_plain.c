/* The plain variant of conv2d and conv2d_max_pool: one item an element of the result. */
#include "op/conv2d_plain.h"
#include "base/num.h"

#define PARTS_MAX 64            /* of the weight gradient's sum */
#define PARTS_BYTES (32U << 20) /* they may take this much, but at least one is kept */

/* Elements of kernel and bias together. */
static size_t count_elements(const clm__conv2d_geometry *geometry)
{
  return clm__conv2d_kernel_elements(geometry) +
         (geometry->use_bias ? (size_t)geometry->filters : 0);
}

size_t clm__conv2d_plain_parts(const clm__conv2d_geometry *geometry, size_t elements, int batch)
{
  const size_t rows = (size_t)batch * (size_t)geometry->oh;
  const size_t fit = PARTS_BYTES / (elements * sizeof(float));
  return clm__max_size(clm__min_size(clm__min_size(rows, fit), PARTS_MAX), 1);
}

static clm_status prepare(clm__instance *instance)
{
  static const char *const names[CLM__PASS_COUNT] = {"conv2d_fwd_plain", "conv2d_bwd_x_plain",
                                                     "conv2d_bwd_w_plain"};
  clm__conv2d_geometry geometry;
  clm__conv2d_geometry_of(instance->problem, &geometry);
  const size_t elements = count_elements(&geometry);
  clm__str options = {0};
  clm_status status = clm__conv2d_add_options(&geometry, &options);
  const char *const text = clm__str_get(&options);
  if (status == CLM_OK)
    status = clm__instance_add_kernel(instance, "conv2d.cl", text, names[instance->pass]);
  if (status == CLM_OK && instance->pass == CLM__BACKWARD_W) {
    status = clm__instance_add_kernel(instance, "conv2d.cl", text, "conv2d_reduce_plain");
    instance->workspace_bytes =
        clm__conv2d_plain_parts(&geometry, elements, instance->problem->batch_max) * elements *
        sizeof(float);
  }
  clm__str_fini(&options);
  return status;
}

static clm_status run_forward(clm__instance *instance, const clm__op_args *args,
                              const clm__conv2d_geometry *geometry)
{
  clm__launch launch = clm__launch_begin(&instance->kernels[0]);
  clm__launch_buffer(&launch, args->y);
  clm__launch_buffer(&launch, args->saved);
  clm__launch_buffer(&launch, args->x[0]);
  clm__launch_buffer(&launch, args->w[0]);
  clm__launch_buffer(&launch, args->w[1]);
  clm__launch_int(&launch, args->batch);
  const size_t items[] = {(size_t)geometry->filters, (size_t)geometry->yw,
                          (size_t)geometry->yh * (size_t)args->batch};
  return clm__launch_run(&launch, 3, items, NULL);
}

static clm_status run_backward_x(clm__instance *instance, const clm__op_args *args,
                                 const clm__conv2d_geometry *geometry)
{
  clm__launch launch = clm__launch_begin(&instance->kernels[0]);
  clm__launch_buffer(&launch, args->dx[0]);
  clm__launch_buffer(&launch, args->dy);
  clm__launch_buffer(&launch, args->y);
  clm__launch_buffer(&launch, args->saved);
  clm__launch_buffer(&launch, args->w[0]);
  clm__launch_int(&launch, args->batch);
  const size_t items[] = {(size_t)geometry->c, (size_t)geometry->w,
                          (size_t)geometry->h * (size_t)args->batch};
  return clm__launch_run(&launch, 3, items, NULL);
}

clm_status clm__conv2d_sum_plain(clm__kernel kernels[2], const clm__op_args *args,
                                 clm__conv2d_sum_range range)
{
  clm__launch launch = clm__launch_begin(&kernels[0]);
  clm__launch_buffer(&launch, args->workspace);
  clm__launch_uint(&launch, range.blocks);
  clm__launch_buffer(&launch, args->x[0]);
  clm__launch_buffer(&launch, args->dy);
  clm__launch_buffer(&launch, args->y);
  clm__launch_buffer(&launch, args->saved);
  clm__launch_int(&launch, args->batch);
  clm__launch_int(&launch, (int)range.first);
  clm__launch_int(&launch, (int)range.elements);
  clm__launch_int(&launch, (int)range.parts);
  CLM_TRY(clm__launch_run(&launch, 2, (size_t[]){range.elements, range.parts}, NULL));

  launch = clm__launch_begin(&kernels[1]);
  clm__launch_buffer(&launch, args->dw[0]);
  clm__launch_buffer(&launch, args->dw[1]);
  clm__launch_buffer(&launch, args->workspace);
  clm__launch_uint(&launch, range.blocks);
  clm__launch_int(&launch, (int)range.first);
  clm__launch_int(&launch, (int)range.elements);
  clm__launch_int(&launch, (int)range.parts);
  return clm__launch_run(&launch, 1, &range.elements, NULL);
}

static clm_status run_backward_w(clm__instance *instance, const clm__op_args *args,
                                 const clm__conv2d_geometry *geometry)
{
  const size_t elements = count_elements(geometry);
  const clm__conv2d_sum_range range = {
      .elements = elements, .parts = clm__conv2d_plain_parts(geometry, elements, args->batch)};
  return clm__conv2d_sum_plain(instance->kernels, args, range);
}

static clm_status enqueue(clm__instance *instance, const clm__op_args *args)
{
  clm__conv2d_geometry geometry;
  clm__conv2d_geometry_of(instance->problem, &geometry);
  switch (instance->pass) {
  case CLM__BACKWARD_X:
    return run_backward_x(instance, args, &geometry);
  case CLM__BACKWARD_W:
    return run_backward_w(instance, args, &geometry);
  default:
    return run_forward(instance, args, &geometry);
  }
}

const clm__variant clm__conv2d_plain = {
    .name = "plain", .passes = 7, .prepare = prepare, .enqueue = enqueue};
