#include "op/batch_normalization.h"

#include "op/checker.h"

extern const clm__op clm__op_batch_normalization;

/* A layer with an activation that the kernels apply. */
#define FUSED(kind)                                                                                \
  &(const clm__batch_normalization_attributes)                                                     \
  {                                                                                                \
    .axis = -1, .momentum = 0.9, .epsilon = 0.001, .center = true, .scale = true,                  \
    .epilogue = (kind)                                                                             \
  }
/* Statistics join the images of a batch. */
#define JOINED .no_halves = true

static const op_case cases[] = {
    {.name = "Keras", .golden = "batchnorm_train", .tiny = true, .gpu = true, JOINED},
    {.name = "Keras, momentum and epsilon",
     .attributes = "momentum=0.9 epsilon=1.001e-05",
     .golden = "batchnorm_train_m09_eps",
     .tiny = true,
     JOINED},
    {.name = "Keras without beta",
     .attributes = "center=false",
     .golden = "batchnorm_train_nocenter",
     .tiny = true,
     JOINED},
    {.name = "Keras without gamma",
     .attributes = "scale=false",
     .golden = "batchnorm_train_noscale",
     .tiny = true,
     JOINED},
    {.name = "Keras, no images", .golden = "batchnorm_train_rank2", .tiny = true, JOINED},
    {.name = "Keras, mean 200",
     .golden = "batchnorm_train_offset_input",
     .tolerance = 1e-4,
     .no_differences = true,
     JOINED},
    {.name = "Keras, frozen", .golden = "batchnorm_frozen_train", .tiny = true, .frozen = true},
    {.name = "Keras, inference", .golden = "batchnorm_inference", .tiny = true, .inference = true},
    {.name = "neither gamma nor beta",
     .attributes = "scale=false center=false",
     .inputs = {{3, {4, 5, 6}}},
     .batch = 3,
     JOINED},
    {.name = "one channel", .inputs = {{3, {7, 5, 1}}}, .batch = 3, JOINED},
    {.name = "one row", .inputs = {{1, {5}}}, .batch = 1, .no_differences = true, JOINED},
    {.name = "rank 2, last axis by number",
     .attributes = "axis=2",
     .inputs = {{2, {11, 20}}},
     .batch = 3,
     JOINED},
    {.name = "between vectors",
     .inputs = {{3, {5, 7, 87}}},
     .batch = 4,
     .gpu = true,
     .w_tolerance = 1e-5,
     JOINED},
    {.name = "many parts",
     .attributes = "momentum=0.5",
     .inputs = {{3, {61, 67, 5}}},
     .batch = 7,
     .w_tolerance = 2e-5,
     .no_differences = true,
     JOINED},
    {.name = "far from zero",
     .inputs = {{3, {40, 41, 3}}},
     .batch = 4,
     .gpu = true,
     .x_least = 199.0,
     .x_most = 201.0,
     .tolerance = 1e-4,
     .w_tolerance = 1e-4,
     .no_differences = true,
     JOINED},
    {.name = "relu",
     .fused_attributes = FUSED(CLM__RELU),
     .inputs = {{3, {6, 5, 19}}},
     .batch = 4,
     JOINED},
    {.name = "tanh",
     .fused_attributes = FUSED(CLM__TANH),
     .inputs = {{3, {6, 5, 8}}},
     .batch = 2,
     JOINED},
    {.name = "relu6, frozen",
     .fused_attributes = FUSED(CLM__RELU6),
     .inputs = {{3, {6, 5, 33}}},
     .batch = 3,
     .gpu = true,
     .frozen = true},
    {.name = "relu, inference",
     .fused_attributes = FUSED(CLM__RELU),
     .inputs = {{3, {6, 5, 33}}},
     .batch = 3,
     .inference = true},
    {.name = "NaN and infinity, inference",
     .inputs = {{3, {2, 2, 5}}},
     .batch = 2,
     .inference = true,
     .specials = true},
    {.name = "another axis",
     .attributes = "axis=1",
     .inputs = {{3, {2, 2, 5}}},
     .batch = 2,
     .refused = CLM_UNSUPPORTED,
     .message = "the last axis (-1 or 3) is"},
    {.name = "scalar input",
     .batch = 2,
     .refused = CLM_BAD_DATA,
     .message = "the input is a scalar"},
};

/* Fusion takes an activation whose slope its result tells, and only one. */
static void an_activation_becomes_the_epilogue(void **state)
{
  (void)state;
  const clm__fusion *fusion = clm__op_batch_normalization.fusions;
  const clm__batch_normalization_attributes plain = {.axis = -1, .epsilon = 0.5, .scale = true};
  const clm__activation relu = CLM__RELU;
  const clm__activation gelu = CLM__GELU;
  clm__batch_normalization_attributes fused = {0};
  clm__batch_normalization_attributes again = {0};
  assert_string_equal(fusion->producer, "batch_normalization");
  assert_string_equal(fusion->consumer, "activation");
  assert_false(fusion->merge(&plain, &gelu, NULL, &fused));
  assert_true(fusion->merge(&plain, &relu, NULL, &fused));
  assert_true(fused.scale);
  assert_int_equal(fused.epilogue, CLM__RELU);
  assert_false(fusion->merge(&fused, &relu, NULL, &again));
}

#define ROWS 150
#define CHANNELS 21

/* A buffer of random floats. */
static cl_mem make_buffer(clm__device *device, uint32_t stream, size_t count)
{
  float values[ROWS * CHANNELS];
  cl_mem buffer = NULL;
  assert_true(count <= ROWS * CHANNELS);
  for (size_t i = 0; i < count; i++) values[i] = test_random(stream, i, 0.5, 1.5);
  assert_ok(clm__buffer_create(device, count * sizeof *values, &buffer));
  assert_ok(clm__buffer_write(device, buffer, 0, values, count * sizeof *values, true));
  return buffer;
}

static void run_pass(clm__device *device, const clm__problem *problem, clm__pass pass,
                     const char *variant, clm__op_args *args)
{
  clm__instance instance;
  assert_ok(clm__instance_init(&instance, problem, pass, device, NULL, variant));
  assert_ok(clm__buffer_create(device, instance.workspace_bytes, &args->workspace));
  assert_ok(clm__instance_enqueue(&instance, args));
  assert_ok(clm__device_finish(device));
  clm__buffer_release(&args->workspace);
  clm__instance_fini(&instance);
}

/* With the gradients of gamma and beta at hand, dx is what it is without. */
static void sums_are_taken_over_from_the_weights(const char *variant)
{
  const test_options options = {0};
  clm__device *device = test_device_open(&options, 0);
  clm__batch_normalization_attributes attributes = {
      .axis = -1, .epsilon = 0.001, .center = true, .scale = true};
  clm__problem problem = {.op = &clm__op_batch_normalization,
                          .attributes = &attributes,
                          .input_count = 1,
                          .inputs = {clm__shape1(CHANNELS)},
                          .batch_max = ROWS,
                          .training = true,
                          .need_dx = 1};
  float apart[ROWS * CHANNELS], joined[ROWS * CHANNELS];
  assert_ok(clm__op_batch_normalization.infer(&attributes, problem.inputs, 1, &problem.spec));
  clm__op_args args = {.batch = ROWS,
                       .x = {make_buffer(device, 1, ROWS * CHANNELS)},
                       .dx = {make_buffer(device, 2, ROWS * CHANNELS)},
                       .dy = make_buffer(device, 3, ROWS * CHANNELS),
                       .saved = make_buffer(device, 4, 2 * CHANNELS)};
  for (uint32_t i = 0; i < 4; i++) args.w[i] = make_buffer(device, 5 + i, CHANNELS);
  run_pass(device, &problem, CLM__BACKWARD_X, variant, &args);
  assert_ok(clm__buffer_read(device, args.dx[0], 0, apart, sizeof apart, true));
  for (uint32_t i = 0; i < 2; i++) args.dw[i] = make_buffer(device, 9 + i, CHANNELS);
  run_pass(device, &problem, CLM__BACKWARD_W, variant, &args);
  run_pass(device, &problem, CLM__BACKWARD_X, variant, &args);
  assert_ok(clm__buffer_read(device, args.dx[0], 0, joined, sizeof joined, true));
  assert_memory_equal(apart, joined, sizeof apart);
  cl_mem *buffers[] = {&args.x[0], &args.dx[0], &args.dy,   &args.saved, &args.w[0],
                       &args.w[1], &args.w[2],  &args.w[3], &args.dw[0], &args.dw[1]};
  for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) clm__buffer_release(buffers[i]);
  clm__device_close(device);
}

static void plain_takes_sums_over(void **state)
{
  (void)state;
  sums_are_taken_over_from_the_weights("plain");
}

static void groups_take_sums_over(void **state)
{
  (void)state;
  sums_are_taken_over_from_the_weights("gpu");
}

/* Memory is planned for the largest batch, and the last one of an epoch has fewer images. */
static void fewer_images_need_no_more_workspace(void **state)
{
  (void)state;
  static const char *const names[] = {"plain", "cpu", "gpu"};
  const test_options options = {0};
  clm__device *device = test_device_open(&options, 1);
  clm__batch_normalization_attributes attributes = {.axis = -1, .epsilon = 0.001};
  clm__problem problem = {.op = &clm__op_batch_normalization,
                          .attributes = &attributes,
                          .input_count = 1,
                          .inputs = {clm__shape3(90, 90, 1)},
                          .training = true};
  assert_ok(clm__op_batch_normalization.infer(&attributes, problem.inputs, 1, &problem.spec));
  for (int k = 0; k < 3; k++) {
    size_t before = 0;
    for (problem.batch_max = 1; problem.batch_max < 24; problem.batch_max++) {
      clm__instance instance;
      if (clm__instance_init(&instance, &problem, CLM__FORWARD, device, NULL, names[k]) != CLM_OK)
        break; /* no CPU */
      assert_true(instance.workspace_bytes >= before);
      before = instance.workspace_bytes;
      clm__instance_fini(&instance);
    }
  }
  clm__device_close(device);
}

static void the_chosen_variant_takes_sums_over(void **state)
{
  (void)state;
  sums_are_taken_over_from_the_weights(NULL);
}

static const struct CMUnitTest more[] = {
    cmocka_unit_test(plain_takes_sums_over),
    cmocka_unit_test(groups_take_sums_over),
    cmocka_unit_test(the_chosen_variant_takes_sums_over),
    cmocka_unit_test(fewer_images_need_no_more_workspace),
    cmocka_unit_test(an_activation_becomes_the_epilogue),
};

static const op_suite suite = {
    .op = &clm__op_batch_normalization,
    .forward = clm__ref_batch_normalization_forward,
    .backward = clm__ref_batch_normalization_backward,
    .cases = cases,
    .case_count = sizeof cases / sizeof cases[0],
    .more = more,
    .more_count = sizeof more / sizeof more[0],
};

int main(int argc, char **argv) { return check_op(&suite, argc, argv); }
