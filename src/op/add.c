#include "base/num.h"
#include "op/variant.h"

#include <stdio.h>

static const clm__field fields[] = {{.key = NULL}};

/* The shape that two broadcast to; false where they do not. */
static bool broadcast(const clm__shape *a, const clm__shape *b, clm__shape *result)
{
  if (a->rank != b->rank) return false;
  clm__shape both = *a;
  for (int i = 0; i < a->rank; i++) {
    if (a->dims[i] != b->dims[i] && a->dims[i] != 1 && b->dims[i] != 1) return false;
    both.dims[i] = clm__max_int(a->dims[i], b->dims[i]);
  }
  *result = both;
  return true;
}

static clm_status infer(void *attributes, const clm__shape *inputs, int input_count,
                        clm__op_spec *spec)
{
  clm__shape output = inputs[0];
  char a[CLM__SHAPE_TEXT_SIZE], b[CLM__SHAPE_TEXT_SIZE];
  (void)attributes;
  for (int i = 1; i < input_count; i++)
    CLM_REQUIRE(broadcast(&output, &inputs[i], &output), CLM_BAD_DATA,
                "Add: %s and %s cannot be added", clm__shape_text(&output, a),
                clm__shape_text(&inputs[i], b));
  *spec = (clm__op_spec){.output = output};
  return CLM_OK;
}

/* ---- plain ---- */

/* Bit d is set where dimension d of an input is one that the output repeats. */
static int repeated_dims(const clm__shape *input, const clm__shape *output)
{
  int mask = 0;
  for (int d = 0; d < output->rank; d++)
    if (input->dims[d] != output->dims[d]) mask |= 1 << (d + CLM__RANK_MAX - output->rank);
  return mask;
}

static bool repeats_any(const clm__problem *problem)
{
  for (int i = 0; i < problem->input_count; i++)
    if (repeated_dims(&problem->inputs[i], &problem->spec.output) != 0) return true;
  return false;
}

/* Kernel 0 is for inputs of the output's shape; kernel 1, where needed, repeats dimensions. */
static clm_status prepare(clm__instance *instance)
{
  const clm__shape *output = &instance->problem->spec.output;
  const bool is_forward = instance->pass == CLM__FORWARD;
  int dims[CLM__RANK_MAX] = {1, 1, 1, 1};
  char options[96];
  for (int d = 0; d < output->rank; d++) dims[d + CLM__RANK_MAX - output->rank] = output->dims[d];
  CLM_TRY(clm__instance_add_kernel(instance, "add.cl", "",
                                   is_forward ? "add_fwd_plain" : "add_bwd_x_plain"));
  if (!repeats_any(instance->problem)) return CLM_OK;
  snprintf(options, sizeof options, "-DD0=%d -DD1=%d -DD2=%d -DD3=%d", dims[0], dims[1], dims[2],
           dims[3]);
  return clm__instance_add_kernel(instance, "add.cl", options,
                                  is_forward ? "add_fwd_repeated" : "add_bwd_x_repeated");
}

/* A tensor and the dimensions in which the output repeats it. */
typedef struct term {
  cl_mem buffer;
  int repeated;
} term;

/* y = a + b */
static clm_status enqueue_sum(clm__instance *instance, const clm__op_args *args, const term *a,
                              const term *b)
{
  const size_t elements = clm__shape_elements(&instance->problem->spec.output);
  const bool is_simple = a->repeated == 0 && b->repeated == 0;
  clm__launch launch = clm__launch_begin(&instance->kernels[is_simple ? 0 : 1]);
  clm__launch_buffer(&launch, args->y);
  clm__launch_buffer(&launch, a->buffer);
  clm__launch_buffer(&launch, b->buffer);
  if (is_simple) clm__launch_uint(&launch, (uint32_t)elements);
  clm__launch_int(&launch, args->batch);
  if (!is_simple) clm__launch_int(&launch, a->repeated);
  if (!is_simple) clm__launch_int(&launch, b->repeated);
  return clm__launch_run(&launch, 1, (size_t[]){elements * (size_t)args->batch}, NULL);
}

static clm_status enqueue_forward(clm__instance *instance, const clm__op_args *args)
{
  const clm__problem *problem = instance->problem;
  const clm__shape *output = &problem->spec.output;
  term sum = {args->x[0], repeated_dims(&problem->inputs[0], output)};
  for (int i = 1; i < problem->input_count; i++) {
    const term next = {args->x[i], repeated_dims(&problem->inputs[i], output)};
    CLM_TRY(enqueue_sum(instance, args, &sum, &next));
    sum = (term){args->y, 0};
  }
  return CLM_OK;
}

static clm_status enqueue_gradient(clm__instance *instance, const clm__op_args *args, int input)
{
  const clm__problem *problem = instance->problem;
  const size_t elements = clm__shape_elements(&problem->inputs[input]);
  const int repeated = repeated_dims(&problem->inputs[input], &problem->spec.output);
  clm__launch launch = clm__launch_begin(&instance->kernels[repeated == 0 ? 0 : 1]);
  clm__launch_buffer(&launch, args->dx[input]);
  clm__launch_buffer(&launch, args->dy);
  clm__launch_uint(&launch, (uint32_t)elements);
  clm__launch_int(&launch, args->batch);
  if (repeated != 0) clm__launch_int(&launch, repeated);
  return clm__launch_run(&launch, 1, (size_t[]){elements * (size_t)args->batch}, NULL);
}

static clm_status enqueue(clm__instance *instance, const clm__op_args *args)
{
  const clm__problem *problem = instance->problem;
  if (instance->pass == CLM__FORWARD) return enqueue_forward(instance, args);
  for (int i = 0; i < problem->input_count; i++)
    if ((problem->need_dx >> i & 1U) != 0) CLM_TRY(enqueue_gradient(instance, args, i));
  return CLM_OK;
}

static const clm__variant plain = {
    .name = "plain",
    .passes = 1U << CLM__FORWARD | 1U << CLM__BACKWARD_X,
    .prepare = prepare,
    .enqueue = enqueue,
};

static const clm__variant *const variants[] = {&plain, NULL};

const clm__op clm__op_add = {
    .name = "add",
    .keras_class = "Add",
    .attribute_bytes = 0,
    .fields = fields,
    .inputs_least = 2,
    .inputs_most = CLM__INPUTS_MAX,
    .infer = infer,
    .variants = variants,
};
