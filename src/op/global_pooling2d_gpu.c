/* The gpu variants of the global pools (cl/global_pooling2d_gpu.cl). */
#include "base/num.h"
#include "op/group.h"
#include "op/pooling2d.h"

#include <stdio.h>

#define WIDE_MOST 32 /* neighbouring floats: the widest read of a GPU */

typedef struct cut {
  int items; /* of a group */
  int wide;  /* channels of a group */
} cut;

static cut cut_of(const clm__instance *instance)
{
  const size_t channels = (size_t)instance->problem->inputs[0].dims[2];
  const int items = clm__group_items(&instance->device->info, instance->tuning.defines);
  return (cut){items, clm__group_span(channels, clm__min_int(items, WIDE_MOST))};
}

static clm_status prepare(clm__instance *instance, const char *kernel)
{
  const int *dims = instance->problem->inputs[0].dims;
  const cut made = cut_of(instance);
  char options[128];
  snprintf(options, sizeof options, "-DIN_H=%d -DIN_W=%d -DCHANNELS=%d -DGROUP=%d -DWIDE=%d",
           dims[0], dims[1], dims[2], made.items, made.wide);
  CLM_TRY(clm__instance_add_kernel(instance, "global_pooling2d_gpu.cl", options, kernel));
  return CLM_OK;
}

static clm_status prepare_average(clm__instance *instance)
{
  return prepare(instance, "global_average_pooling2d_fwd_gpu");
}

static clm_status prepare_max(clm__instance *instance)
{
  return prepare(instance, instance->pass == CLM__FORWARD ? "global_max_pooling2d_fwd_gpu"
                                                          : "global_max_pooling2d_bwd_x_gpu");
}

static clm_status enqueue(clm__instance *instance, const clm__op_args *args)
{
  const bool forward = instance->pass == CLM__FORWARD;
  const size_t channels = (size_t)instance->problem->inputs[0].dims[2];
  const cut made = cut_of(instance);
  clm__launch launch = clm__launch_begin(&instance->kernels[0]);
  clm__launch_buffer(&launch, forward ? args->y : args->dx[0]);
  if (!forward) clm__launch_buffer(&launch, args->dy);
  clm__launch_buffer(&launch, args->x[0]);
  if (!forward) clm__launch_buffer(&launch, args->y);
  const size_t items[] = {clm__ceil_div(channels, (size_t)made.wide) * (size_t)made.items,
                          (size_t)args->batch};
  CLM_TRY(clm__launch_run(&launch, 2, items, NULL));
  return CLM_OK;
}

const clm__variant clm__global_average_pooling2d_gpu = {.name = "gpu",
                                                        .passes = 1U << CLM__FORWARD,
                                                        .for_gpus = true,
                                                        .prepare = prepare_average,
                                                        .enqueue = enqueue,
                                                        .candidates = {clm__group_candidates}};

const clm__variant clm__global_max_pooling2d_gpu = {
    .name = "gpu",
    .passes = 1U << CLM__FORWARD | 1U << CLM__BACKWARD_X,
    .for_gpus = true,
    .prepare = prepare_max,
    .enqueue = enqueue,
    .candidates = {clm__group_candidates, clm__group_candidates}};
