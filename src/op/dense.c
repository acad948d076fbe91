/* Dense: y = epilogue(x w + b) over the last axis (keras/src/layers/core/dense.py). */
#include "op/dense.h"

#include "op/activation.h"
#include "op/dense_variants.h"

#include <limits.h>
#include <stdio.h>

#define AT(member) offsetof(clm__dense_attributes, member)
/* Of a row of dx, where a layer is large. */
#define PRODUCTS_LEAST 4096

static const clm__field fields[] = {
    {.key = "units",
     .kind = CLM__FIELD_INT,
     .offset = AT(units),
     .required = true,
     .least = 1,
     .most = INT_MAX},
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
    {.key = "activity_regularizer",
     .kind = CLM__FIELD_FIXED,
     .fixed = "null",
     .omit_default = true},
    {.key = "kernel_constraint", .kind = CLM__FIELD_FIXED, .fixed = "null"},
    {.key = "bias_constraint", .kind = CLM__FIELD_FIXED, .fixed = "null"},
    {.key = "quantization_config", .kind = CLM__FIELD_FIXED, .fixed = "null", .omit_default = true},
    {0}};

/* Kernels count the elements of one image and of the weights in int. */
static clm_status check_sizes(const clm__shape *input, const clm__op_spec *spec)
{
  char from[CLM__SHAPE_TEXT_SIZE], to[CLM__SHAPE_TEXT_SIZE];
  const size_t limit = INT_MAX / 2;
  CLM_REQUIRE(clm__shape_elements(input) <= limit && clm__shape_elements(&spec->output) <= limit &&
                  clm__shape_elements(&spec->params[0].shape) <= limit,
              CLM_BAD_DATA, "a dense layer from %s to %s is too large",
              clm__shape_text(input, from), clm__shape_text(&spec->output, to));
  return CLM_OK;
}

static clm_status infer(void *attributes, const clm__shape *inputs, int input_count,
                        clm__op_spec *spec)
{
  const clm__dense_attributes *dense = attributes;
  (void)input_count;
  CLM_REQUIRE(inputs[0].rank >= 1, CLM_BAD_DATA,
              "a dense layer takes at least one value an image, the input is a scalar");
  CLM_REQUIRE(dense->units >= 1, CLM_BAD_DATA, "a dense layer needs at least 1 unit, not %d",
              dense->units);
  const int last = inputs[0].rank - 1;
  clm__op_spec answer = {.output = inputs[0],
                         .param_count = dense->use_bias ? 2 : 1,
                         .params = {{.name = "kernel",
                                     .shape = clm__shape2(inputs[0].dims[last], dense->units),
                                     .trainable = true,
                                     .initializer = dense->kernel_initializer},
                                    {.name = "bias",
                                     .shape = clm__shape1(dense->units),
                                     .trainable = true,
                                     .initializer = dense->bias_initializer}},
                         .backward_reads_x = true,
                         .backward_reads_y = dense->epilogue != CLM__LINEAR};
  answer.output.dims[last] = dense->units;
  CLM_TRY(check_sizes(&inputs[0], &answer));
  *spec = answer;
  return CLM_OK;
}

static bool merge(const void *producer_attributes, const void *consumer_attributes,
                  const clm__shape *producer_inputs, void *fused_attributes)
{
  const clm__dense_attributes *dense = producer_attributes;
  const clm__activation_attributes *activation = consumer_attributes;
  (void)producer_inputs;
  if (dense->epilogue != CLM__LINEAR || !clm__activation_is_epilogue(activation->activation))
    return false;
  clm__dense_attributes *fused = fused_attributes;
  *fused = *dense;
  fused->epilogue = activation->activation;
  return true;
}

static const clm__fusion fusions[] = {
    {.producer = "dense", .consumer = "activation", .merge = merge}, {0}};

clm__dense_sizes clm__dense_sizes_of(const clm__problem *problem)
{
  const clm__dense_attributes *attributes = problem->attributes;
  const clm__shape *input = &problem->inputs[0];
  const int in = input->dims[input->rank - 1];
  return (clm__dense_sizes){.rows_per_image = (int)(clm__shape_elements(input) / (size_t)in),
                            .in = in,
                            .units = attributes->units,
                            .use_bias = attributes->use_bias,
                            .epilogue = attributes->epilogue};
}

char *clm__dense_options(const clm__dense_sizes *sizes, char options[CLM__DENSE_OPTIONS_SIZE])
{
  const int length =
      snprintf(options, CLM__DENSE_OPTIONS_SIZE, "-DIN=%d -DUNITS=%d -DBIAS=%d -DACTIVATION=%d",
               sizes->in, sizes->units, sizes->use_bias, (int)sizes->epilogue);
  CLM_ASSERT(length > 0 && length < CLM__DENSE_OPTIONS_SIZE);
  return options;
}

bool clm__dense_is_large(const clm__problem *problem, clm__pass pass)
{
  const clm__dense_sizes sizes = clm__dense_sizes_of(problem);
  return pass != CLM__BACKWARD_X || (size_t)sizes.in * (size_t)sizes.units >= PRODUCTS_LEAST;
}

clm_status clm__dense_rows(const clm__problem *problem, int *rows)
{
  const int64_t count = (int64_t)clm__dense_sizes_of(problem).rows_per_image * problem->batch_max;
  CLM_REQUIRE(count <= INT_MAX / 2, CLM_BAD_DATA,
              "a dense layer over %lld rows is too large; use a smaller batch", (long long)count);
  *rows = (int)count;
  return CLM_OK;
}

static const clm__variant *const variants[] = {&clm__dense_cpu, &clm__dense_gemm, &clm__dense_plain,
                                               NULL};

const clm__op clm__op_dense = {.name = "dense",
                               .keras_class = "Dense",
                               .attribute_bytes = sizeof(clm__dense_attributes),
                               .fields = fields,
                               .inputs_least = 1,
                               .inputs_most = 1,
                               .infer = infer,
                               .fusions = fusions,
                               .variants = variants};
