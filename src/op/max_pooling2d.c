#include "op/pooling2d.h"

/* Maximum of each window; of equal ones the first in row-major order. What is saved for backward is
 * the winner's number in its window, counted row by row over the whole window (padding too): one
 * byte an output, two where windows have more than 256 places. */

static const clm__field fields[] = {
    {.key = "pool_size",
     .kind = CLM__FIELD_PAIR,
     .offset = offsetof(clm__pooling2d_attributes, pool_size),
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
  const clm__pooling2d_attributes *pooling = attributes;
  clm__op_spec answer;
  (void)input_count;
  CLM_TRY(clm__pooling2d_infer(attributes, &inputs[0], &answer));
  const int64_t places = (int64_t)pooling->pool_size[0] * pooling->pool_size[1];
  CLM_REQUIRE(places <= 1 << 16, CLM_UNSUPPORTED,
              "a pool of %dx%d has more than 65536 places; use GlobalMaxPooling2D",
              pooling->pool_size[0], pooling->pool_size[1]);
  answer.saved_bytes_per_image = clm__shape_elements(&answer.output) * (places > 256 ? 2 : 1);
  *spec = answer;
  return CLM_OK;
}

static clm_status prepare(clm__instance *instance)
{
  char options[CLM__POOLING2D_OPTIONS_SIZE];
  CLM_TRY(clm__pooling2d_options(instance->problem, options));
  const char *kernel =
      instance->pass == CLM__FORWARD ? "max_pooling2d_fwd_plain" : "max_pooling2d_bwd_x_plain";
  CLM_TRY(clm__instance_add_kernel(instance, "max_pooling2d.cl", options, kernel));
  return CLM_OK;
}

static clm_status enqueue(clm__instance *instance, const clm__op_args *args)
{
  const bool forward = instance->pass == CLM__FORWARD;
  const clm__problem *problem = instance->problem;
  const int *dims = forward ? problem->spec.output.dims : problem->inputs[0].dims;
  clm__launch launch = clm__launch_begin(&instance->kernels[0]);
  clm__launch_buffer(&launch, forward ? args->y : args->dx[0]);
  clm__launch_buffer(&launch, forward ? args->saved : args->dy);
  clm__launch_buffer(&launch, forward ? args->x[0] : args->saved);
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

const clm__op clm__op_max_pooling2d = {.name = "max_pooling2d",
                                       .keras_class = "MaxPooling2D",
                                       .attribute_bytes = sizeof(clm__pooling2d_attributes),
                                       .fields = fields,
                                       .inputs_least = 1,
                                       .inputs_most = 1,
                                       .infer = infer,
                                       .variants = variants};
