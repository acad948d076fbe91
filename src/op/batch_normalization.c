/* BatchNormalization over the last axis (keras/src/layers/normalization/batch_normalization.py).
 *
 * What is saved for backward: mean [C] and 1 / sqrt(variance + epsilon) [C]. */
#include "op/batch_normalization.h"

#include "op/activation.h"
#include "op/batch_normalization_passes.h"

#include <limits.h>

#define AT(member) offsetof(clm__batch_normalization_attributes, member)

static const clm__field fields[] = {
    {.key = "axis", .kind = CLM__FIELD_INT, .offset = AT(axis), .otherwise = -1},
    {.key = "momentum",
     .kind = CLM__FIELD_FLOAT,
     .offset = AT(momentum),
     .least = 0.0,
     .most = 1.0,
     .otherwise = 0.99},
    {.key = "epsilon",
     .kind = CLM__FIELD_FLOAT,
     .offset = AT(epsilon),
     .least = 0.0,
     .most = 1e30,
     .otherwise = 0.001},
    {.key = "center", .kind = CLM__FIELD_BOOL, .offset = AT(center), .otherwise = 1},
    {.key = "scale", .kind = CLM__FIELD_BOOL, .offset = AT(scale), .otherwise = 1},
    {.key = "beta_initializer",
     .kind = CLM__FIELD_INITIALIZER,
     .offset = AT(beta_initializer),
     .initializer = {.kind = CLM__INIT_ZEROS}},
    {.key = "gamma_initializer",
     .kind = CLM__FIELD_INITIALIZER,
     .offset = AT(gamma_initializer),
     .initializer = {.kind = CLM__INIT_ONES}},
    {.key = "moving_mean_initializer",
     .kind = CLM__FIELD_INITIALIZER,
     .offset = AT(moving_mean_initializer),
     .initializer = {.kind = CLM__INIT_ZEROS}},
    {.key = "moving_variance_initializer",
     .kind = CLM__FIELD_INITIALIZER,
     .offset = AT(moving_variance_initializer),
     .initializer = {.kind = CLM__INIT_ONES}},
    {.key = "beta_regularizer", .kind = CLM__FIELD_FIXED, .fixed = "null"},
    {.key = "gamma_regularizer", .kind = CLM__FIELD_FIXED, .fixed = "null"},
    {.key = "beta_constraint", .kind = CLM__FIELD_FIXED, .fixed = "null"},
    {.key = "gamma_constraint", .kind = CLM__FIELD_FIXED, .fixed = "null"},
    {.key = "synchronized", .kind = CLM__FIELD_BOOL, .offset = AT(synchronized)},
    {.key = "renorm", .kind = CLM__FIELD_FIXED, .fixed = "false", .omit_default = true},
    {.key = "renorm_clipping", .kind = CLM__FIELD_FIXED, .fixed = "null", .omit_default = true},
    {.key = "renorm_momentum", .kind = CLM__FIELD_FIXED, .fixed = "0.99", .omit_default = true},
    {0}};

clm__batch_normalization_params
clm__batch_normalization_params_of(const clm__batch_normalization_attributes *attributes)
{
  int next = 0;
  clm__batch_normalization_params params;
  params.gamma = attributes->scale ? next++ : -1;
  params.beta = attributes->center ? next++ : -1;
  params.moving_mean = next++;
  params.moving_variance = next;
  return params;
}

static clm_status check_input(const clm__batch_normalization_attributes *attributes,
                              const clm__shape *input)
{
  char text[CLM__SHAPE_TEXT_SIZE];
  CLM_REQUIRE(input->rank >= 1, CLM_BAD_DATA,
              "batch normalization takes at least one value an image, the input is a scalar");
  CLM_REQUIRE(clm__shape_elements(input) <= INT_MAX / 2, CLM_BAD_DATA,
              "images of %s are too large for batch normalization", clm__shape_text(input, text));
  CLM_REQUIRE(attributes->axis == -1 || attributes->axis == input->rank, CLM_UNSUPPORTED,
              "batch normalization over axis %d of an input of %s is not supported; the last axis "
              "(-1 or %d) is",
              attributes->axis, clm__shape_text(input, text), input->rank);
  return CLM_OK;
}

static clm_status infer(void *attributes, const clm__shape *inputs, int input_count,
                        clm__op_spec *spec)
{
  const clm__batch_normalization_attributes *normalization = attributes;
  (void)input_count;
  CLM_TRY(check_input(normalization, &inputs[0]));
  const int channels = inputs[0].dims[inputs[0].rank - 1];
  const clm__batch_normalization_params params = clm__batch_normalization_params_of(normalization);
  clm__op_spec answer = {.output = inputs[0],
                         .param_count = params.moving_variance + 1,
                         .saved_bytes = 2 * (size_t)channels * sizeof(float),
                         .backward_reads_x = true,
                         .backward_reads_y = normalization->epilogue != CLM__LINEAR};
  const clm__param_spec specs[] = {
      {.name = "gamma", .trainable = true, .initializer = normalization->gamma_initializer},
      {.name = "beta", .trainable = true, .initializer = normalization->beta_initializer},
      {.name = "moving_mean", .initializer = normalization->moving_mean_initializer},
      {.name = "moving_variance", .initializer = normalization->moving_variance_initializer}};
  const int places[] = {params.gamma, params.beta, params.moving_mean, params.moving_variance};
  for (int i = 0; i < 4; i++) {
    if (places[i] < 0) continue;
    answer.params[places[i]] = specs[i];
    answer.params[places[i]].shape = clm__shape1(channels);
  }
  *spec = answer;
  return CLM_OK;
}

static bool is_synchronized(const void *attributes)
{
  const clm__batch_normalization_attributes *normalization = attributes;
  return normalization->synchronized;
}

static bool merge(const void *producer_attributes, const void *consumer_attributes,
                  const clm__shape *producer_inputs, void *fused_attributes)
{
  const clm__batch_normalization_attributes *normalization = producer_attributes;
  const clm__activation_attributes *activation = consumer_attributes;
  (void)producer_inputs;
  if (normalization->epilogue != CLM__LINEAR ||
      !clm__activation_is_epilogue(activation->activation))
    return false;
  clm__batch_normalization_attributes *fused = fused_attributes;
  *fused = *normalization;
  fused->epilogue = activation->activation;
  return true;
}

static const clm__fusion fusions[] = {
    {.producer = "batch_normalization", .consumer = "activation", .merge = merge}, {0}};

static const clm__variant *const variants[] = {&clm__batch_normalization_cpu,
                                               &clm__batch_normalization_gpu,
                                               &clm__batch_normalization_plain, NULL};

const clm__op clm__op_batch_normalization = {.name = "batch_normalization",
                                             .keras_class = "BatchNormalization",
                                             .attribute_bytes =
                                                 sizeof(clm__batch_normalization_attributes),
                                             .fields = fields,
                                             .inputs_least = 1,
                                             .inputs_most = 1,
                                             .trains_apart = true,
                                             .infer = infer,
                                             .is_synchronized = is_synchronized,
                                             .fusions = fusions,
                                             .variants = variants};
