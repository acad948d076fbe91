#include "op/variant.h"

#include <limits.h>

typedef struct concatenate {
  int axis; /* Keras': 0 is the batch */
} concatenate;

static const clm__field fields[] = {
    {.key = "axis",
     .kind = CLM__FIELD_INT,
     .offset = offsetof(concatenate, axis),
     .otherwise = -1.0},
    {.key = NULL},
};

/* The axis without the batch, or -1 where it names none. */
static int resolve_axis(const void *attributes, const clm__shape *shape)
{
  const int axis = ((const concatenate *)attributes)->axis;
  const int own = axis < 0 ? axis + shape->rank : axis - 1;
  return own >= 0 && own < shape->rank ? own : -1;
}

static clm_status check_input(const clm__shape *first, const clm__shape *other, int axis)
{
  clm__shape wanted = *first;
  char a[CLM__SHAPE_TEXT_SIZE], b[CLM__SHAPE_TEXT_SIZE];
  if (other->rank == first->rank) wanted.dims[axis] = other->dims[axis];
  CLM_REQUIRE(clm__shape_equal(&wanted, other), CLM_BAD_DATA,
              "Concatenate: %s and %s differ elsewhere than along axis %d",
              clm__shape_text(first, a), clm__shape_text(other, b), axis + 1);
  return CLM_OK;
}

static clm_status infer(void *attributes, const clm__shape *inputs, int input_count,
                        clm__op_spec *spec)
{
  const int axis = resolve_axis(attributes, &inputs[0]);
  char text[CLM__SHAPE_TEXT_SIZE];
  long sum = 0;
  CLM_REQUIRE(axis >= 0, CLM_BAD_DATA,
              "Concatenate: images of %s have no axis %d (1 is the first behind the batch)",
              clm__shape_text(&inputs[0], text), ((const concatenate *)attributes)->axis);
  for (int i = 0; i < input_count; i++) {
    CLM_TRY(check_input(&inputs[0], &inputs[i], axis));
    sum += inputs[i].dims[axis];
  }
  CLM_REQUIRE(sum <= INT_MAX, CLM_UNSUPPORTED, "Concatenate: %ld elements along an axis", sum);
  *spec = (clm__op_spec){.output = inputs[0]};
  spec->output.dims[axis] = (int)sum;
  return CLM_OK;
}

/* ---- plain ---- */

static clm_status prepare(clm__instance *instance)
{
  return clm__instance_add_kernel(instance, "concatenate.cl", "", "concatenate_plain");
}

/* Neighbouring elements from `axis` on. */
static size_t count_row(const clm__shape *shape, int axis)
{
  size_t count = 1;
  for (int i = axis; i < shape->rank; i++) count *= (size_t)shape->dims[i];
  return count;
}

/* Rows of one tensor as they lie in another. */
typedef struct rows {
  cl_mem buffer;
  size_t length;
  size_t offset; /* of the part that is copied */
} rows;

static clm_status copy(clm__instance *instance, const rows *to, const rows *from, size_t row_count)
{
  const size_t part = to->length < from->length ? to->length : from->length;
  clm__launch launch = clm__launch_begin(&instance->kernels[0]);
  clm__launch_buffer(&launch, to->buffer);
  clm__launch_buffer(&launch, from->buffer);
  clm__launch_uint(&launch, (uint32_t)row_count);
  clm__launch_uint(&launch, (uint32_t)part);
  clm__launch_uint(&launch, (uint32_t)to->length);
  clm__launch_uint(&launch, (uint32_t)to->offset);
  clm__launch_uint(&launch, (uint32_t)from->length);
  clm__launch_uint(&launch, (uint32_t)from->offset);
  return clm__launch_run(&launch, 2, (size_t[]){part, row_count}, NULL);
}

static clm_status enqueue(clm__instance *instance, const clm__op_args *args)
{
  const clm__problem *problem = instance->problem;
  const clm__shape *output = &problem->spec.output;
  const bool is_forward = instance->pass == CLM__FORWARD;
  const int axis = resolve_axis(problem->attributes, output);
  rows whole = {is_forward ? args->y : args->dy, count_row(output, axis), 0};
  const size_t row_count = clm__shape_elements(output) / whole.length * (size_t)args->batch;
  for (int i = 0; i < problem->input_count; i++) {
    const rows part = {is_forward ? args->x[i] : args->dx[i], count_row(&problem->inputs[i], axis),
                       0};
    if (is_forward) CLM_TRY(copy(instance, &whole, &part, row_count));
    if (!is_forward && (problem->need_dx >> i & 1U) != 0)
      CLM_TRY(copy(instance, &part, &whole, row_count));
    whole.offset += part.length;
  }
  return CLM_OK;
}

static const clm__variant plain = {
    .name = "plain",
    .passes = 1U << CLM__FORWARD | 1U << CLM__BACKWARD_X,
    .prepare = prepare,
    .enqueue = enqueue,
};

static const clm__variant *const variants[] = {&plain, NULL};

const clm__op clm__op_concatenate = {
    .name = "concatenate",
    .keras_class = "Concatenate",
    .attribute_bytes = sizeof(concatenate),
    .fields = fields,
    .inputs_least = 1,
    .inputs_most = CLM__INPUTS_MAX,
    .infer = infer,
    .variants = variants,
};
