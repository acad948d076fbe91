/* ctest: timeout=900 */
#include "op/activation.h"
#include "op/checker.h"
#include "op/conv2d.h"

/* Golden inputs are such that most sums are exact; sums of random numbers round more. */
#define LONG_SUMS .tolerance = 1e-5, .w_tolerance = 4e-5

#define TILE_SUMS LONG_SUMS, .tile_tolerance = 4e-5

#define GOLDEN(folder, text)                                                                       \
  {                                                                                                \
    .name = folder, .attributes = text, .golden = folder, .tiny = true                             \
  }

/* Attributes of a 3x3 convolution that took an activation in. */
#define EPILOGUE(count, stride, after)                                                             \
  &(const clm__conv2d_attributes)                                                                  \
  {                                                                                                \
    .filters = (count), .kernel_size = {3, 3}, .strides = {(stride), 1},                           \
    .padding = CLM__CONV2D_SAME, .dilation_rate = {1, 1}, .groups = 1, .use_bias = true,           \
    .epilogue = (after)                                                                            \
  }

static const op_case cases[] = {
    GOLDEN("conv_3x3_same", "filters=4 kernel_size=3 padding=same"),
    GOLDEN("conv_3x3_valid_s2", "filters=5 kernel_size=3 strides=2"),
    GOLDEN("conv_5x5_same_s2_even", "filters=3 kernel_size=5 strides=2 padding=same"),
    GOLDEN("conv_3x3_same_s2_even", "filters=3 kernel_size=3 strides=2 padding=same"),
    GOLDEN("conv_3x3_same_s2_odd", "filters=3 kernel_size=3 strides=2 padding=same"),
    GOLDEN("conv_1x1", "filters=7 kernel_size=1"),
    GOLDEN("conv_1x1_s2", "filters=4 kernel_size=1 strides=2 padding=same"),
    GOLDEN("conv_3x3_dilation2_same", "filters=4 kernel_size=3 dilation_rate=2 padding=same"),
    GOLDEN("conv_3x3_dilation2_valid", "filters=3 kernel_size=3 dilation_rate=2"),
    GOLDEN("conv_3x3_groups2", "filters=6 kernel_size=3 padding=same groups=2"),
    GOLDEN("conv_3x3_groups3_s2_valid", "filters=6 kernel_size=3 strides=2 groups=3"),
    GOLDEN("conv_3x3_nobias", "filters=4 kernel_size=3 use_bias=false"),
    GOLDEN("conv_2x3_s2x1_same", "filters=3 kernel_size=2,3 strides=2,1 padding=same"),
    GOLDEN("conv_4x4_same", "filters=3 kernel_size=4 padding=same"),
    GOLDEN("conv_7x7_s2_same", "filters=4 kernel_size=7 strides=2 padding=same"),
    {.name = "conv_3x3_same_relu",
     .fused_attributes = EPILOGUE(17, 1, CLM__RELU),
     .golden = "conv_3x3_same_relu",
     .no_differences = true,
     .tiny = true},
    GOLDEN("conv_kernel_larger_than_image", "filters=3 kernel_size=5 padding=same"),
    GOLDEN("conv_3x3_one_pixel_output", "filters=3 kernel_size=3"),
    GOLDEN("conv_s3_larger_than_kernel", "filters=3 kernel_size=2 strides=3 padding=same"),
    {.name = "one image of one pixel",
     .attributes = "filters=1 kernel_size=1",
     .inputs = {{3, {1, 1, 1}}},
     .batch = 1,
     LONG_SUMS},
    {.name = "kernel 2, 3 channels",
     .attributes = "filters=5 kernel_size=2 padding=same",
     .gpu = true,
     .inputs = {{3, {7, 9, 3}}},
     .batch = 3,
     LONG_SUMS},
    {.name = "odd sizes, 17 to 33 channels",
     .attributes = "filters=33 kernel_size=3 padding=same",
     .gpu = true,
     .inputs = {{3, {13, 11, 17}}},
     .batch = 3,
     LONG_SUMS},
    {.name = "33 to 17 channels, stride 2",
     .attributes = "filters=17 kernel_size=3 strides=2 padding=same",
     .inputs = {{3, {15, 12, 33}}},
     .batch = 2,
     LONG_SUMS},
    {.name = "32 to 64 channels",
     .attributes = "filters=64 kernel_size=3 padding=same use_bias=false",
     .gpu = true,
     .inputs = {{3, {9, 14, 32}}},
     .batch = 2,
     TILE_SUMS},
    /* Products near 1e6 whose sums end near 1e4: what is judged is the order of their rounding. */
    {.name = "huge values that cancel, valid",
     .attributes = "filters=16 kernel_size=3",
     .inputs = {{3, {7, 10, 9}}},
     .batch = 3,
     .x_least = 1e6,
     .x_most = 3e6,
     .no_differences = true,
     .tolerance = 1e-4,
     .tile_tolerance = 1e-3},
    {.name = "denormals",
     .attributes = "filters=8 kernel_size=3 padding=same",
     .inputs = {{3, {5, 6, 16}}},
     .batch = 2,
     .x_least = -1e-39,
     .x_most = 1e-39,
     .no_differences = true,
     TILE_SUMS},
    {.name = "stride 3, kernel 5",
     .attributes = "filters=16 kernel_size=5 strides=3",
     .inputs = {{3, {17, 23, 5}}},
     .batch = 2,
     LONG_SUMS},
    {.name = "stride 3, kernel 7, same",
     .attributes = "filters=20 kernel_size=7 strides=3 padding=same",
     .inputs = {{3, {19, 16, 3}}},
     .batch = 4,
     LONG_SUMS},
    {.name = "stride 2 and dilation 2",
     .attributes = "filters=24 kernel_size=3 strides=2 dilation_rate=2",
     .gpu = true,
     .inputs = {{3, {14, 17, 5}}},
     .batch = 2,
     LONG_SUMS},
    {.name = "stride 3 and dilation 2, same",
     .attributes = "filters=9 kernel_size=4,3 strides=3,2 dilation_rate=2,1 padding=same",
     .inputs = {{3, {14, 17, 6}}},
     .batch = 2,
     LONG_SUMS},
    {.name = "kernel 6x1, dilation 1x2",
     .attributes = "filters=18 kernel_size=6,1 dilation_rate=1,2 padding=same",
     .inputs = {{3, {11, 8, 4}}},
     .batch = 3,
     LONG_SUMS},
    {.name = "1x1, 64 to 16 channels",
     .attributes = "filters=16 kernel_size=1",
     .inputs = {{3, {8, 8, 64}}},
     .batch = 5,
     LONG_SUMS},
    {.name = "1x1 projection with stride 2",
     .attributes = "filters=40 kernel_size=1 strides=2 padding=same use_bias=false",
     .gpu = true,
     .inputs = {{3, {13, 12, 16}}},
     .batch = 3,
     LONG_SUMS},
    {.name = "dilation wider than the image",
     .attributes = "filters=3 kernel_size=3 dilation_rate=5 padding=same",
     .inputs = {{3, {4, 3, 2}}},
     .batch = 2,
     LONG_SUMS},
    {.name = "wide image",
     .attributes = "filters=8 kernel_size=3 padding=same",
     .inputs = {{3, {3, 211, 2}}},
     .batch = 1,
     LONG_SUMS},
    {.name = "one group a channel",
     .attributes = "filters=12 kernel_size=3 padding=same groups=6",
     .inputs = {{3, {9, 7, 6}}},
     .batch = 2,
     LONG_SUMS},
    {.name = "groups of 16 filters",
     .attributes = "filters=32 kernel_size=3 strides=2,1 padding=same groups=2",
     .inputs = {{3, {8, 7, 8}}},
     .batch = 2,
     .gpu = true,
     LONG_SUMS},
    {.name = "4 to 4 channels",
     .attributes = "filters=4 kernel_size=2 strides=2 padding=same",
     .inputs = {{3, {3, 5, 4}}},
     .batch = 2,
     .gpu = true,
     .tiny = true,
     LONG_SUMS},
    {.name = "epilogue relu",
     .fused_attributes = EPILOGUE(19, 2, CLM__RELU),
     .inputs = {{3, {11, 13, 5}}},
     .batch = 2,
     .no_differences = true,
     LONG_SUMS},
    {.name = "epilogue relu6",
     .fused_attributes = EPILOGUE(16, 1, CLM__RELU6),
     .inputs = {{3, {11, 13, 5}}},
     .batch = 2,
     .no_differences = true,
     LONG_SUMS},
    {.name = "epilogue leaky relu",
     .fused_attributes = EPILOGUE(32, 1, CLM__LEAKY_RELU),
     .inputs = {{3, {11, 13, 5}}},
     .batch = 2,
     .no_differences = true,
     LONG_SUMS},
    {.name = "epilogue elu",
     .fused_attributes = EPILOGUE(19, 1, CLM__ELU),
     .gpu = true,
     .inputs = {{3, {11, 13, 5}}},
     .batch = 2,
     .no_differences = true,
     LONG_SUMS},
    {.name = "epilogue sigmoid",
     .fused_attributes = EPILOGUE(16, 2, CLM__SIGMOID),
     .inputs = {{3, {11, 13, 5}}},
     .batch = 2,
     .no_differences = true,
     LONG_SUMS},
    {.name = "epilogue tanh",
     .fused_attributes = EPILOGUE(48, 1, CLM__TANH),
     .inputs = {{3, {11, 13, 5}}},
     .batch = 2,
     .no_differences = true,
     LONG_SUMS},
    {.name = "NaN and infinity",
     .attributes = "filters=17 kernel_size=1",
     .inputs = {{3, {6, 5, 3}}},
     .batch = 2,
     .specials = true},
    {.name = "NaN behind ReLU",
     .fused_attributes = EPILOGUE(17, 1, CLM__RELU),
     .gpu = true,
     .inputs = {{3, {6, 5, 3}}},
     .batch = 2,
     .specials = true},
    {.name = "frozen",
     .attributes = "filters=17 kernel_size=3",
     .inputs = {{3, {6, 5, 3}}},
     .batch = 2,
     .frozen = true},
    {.name = "inference",
     .attributes = "filters=6 kernel_size=3",
     .inputs = {{3, {6, 5, 3}}},
     .batch = 2,
     .inference = true},
    {.name = "kernel larger than the image",
     .attributes = "filters=2 kernel_size=7,3",
     .inputs = {{3, {5, 9, 2}}},
     .batch = 1,
     .refused = CLM_BAD_DATA,
     .message =
         "a 7x3 convolution of a 5x9x2 input, rows: a window of 7 elements does not fit in 5"},
    {.name = "dilated kernel larger than the image",
     .attributes = "filters=2 kernel_size=3 dilation_rate=1,5",
     .inputs = {{3, {5, 9, 2}}},
     .batch = 1,
     .refused = CLM_BAD_DATA,
     .message = "columns: a window of 11 elements does not fit in 9"},
    {.name = "channels and groups",
     .attributes = "filters=4 kernel_size=1 groups=2",
     .inputs = {{3, {5, 9, 3}}},
     .batch = 1,
     .refused = CLM_BAD_DATA,
     .message = "3 input channels (input 5x9x3) cannot be divided into 2 groups"},
    {.name = "filters and groups",
     .attributes = "filters=3 kernel_size=1 groups=2",
     .inputs = {{3, {5, 9, 4}}},
     .batch = 1,
     .refused = CLM_BAD_DATA,
     .message = "3 filters cannot be divided into 2 groups"},
    {.name = "no image",
     .attributes = "filters=3 kernel_size=1",
     .inputs = {{1, {5}}},
     .batch = 1,
     .refused = CLM_BAD_DATA,
     .message = "the input is 5"},
    {.name = "no filters",
     .attributes = "filters=0 kernel_size=1",
     .inputs = {{3, {5, 9, 4}}},
     .batch = 1,
     .refused = CLM_BAD_DATA,
     .message = "at least 1 filter and 1 group"},
    {.name = "too large",
     .attributes = "filters=2000000 kernel_size=100 padding=same",
     .inputs = {{3, {9, 9, 4000}}},
     .batch = 1,
     .refused = CLM_BAD_DATA,
     .message = "is too large"},
};

static const clm__conv2d_attributes conv = {
    .filters = 4, .kernel_size = {3, 3}, .strides = {1, 2}, .dilation_rate = {1, 1}, .groups = 2};

static void takes_in_what_can_be_an_epilogue(void **state)
{
  (void)state;
  const clm__shape input = clm__shape3(8, 8, 4);
  const clm__fusion *fusion = &clm__op_conv2d.fusions[0];
  assert_string_equal(fusion->producer, "conv2d");
  assert_string_equal(fusion->consumer, "activation");
  for (int i = 0; i < CLM__ACTIVATION_COUNT; i++) {
    const clm__activation_attributes after = {(clm__activation)i};
    clm__conv2d_attributes fused = {0};
    const bool fits = clm__activation_is_epilogue(after.activation);
    assert_int_equal(fusion->merge(&conv, &after, &input, &fused), fits);
    if (!fits) continue;
    assert_int_equal(fused.epilogue, after.activation);
    fused.epilogue = CLM__LINEAR;
    assert_memory_equal(&fused, &conv, sizeof conv);
  }
}

static void takes_in_one_activation_only(void **state)
{
  (void)state;
  const clm__shape input = clm__shape3(8, 8, 4);
  const clm__activation_attributes after = {CLM__RELU};
  clm__conv2d_attributes first = conv, fused = {0};
  first.epilogue = CLM__ELU;
  assert_false(clm__op_conv2d.fusions[0].merge(&first, &after, &input, &fused));
}

static const struct CMUnitTest more[] = {cmocka_unit_test(takes_in_what_can_be_an_epilogue),
                                         cmocka_unit_test(takes_in_one_activation_only)};

static const op_suite suite = {.op = &clm__op_conv2d,
                               .forward = clm__ref_conv2d_forward,
                               .backward = clm__ref_conv2d_backward,
                               .cases = cases,
                               .case_count = sizeof cases / sizeof cases[0],
                               .more = more,
                               .more_count = sizeof more / sizeof more[0]};

int main(int argc, char **argv) { return check_op(&suite, argc, argv); }
