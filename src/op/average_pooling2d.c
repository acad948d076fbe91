#include "op/pooling2d.h"

/* Mean of the elements a window holds; padding is not counted. */

static const clm__field fields[] = {
    {.key = "pool_size",
     .kind = CLM__FIELD_PAIR,
     .offset = offsetof(clm__pooling2d_attributes, pool_size),
     .required = true,
     .least = 1,
     .most = 1 << 15,
     .otherwise = 2},
    {.key = "padding",
     .kind = CLM__FIELD_CHOICE,
     .offset = offsetof(clm__pooling2d_attributes, padding),
     .choices = clm__pooling2d_paddings},
    {.key = "strides",
     .kind = CLM__FIELD_PAIR_OR_NULL,
     .offset = offsetof(clm__pooling2d_attributes, strides),
     .least = 1,
     .most = 1 << 15},
    {.key = "data_format", .kind = CLM__FIELD_FIXED, .fixed = "\"channels_last\""},
    {0}};

static clm_status infer(void *attributes, const clm__shape *inputs, int input_count,
                        clm__op_spec *spec)
{
  (void)input_count;
  CLM_TRY(clm__pooling2d_infer(attributes, &inputs[0], spec));
  return CLM_OK;
}

static clm_status prepare(clm__instance *instance)
{
  char options[CLM__POOLING2D_OPTIONS_SIZE];
  CLM_TRY(clm__pooling2d_options(instance->problem, options));
  const char *kernel = instance->pass == CLM__FORWARD ? "average_pooling2d_fwd_plain"
                                                      : "average_pooling2d_bwd_x_plain";
  CLM_TRY(clm__instance_add_kernel(instance, "average_pooling2d.cl", options, kernel));
  return CLM_OK;
}

static clm_status enqueue(clm__instance *instance, const clm__op_args *args)
{
  const bool forward = instance->pass == CLM__FORWARD;
  const clm__problem *problem = instance->problem;
  const int *dims = forward ? problem->spec.output.dims : problem->inputs[0].dims;
  clm__launch launch = clm__launch_begin(&instance->kernels[0]);
  clm__launch_buffer(&launch, forward ? args->y : args->dx[0]);
  clm__launch_buffer(&launch, forward ? args->x[0] : args->dy);
  clm__launch_int(&launch, args->batch);
  const size_t items[] = {(size_t)dims[1] * (size_t)dims[2], (size_t)args->batch * (size_t)dims[0]};
  CLM_TRY(clm__launch_run(&launch, 2, items, NULL));
  return CLM_OK;
}

static const clm__variant plain = {.name = "plain",
                                   .passes = 1U << CLM__FORWARD | 1U << CLM__BACKWARD_X,
                                   .prepare = prepare,
                                   .enqueue = enqueue};
static const clm__variant *const variants[] = {&plain, NULL};

const clm__op clm__op_average_pooling2d = {.name = "average_pooling2d",
                                           .keras_class = "AveragePooling2D",
                                           .attribute_bytes = sizeof(clm__pooling2d_attributes),
                                           .fields = fields,
                                           .inputs_least = 1,
                                           .inputs_most = 1,
                                           .infer = infer,
                                           .variants = variants};
