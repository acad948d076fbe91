#include "op/pooling2d.h"

#include <stdio.h>

/* Mean over height and width. */

static const clm__field fields[] = {
    {.key = "data_format", .kind = CLM__FIELD_FIXED, .fixed = "\"channels_last\""},
    {.key = "keepdims",
     .kind = CLM__FIELD_BOOL,
     .offset = offsetof(clm__global_pooling2d_attributes, keepdims)},
    {0}};

static clm_status infer(void *attributes, const clm__shape *inputs, int input_count,
                        clm__op_spec *spec)
{
  (void)input_count;
  CLM_TRY(clm__global_pooling2d_infer(attributes, &inputs[0], spec));
  return CLM_OK;
}

static clm_status prepare(clm__instance *instance)
{
  const int *dims = instance->problem->inputs[0].dims;
  char options[96];
  snprintf(options, sizeof options, "-DIN_H=%d -DIN_W=%d -DCHANNELS=%d", dims[0], dims[1], dims[2]);
  const char *kernel = instance->pass == CLM__FORWARD ? "global_average_pooling2d_fwd_plain"
                                                      : "global_average_pooling2d_bwd_x_plain";
  CLM_TRY(clm__instance_add_kernel(instance, "global_average_pooling2d.cl", options, kernel));
  return CLM_OK;
}

static clm_status enqueue(clm__instance *instance, const clm__op_args *args)
{
  const bool forward = instance->pass == CLM__FORWARD;
  const int *dims = instance->problem->inputs[0].dims;
  const size_t pixels = (size_t)dims[0] * (size_t)dims[1];
  clm__launch launch = clm__launch_begin(&instance->kernels[0]);
  clm__launch_buffer(&launch, forward ? args->y : args->dx[0]);
  clm__launch_buffer(&launch, forward ? args->x[0] : args->dy);
  clm__launch_int(&launch, args->batch);
  const size_t items[] = {(forward ? 1 : pixels) * (size_t)dims[2], (size_t)args->batch};
  CLM_TRY(clm__launch_run(&launch, 2, items, NULL));
  return CLM_OK;
}

static const clm__variant plain = {.name = "plain",
                                   .passes = 1U << CLM__FORWARD | 1U << CLM__BACKWARD_X,
                                   .prepare = prepare,
                                   .enqueue = enqueue};
static const clm__variant *const variants[] = {&clm__global_average_pooling2d_gpu, &plain, NULL};

const clm__op clm__op_global_average_pooling2d = {.name = "global_average_pooling2d",
                                                  .keras_class = "GlobalAveragePooling2D",
                                                  .attribute_bytes =
                                                      sizeof(clm__global_pooling2d_attributes),
                                                  .fields = fields,
                                                  .inputs_least = 1,
                                                  .inputs_most = 1,
                                                  .infer = infer,
                                                  .variants = variants};
