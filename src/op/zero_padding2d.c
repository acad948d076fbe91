#include "op/variant.h"

#include <limits.h>

typedef struct zero_padding2d {
  int sides[4]; /* top, bottom, left, right */
} zero_padding2d;

static const clm__field fields[] = {
    {.key = "padding",
     .kind = CLM__FIELD_SIDES,
     .offset = offsetof(zero_padding2d, sides),
     .least = 0.0,
     .most = INT_MAX,
     .otherwise = 1.0},
    {.key = "data_format", .kind = CLM__FIELD_FIXED, .fixed = "\"channels_last\""},
    {.key = NULL},
};

static clm_status infer(void *attributes, const clm__shape *inputs, int input_count,
                        clm__op_spec *spec)
{
  const int *sides = ((const zero_padding2d *)attributes)->sides;
  char text[CLM__SHAPE_TEXT_SIZE];
  long rows, columns;
  (void)input_count;
  CLM_REQUIRE(inputs[0].rank == 3, CLM_BAD_DATA,
              "ZeroPadding2D: the input is %s, rows x columns x channels are needed",
              clm__shape_text(&inputs[0], text));
  for (int i = 0; i < 4; i++)
    CLM_REQUIRE(sides[i] >= 0, CLM_BAD_DATA, "ZeroPadding2D: a padding of %d is negative",
                sides[i]);
  rows = (long)inputs[0].dims[0] + sides[0] + sides[1];
  columns = (long)inputs[0].dims[1] + sides[2] + sides[3];
  CLM_REQUIRE(rows <= INT_MAX && columns <= INT_MAX, CLM_UNSUPPORTED,
              "ZeroPadding2D: an output of %ld x %ld is too large", rows, columns);
  *spec = (clm__op_spec){.output = clm__shape3((int)rows, (int)columns, inputs[0].dims[2])};
  return CLM_OK;
}

/* ---- plain ---- */

static clm_status prepare(clm__instance *instance)
{
  const bool is_forward = instance->pass == CLM__FORWARD;
  return clm__instance_add_kernel(instance, "zero_padding2d.cl", "",
                                  is_forward ? "zero_padding2d_fwd_plain"
                                             : "zero_padding2d_bwd_x_plain");
}

static clm_status enqueue(clm__instance *instance, const clm__op_args *args)
{
  const clm__problem *problem = instance->problem;
  const clm__shape *in = &problem->inputs[0], *out = &problem->spec.output;
  const int *sides = ((const zero_padding2d *)problem->attributes)->sides;
  const bool is_forward = instance->pass == CLM__FORWARD;
  const clm__shape *written = is_forward ? out : in;
  clm__launch launch = clm__launch_begin(&instance->kernels[0]);
  clm__launch_buffer(&launch, is_forward ? args->y : args->dx[0]);
  clm__launch_buffer(&launch, is_forward ? args->x[0] : args->dy);
  clm__launch_int(&launch, args->batch);
  for (int i = 0; i < 2; i++) clm__launch_int(&launch, in->dims[i]);
  for (int i = 0; i < 2; i++) clm__launch_int(&launch, out->dims[i]);
  clm__launch_int(&launch, in->dims[2]);
  clm__launch_int(&launch, sides[0]);
  clm__launch_int(&launch, sides[2]);
  const size_t items[2] = {(size_t)written->dims[1] * (size_t)written->dims[2],
                           (size_t)written->dims[0] * (size_t)args->batch};
  return clm__launch_run(&launch, 2, items, NULL);
}

static const clm__variant plain = {
    .name = "plain",
    .passes = 1U << CLM__FORWARD | 1U << CLM__BACKWARD_X,
    .prepare = prepare,
    .enqueue = enqueue,
};

static const clm__variant *const variants[] = {&plain, NULL};

const clm__op clm__op_zero_padding2d = {
    .name = "zero_padding2d",
    .keras_class = "ZeroPadding2D",
    .attribute_bytes = sizeof(zero_padding2d),
    .fields = fields,
    .inputs_least = 1,
    .inputs_most = 1,
    .infer = infer,
    .variants = variants,
};
