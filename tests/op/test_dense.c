#include "op/dense.h"

#include "op/checker.h"

extern const clm__op clm__op_dense;

/* A layer of units with an activation that the kernels apply. */
#define FUSED(count, kind)                                                                         \
  &(const clm__dense_attributes) { .units = (count), .use_bias = true, .epilogue = (kind) }

static const op_case cases[] = {
    {.name = "Keras", .attributes = "units=6", .golden = "dense", .tiny = true},
    {.name = "Keras without bias",
     .attributes = "units=3 use_bias=false",
     .golden = "dense_nobias",
     .tiny = true},
    {.name = "Keras over images", .attributes = "units=3", .golden = "dense_rank4", .tiny = true},
    {.name = "Keras with relu",
     .fused_attributes = FUSED(5, CLM__RELU),
     .golden = "dense_relu",
     .tiny = true,
     .no_differences = true},
    {.name = "one number", .attributes = "units=1", .inputs = {{1, {1}}}, .batch = 1},
    {.name = "one image", .attributes = "units=37", .inputs = {{1, {53}}}, .batch = 1},
    {.name = "one unit", .attributes = "units=1", .inputs = {{1, {200}}}, .batch = 5},
    {.name = "few inputs", .attributes = "units=70", .inputs = {{1, {3}}}, .batch = 13},
    {.name = "between vectors", .attributes = "units=23", .inputs = {{1, {41}}}, .batch = 7},
    {.name = "three vectors", .attributes = "units=48", .inputs = {{1, {48}}}, .batch = 12},
    {.name = "blocks of units", .attributes = "units=300", .inputs = {{1, {67}}}, .batch = 9},
    {.name = "long sums in parts",
     .fused_attributes = FUSED(10, CLM__RELU),
     .inputs = {{1, {3001}}},
     .batch = 6,
     .tolerance = 2e-5},
    {.name = "many rows in parts",
     .fused_attributes = FUSED(7, CLM__TANH),
     .inputs = {{3, {23, 29, 5}}},
     .batch = 3,
     .w_tolerance = 2e-5},
    {.name = "NaN and infinity",
     .fused_attributes = FUSED(4, CLM__RELU),
     .inputs = {{1, {6}}},
     .batch = 3,
     .specials = true},
    {.name = "scalar input",
     .attributes = "units=3",
     .inputs = {{0}},
     .batch = 1,
     .refused = CLM_BAD_DATA,
     .message = "the input is a scalar"},
    {.name = "too large",
     .attributes = "units=2000000000",
     .inputs = {{1, {4}}},
     .batch = 1,
     .refused = CLM_BAD_DATA,
     .message = "a dense layer from 4 to 2000000000 is too large"},
};

/* Fusion takes an activation whose slope its result tells, and only one. */
static void an_activation_becomes_the_epilogue(void **state)
{
  (void)state;
  const clm__fusion *fusion = clm__op_dense.fusions;
  const clm__dense_attributes dense = {.units = 7, .use_bias = true};
  const clm__activation relu = CLM__RELU;
  const clm__activation softmax = CLM__SOFTMAX;
  clm__dense_attributes fused = {0};
  clm__dense_attributes again = {0};
  assert_string_equal(fusion->producer, "dense");
  assert_string_equal(fusion->consumer, "activation");
  assert_false(fusion->merge(&dense, &softmax, NULL, &fused));
  assert_true(fusion->merge(&dense, &relu, NULL, &fused));
  assert_int_equal(fused.units, 7);
  assert_true(fused.use_bias);
  assert_int_equal(fused.epilogue, CLM__RELU);
  assert_false(fusion->merge(&fused, &relu, NULL, &again));
}

static const struct CMUnitTest more[] = {
    cmocka_unit_test(an_activation_becomes_the_epilogue),
};

static const op_suite suite = {
    .op = &clm__op_dense,
    .forward = clm__ref_dense_forward,
    .backward = clm__ref_dense_backward,
    .cases = cases,
    .case_count = sizeof cases / sizeof cases[0],
    .more = more,
    .more_count = sizeof more / sizeof more[0],
};

int main(int argc, char **argv) { return check_op(&suite, argc, argv); }
