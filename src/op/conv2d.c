/* Conv2D: cross-correlation of [N,H,W,C] with a kernel [KH,KW,C/groups,F], as Keras has it
 * (keras/src/layers/convolutional/base_conv.py). */
#include "op/conv2d.h"

#include "op/activation.h"
#include "op/conv2d_cpu.h"
#include "op/conv2d_gemm.h"
#include "op/conv2d_gpu.h"
#include "op/conv2d_plain.h"
#include "op/conv2d_winograd.h"
#include "op/window.h"

#include <limits.h>

#define AT(member) offsetof(clm__conv2d_attributes, member)

static const char *const paddings[] = {"valid", "same", NULL};

static const clm__field fields[] = {
    {.key = "filters",
     .kind = CLM__FIELD_INT,
     .offset = AT(filters),
     .required = true,
     .least = 1,
     .most = INT_MAX},
    {.key = "kernel_size",
     .kind = CLM__FIELD_PAIR,
     .offset = AT(kernel_size),
     .required = true,
     .least = 1,
     .most = INT_MAX},
    {.key = "strides",
     .kind = CLM__FIELD_PAIR,
     .offset = AT(strides),
     .least = 1,
     .most = INT_MAX,
     .otherwise = 1},
    {.key = "padding", .kind = CLM__FIELD_CHOICE, .offset = AT(padding), .choices = paddings},
    {.key = "data_format", .kind = CLM__FIELD_FIXED, .fixed = "\"channels_last\""},
    {.key = "dilation_rate",
     .kind = CLM__FIELD_PAIR,
     .offset = AT(dilation_rate),
     .least = 1,
     .most = INT_MAX,
     .otherwise = 1},
    {.key = "groups",
     .kind = CLM__FIELD_INT,
     .offset = AT(groups),
     .least = 1,
     .most = INT_MAX,
     .otherwise = 1},
    {.key = "activation", .kind = CLM__FIELD_ACTIVATION, .offset = AT(activation)},
    {.key = "use_bias", .kind = CLM__FIELD_BOOL, .offset = AT(use_bias), .otherwise = 1},
    {.key = "kernel_initializer",
     .kind = CLM__FIELD_INITIALIZER,
     .offset = AT(kernel_initializer),
     .initializer = {.kind = CLM__INIT_GLOROT_UNIFORM}},
    {.key = "bias_initializer",
     .kind = CLM__FIELD_INITIALIZER,
     .offset = AT(bias_initializer),
     .initializer = {.kind = CLM__INIT_ZEROS}},
    {.key = "kernel_regularizer", .kind = CLM__FIELD_FIXED, .fixed = "null"},
    {.key = "bias_regularizer", .kind = CLM__FIELD_FIXED, .fixed = "null"},
    {.key = "activity_regularizer", .kind = CLM__FIELD_FIXED, .fixed = "null"},
    {.key = "kernel_constraint", .kind = CLM__FIELD_FIXED, .fixed = "null"},
    {.key = "bias_constraint", .kind = CLM__FIELD_FIXED, .fixed = "null"},
    {0}};

static clm_status check_channels(const clm__conv2d_attributes *attributes, const clm__shape *input)
{
  char text[CLM__SHAPE_TEXT_SIZE];
  CLM_REQUIRE(input->rank == 3, CLM_BAD_DATA,
              "a convolution takes images (rows x columns x channels), the input is %s",
              clm__shape_text(input, text));
  CLM_REQUIRE(attributes->filters >= 1 && attributes->groups >= 1, CLM_BAD_DATA,
              "a convolution needs at least 1 filter and 1 group, not %d and %d",
              attributes->filters, attributes->groups);
  CLM_REQUIRE(input->dims[2] % attributes->groups == 0, CLM_BAD_DATA,
              "%d input channels (input %s) cannot be divided into %d groups", input->dims[2],
              clm__shape_text(input, text), attributes->groups);
  CLM_REQUIRE(attributes->filters % attributes->groups == 0, CLM_BAD_DATA,
              "%d filters cannot be divided into %d groups", attributes->filters,
              attributes->groups);
  return CLM_OK;
}

static clm_status resolve_axis(const clm__conv2d_attributes *attributes, const clm__shape *input,
                               int axis, int *output, int *pad_before)
{
  char text[CLM__SHAPE_TEXT_SIZE];
  const clm_status status = clm__window_resolve(
      input->dims[axis], attributes->kernel_size[axis], attributes->strides[axis],
      attributes->dilation_rate[axis], attributes->padding == CLM__CONV2D_SAME, output, pad_before);
  if (status == CLM_OK) return CLM_OK;
  return clm__error_prefix(
      status, "a %dx%d convolution of a %s input, %s: ", attributes->kernel_size[0],
      attributes->kernel_size[1], clm__shape_text(input, text), axis == 0 ? "rows" : "columns");
}

clm_status clm__conv2d_resolve(const clm__conv2d_attributes *attributes, bool pool,
                               const clm__shape *input, clm__conv2d_geometry *geometry)
{
  CLM_TRY(check_channels(attributes, input));
  clm__conv2d_geometry made = {.h = input->dims[0],
                               .w = input->dims[1],
                               .c = input->dims[2],
                               .filters = attributes->filters,
                               .kh = attributes->kernel_size[0],
                               .kw = attributes->kernel_size[1],
                               .sh = attributes->strides[0],
                               .sw = attributes->strides[1],
                               .dh = attributes->dilation_rate[0],
                               .dw = attributes->dilation_rate[1],
                               .groups = attributes->groups,
                               .use_bias = attributes->use_bias,
                               .pool = pool,
                               .epilogue = attributes->epilogue};
  CLM_TRY(resolve_axis(attributes, input, 0, &made.oh, &made.pad_top));
  CLM_TRY(resolve_axis(attributes, input, 1, &made.ow, &made.pad_left));
  CLM_REQUIRE(!pool || (made.oh >= 2 && made.ow >= 2), CLM_BAD_DATA,
              "a 2x2 pool does not fit in the %dx%d output of its convolution", made.oh, made.ow);
  made.yh = pool ? made.oh / 2 : made.oh;
  made.yw = pool ? made.ow / 2 : made.ow;
  *geometry = made;
  return CLM_OK;
}

void clm__conv2d_geometry_of(const clm__problem *problem, clm__conv2d_geometry *geometry)
{
  const bool pool = problem->op == &clm__op_conv2d_max_pool;
  const clm_status status =
      clm__conv2d_resolve(problem->attributes, pool, &problem->inputs[0], geometry);
  CLM_ASSERT(status == CLM_OK);
}

size_t clm__conv2d_kernel_elements(const clm__conv2d_geometry *geometry)
{
  return (size_t)geometry->kh * (size_t)geometry->kw * (size_t)(geometry->c / geometry->groups) *
         (size_t)geometry->filters;
}

/* Kernels count the elements of one image and of the weights in int. */
static clm_status check_sizes(const clm__op_spec *spec)
{
  char kernel[CLM__SHAPE_TEXT_SIZE], output[CLM__SHAPE_TEXT_SIZE];
  const size_t limit = INT_MAX / 2;
  CLM_REQUIRE(clm__shape_elements(&spec->output) <= limit &&
                  clm__shape_elements(&spec->params[0].shape) <= limit,
              CLM_BAD_DATA, "a convolution with a kernel of %s and an output of %s is too large",
              clm__shape_text(&spec->params[0].shape, kernel),
              clm__shape_text(&spec->output, output));
  return CLM_OK;
}

clm_status clm__conv2d_infer(const clm__conv2d_attributes *attributes, bool pool,
                             const clm__shape *inputs, clm__op_spec *spec)
{
  clm__conv2d_geometry g;
  CLM_TRY(clm__conv2d_resolve(attributes, pool, &inputs[0], &g));
  clm__op_spec made = {
      .output = clm__shape3(g.yh, g.yw, g.filters),
      .param_count = g.use_bias ? 2 : 1,
      .params = {{.name = "kernel",
                  .shape = {.rank = 4, .dims = {g.kh, g.kw, g.c / g.groups, g.filters}},
                  .trainable = true,
                  .initializer = attributes->kernel_initializer},
                 {.name = "bias",
                  .shape = clm__shape1(g.filters),
                  .trainable = true,
                  .initializer = attributes->bias_initializer}},
      .backward_reads_x = true,
      .backward_reads_y = g.epilogue != CLM__LINEAR};
  CLM_TRY(check_sizes(&made));
  if (pool) made.saved_bytes_per_image = clm__shape_elements(&made.output);
  *spec = made;
  return CLM_OK;
}

static clm_status infer(void *attributes, const clm__shape *inputs, int input_count,
                        clm__op_spec *spec)
{
  (void)input_count;
  return clm__conv2d_infer(attributes, false, inputs, spec);
}

clm_status clm__conv2d_add_options(const clm__conv2d_geometry *geometry, clm__str *options)
{
  const clm__conv2d_geometry *const g = geometry;
  CLM_TRY(clm__str_add(options, "-DH=%d -DW=%d -DC=%d -DOH=%d -DOW=%d -DF=%d ", g->h, g->w, g->c,
                       g->oh, g->ow, g->filters));
  CLM_TRY(clm__str_add(options, "-DKH=%d -DKW=%d -DSH=%d -DSW=%d -DDH=%d -DDW=%d ", g->kh, g->kw,
                       g->sh, g->sw, g->dh, g->dw));
  return clm__str_add(options,
                      "-DPAD_T=%d -DPAD_L=%d -DGROUPS=%d -DBIAS=%d -DPOOL=%d -DACTIVATION=%d",
                      g->pad_top, g->pad_left, g->groups, g->use_bias, g->pool, g->epilogue);
}

clm_status clm__conv2d_reduce(clm__kernel *kernel, const clm__op_args *args, size_t parts, int dims,
                              const size_t *items)
{
  clm__launch launch = clm__launch_begin(kernel);
  clm__launch_buffer(&launch, args->dw[0]);
  clm__launch_buffer(&launch, args->dw[1]);
  clm__launch_buffer(&launch, args->workspace);
  clm__launch_int(&launch, (int)parts);
  return clm__launch_run(&launch, dims, items, NULL);
}

static bool merge_activation(const void *producer_attributes, const void *consumer_attributes,
                             const clm__shape *producer_inputs, void *fused_attributes)
{
  (void)producer_inputs;
  const clm__conv2d_attributes *const conv = producer_attributes;
  const clm__activation_attributes *const after = consumer_attributes;
  if (conv->epilogue != CLM__LINEAR || !clm__activation_is_epilogue(after->activation))
    return false;
  clm__conv2d_attributes *const fused = fused_attributes;
  *fused = *conv;
  fused->epilogue = after->activation;
  return true;
}

static const clm__fusion fusions[] = {{"conv2d", "activation", merge_activation}, {0}};

static const clm__variant *const variants[] = {&clm__conv2d_winograd, &clm__conv2d_cpu,
                                               &clm__conv2d_gpu,      &clm__conv2d_gemm,
                                               &clm__conv2d_plain,    NULL};

const clm__op clm__op_conv2d = {.name = "conv2d",
                                .keras_class = "Conv2D",
                                .attribute_bytes = sizeof(clm__conv2d_attributes),
                                .fields = fields,
                                .inputs_least = 1,
                                .inputs_most = 1,
                                .infer = infer,
                                .fusions = fusions,
                                .variants = variants};
