#include "op/activation.h"

#include "base/num.h"
#include "op/group.h"
#include "op/variant.h"

#include <limits.h>
#include <stdio.h>

static const clm__field fields[] = {
    {.key = "activation",
     .kind = CLM__FIELD_ACTIVATION,
     .offset = offsetof(clm__activation_attributes, activation),
     .required = true},
    {.key = NULL},
};

static clm__activation kind_of(const void *attributes)
{
  return ((const clm__activation_attributes *)attributes)->activation;
}

static clm_status infer(void *attributes, const clm__shape *inputs, int input_count,
                        clm__op_spec *spec)
{
  const clm__activation kind = kind_of(attributes);
  (void)input_count;
  CLM_REQUIRE(kind != CLM__SOFTMAX || inputs[0].rank >= 1, CLM_BAD_DATA,
              "Activation: softmax needs an axis, the input is a scalar");
  const bool reads_x = !clm__activation_is_epilogue(kind) && kind != CLM__SOFTMAX;
  *spec = (clm__op_spec){
      .output = inputs[0], .backward_reads_x = reads_x, .backward_reads_y = !reads_x};
  return CLM_OK;
}

/* ---- plain ---- */

static clm_status prepare(clm__instance *instance)
{
  const clm__problem *problem = instance->problem;
  const clm__activation kind = kind_of(problem->attributes);
  const clm__shape *shape = &problem->inputs[0];
  const bool is_forward = instance->pass == CLM__FORWARD;
  char options[64];
  if (kind == CLM__SOFTMAX) {
    snprintf(options, sizeof options, "-DCOLUMNS=%d", shape->dims[shape->rank - 1]);
    return clm__instance_add_kernel(instance, "activation.cl", options,
                                    is_forward ? "softmax_fwd_plain" : "softmax_bwd_x_plain");
  }
  snprintf(options, sizeof options, "-DACTIVATION=%d", (int)kind);
  return clm__instance_add_kernel(instance, "activation.cl", options,
                                  is_forward ? "activation_fwd_plain" : "activation_bwd_x_plain");
}

static clm_status enqueue(clm__instance *instance, const clm__op_args *args)
{
  const clm__problem *problem = instance->problem;
  const clm__shape *shape = &problem->inputs[0];
  const bool is_softmax = kind_of(problem->attributes) == CLM__SOFTMAX;
  const size_t row = is_softmax ? (size_t)shape->dims[shape->rank - 1] : 1;
  const size_t elements = clm__shape_elements(shape) / row;
  clm__launch launch = clm__launch_begin(&instance->kernels[0]);
  if (instance->pass == CLM__FORWARD) {
    clm__launch_buffer(&launch, args->y);
    clm__launch_buffer(&launch, args->x[0]);
  } else {
    clm__launch_buffer(&launch, args->dx[0]);
    clm__launch_buffer(&launch, problem->spec.backward_reads_x ? args->x[0] : args->y);
    clm__launch_buffer(&launch, args->dy);
  }
  clm__launch_uint(&launch, (uint32_t)elements);
  clm__launch_int(&launch, args->batch);
  return clm__launch_run(&launch, 1, (size_t[]){elements * (size_t)args->batch}, NULL);
}

static const clm__variant plain = {
    .name = "plain",
    .passes = 1U << CLM__FORWARD | 1U << CLM__BACKWARD_X,
    .prepare = prepare,
    .enqueue = enqueue,
};

/* ---- softmax for GPUs: neighbouring items share a row ---- */

typedef struct cut {
  int items; /* of a group */
  int share; /* of them for a row */
  size_t columns;
  size_t rows; /* of an image */
} cut;

static cut cut_of(const clm__instance *instance)
{
  const clm__shape *shape = &instance->problem->inputs[0];
  const size_t columns = (size_t)shape->dims[shape->rank - 1];
  const int items = clm__group_items(&instance->device->info, instance->tuning.defines);
  return (cut){.items = items,
               .share = clm__group_span(columns, items),
               .columns = columns,
               .rows = clm__shape_elements(shape) / columns};
}

static bool usable_gpu(const clm__problem *problem, clm__pass pass, const clm__device_info *info)
{
  (void)pass;
  (void)info;
  return kind_of(problem->attributes) == CLM__SOFTMAX &&
         clm__shape_elements(&problem->inputs[0]) * (size_t)problem->batch_max <= INT_MAX;
}

static clm_status prepare_gpu(clm__instance *instance)
{
  const cut made = cut_of(instance);
  char options[96];
  snprintf(options, sizeof options, "-DCOLUMNS=%zu -DGROUP=%d -DSHARE=%d", made.columns, made.items,
           made.share);
  return clm__instance_add_kernel(instance, "softmax_gpu.cl", options,
                                  instance->pass == CLM__FORWARD ? "softmax_fwd_gpu"
                                                                 : "softmax_bwd_x_gpu");
}

static clm_status enqueue_gpu(clm__instance *instance, const clm__op_args *args)
{
  const bool forward = instance->pass == CLM__FORWARD;
  const cut made = cut_of(instance);
  const size_t rows = made.rows * (size_t)args->batch;
  clm__launch launch = clm__launch_begin(&instance->kernels[0]);
  clm__launch_buffer(&launch, forward ? args->y : args->dx[0]);
  clm__launch_buffer(&launch, forward ? args->x[0] : args->y);
  if (!forward) clm__launch_buffer(&launch, args->dy);
  clm__launch_uint(&launch, (uint32_t)rows);
  return clm__launch_run(&launch, 1, (size_t[]){rows * (size_t)made.share}, NULL);
}

static const clm__variant gpu = {
    .name = "gpu",
    .passes = 1U << CLM__FORWARD | 1U << CLM__BACKWARD_X,
    .for_gpus = true,
    .usable = usable_gpu,
    .prepare = prepare_gpu,
    .enqueue = enqueue_gpu,
    .candidates = {clm__group_candidates, clm__group_candidates},
};

static const clm__variant *const variants[] = {&gpu, &plain, NULL};

const clm__op clm__op_activation = {
    .name = "activation",
    .keras_class = "Activation",
    .attribute_bytes = sizeof(clm__activation_attributes),
    .fields = fields,
    .inputs_least = 1,
    .inputs_most = 1,
    .infer = infer,
    .variants = variants,
};
