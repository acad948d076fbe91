#include "op/variant.h"

#include <limits.h>
#include <stdio.h>

typedef struct resizing {
  int height;
  int width;
  int interpolation; /* index into interpolations */
  bool crop;
} resizing;

enum { BILINEAR, NEAREST };
static const char *const interpolations[] = {"bilinear", "nearest", NULL};

static const clm__field fields[] = {
    {.key = "height",
     .kind = CLM__FIELD_INT,
     .offset = offsetof(resizing, height),
     .required = true,
     .least = 1.0,
     .most = INT_MAX},
    {.key = "width",
     .kind = CLM__FIELD_INT,
     .offset = offsetof(resizing, width),
     .required = true,
     .least = 1.0,
     .most = INT_MAX},
    {.key = "interpolation",
     .kind = CLM__FIELD_CHOICE,
     .offset = offsetof(resizing, interpolation),
     .otherwise = BILINEAR,
     .choices = interpolations},
    {.key = "crop_to_aspect_ratio", .kind = CLM__FIELD_BOOL, .offset = offsetof(resizing, crop)},
    {.key = "data_format", .kind = CLM__FIELD_FIXED, .fixed = "\"channels_last\""},
    {.key = "pad_to_aspect_ratio",
     .kind = CLM__FIELD_FIXED,
     .fixed = "false",
     .omit_default = true},
    {.key = "fill_mode", .kind = CLM__FIELD_FIXED, .fixed = "\"constant\"", .omit_default = true},
    {.key = "fill_value", .kind = CLM__FIELD_FIXED, .fixed = "0.0", .omit_default = true},
    {.key = "antialias", .kind = CLM__FIELD_FIXED, .fixed = "false", .omit_default = true},
    {.key = NULL},
};

static clm_status infer(void *attributes, const clm__shape *inputs, int input_count,
                        clm__op_spec *spec)
{
  const resizing *own = attributes;
  char text[CLM__SHAPE_TEXT_SIZE];
  (void)input_count;
  CLM_REQUIRE(inputs[0].rank == 3, CLM_BAD_DATA,
              "Resizing: the input is %s, rows x columns x channels are needed",
              clm__shape_text(&inputs[0], text));
  CLM_REQUIRE(own->height >= 1 && own->width >= 1, CLM_BAD_DATA,
              "Resizing: a size of %dx%d is not possible", own->height, own->width);
  *spec = (clm__op_spec){.output = clm__shape3(own->height, own->width, inputs[0].dims[2])};
  return CLM_OK;
}

/* ---- plain ---- */

/* The part of the input that is resized: all, or the largest centred part of the output's form
 * (keras/src/utils/image_utils.py smart_resize). */
typedef struct window {
  int rows, columns;
  int top, left;
} window;

static int clamp(int value, int most) { return value < 1 ? 1 : value > most ? most : value; }

static window find_window(const resizing *own, const clm__shape *in)
{
  window found = {.rows = in->dims[0], .columns = in->dims[1]};
  if (!own->crop) return found;
  const float rows = (float)in->dims[0], columns = (float)in->dims[1];
  found.rows = clamp((int)(columns * (float)own->height / (float)own->width), in->dims[0]);
  found.columns = clamp((int)(rows * (float)own->width / (float)own->height), in->dims[1]);
  found.top = (in->dims[0] - found.rows) / 2;
  found.left = (in->dims[1] - found.columns) / 2;
  return found;
}

static clm_status prepare(clm__instance *instance)
{
  const clm__problem *problem = instance->problem;
  const resizing *own = problem->attributes;
  const clm__shape *in = &problem->inputs[0];
  const bool is_forward = instance->pass == CLM__FORWARD;
  const window part = find_window(own, in);
  const bool is_copy = clm__shape_equal(in, &problem->spec.output) && part.rows == in->dims[0] &&
                       part.columns == in->dims[1];
  char options[512];
  snprintf(options, sizeof options,
           "-DIN_ROWS=%d -DIN_COLUMNS=%d -DOUT_ROWS=%d -DOUT_COLUMNS=%d -DCHANNELS=%d -DTOP=%d "
           "-DLEFT=%d -DPART_ROWS=%d -DPART_COLUMNS=%d -DNEAREST=%d",
           in->dims[0], in->dims[1], own->height, own->width, in->dims[2], part.top, part.left,
           part.rows, part.columns, is_copy || own->interpolation == NEAREST);
  return clm__instance_add_kernel(instance, "resizing.cl", options,
                                  is_forward ? "resizing_fwd_plain" : "resizing_bwd_x_plain");
}

static clm_status enqueue(clm__instance *instance, const clm__op_args *args)
{
  const clm__problem *problem = instance->problem;
  const bool is_forward = instance->pass == CLM__FORWARD;
  const clm__shape *written = is_forward ? &problem->spec.output : &problem->inputs[0];
  clm__launch launch = clm__launch_begin(&instance->kernels[0]);
  clm__launch_buffer(&launch, is_forward ? args->y : args->dx[0]);
  clm__launch_buffer(&launch, is_forward ? args->x[0] : args->dy);
  clm__launch_int(&launch, args->batch);
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

static bool is_identity(const void *attributes, const clm__shape *inputs)
{
  const resizing *own = attributes;
  return own->height == inputs[0].dims[0] && own->width == inputs[0].dims[1];
}

const clm__op clm__op_resizing = {
    .name = "resizing",
    .keras_class = "Resizing",
    .attribute_bytes = sizeof(resizing),
    .fields = fields,
    .inputs_least = 1,
    .inputs_most = 1,
    .infer = infer,
    .is_identity = is_identity,
    .variants = variants,
};
