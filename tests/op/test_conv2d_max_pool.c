/* ctest: timeout=900 */
#include "op/checker.h"
#include "op/conv2d.h"
#include "op/pooling2d.h"

/* Sums of random numbers round more than those of golden inputs. */
#define LONG_SUMS .tolerance = 1e-5, .w_tolerance = 4e-5, .no_differences = true

/* Attributes: filters, kernel's rows and columns, padding, dilation, bias, what comes behind it. */
#define FUSED(count, kh, kw, pad, dilation, bias, after)                                           \
  &(const clm__conv2d_max_pool_attributes)                                                         \
  {                                                                                                \
    .conv = {                                                                                      \
      .filters = (count),                                                                          \
      .kernel_size = {(kh), (kw)},                                                                 \
      .strides = {1, 1},                                                                           \
      .padding = (pad),                                                                            \
      .dilation_rate = {(dilation), (dilation)},                                                   \
      .groups = 1,                                                                                 \
      .use_bias = (bias),                                                                          \
      .epilogue = (after)                                                                          \
    }                                                                                              \
  }
#define SAME CLM__CONV2D_SAME
#define VALID CLM__CONV2D_VALID

static const op_case cases[] = {
    {.name = "one window",
     .fused_attributes = FUSED(1, 1, 1, VALID, 1, false, CLM__LINEAR),
     .inputs = {{3, {2, 2, 1}}},
     .batch = 1,
     .tiny = true,
     LONG_SUMS},
    {.name = "first layer",
     .fused_attributes = FUSED(16, 3, 3, SAME, 1, true, CLM__RELU),
     .inputs = {{3, {12, 14, 3}}},
     .batch = 3,
     .tiny = true,
     LONG_SUMS},
    {.name = "4 to 4 channels",
     .fused_attributes = FUSED(4, 2, 2, SAME, 1, true, CLM__RELU),
     .inputs = {{3, {4, 5, 4}}},
     .batch = 2,
     .gpu = true,
     .tiny = true,
     LONG_SUMS},
    {.name = "second layer",
     .fused_attributes = FUSED(32, 3, 3, SAME, 1, true, CLM__RELU),
     .gpu = true,
     .inputs = {{3, {10, 8, 16}}},
     .batch = 4,
     LONG_SUMS},
    {.name = "third layer, odd sizes",
     .fused_attributes = FUSED(64, 3, 3, SAME, 1, true, CLM__RELU),
     .gpu = true,
     .inputs = {{3, {9, 11, 32}}},
     .batch = 2,
     LONG_SUMS},
    {.name = "17 to 33 channels",
     .fused_attributes = FUSED(33, 3, 3, SAME, 1, true, CLM__LINEAR),
     .inputs = {{3, {7, 10, 17}}},
     .batch = 3,
     LONG_SUMS},
    {.name = "33 to 5 channels, kernel 5x4",
     .fused_attributes = FUSED(5, 5, 4, SAME, 1, true, CLM__RELU),
     .inputs = {{3, {9, 8, 33}}},
     .batch = 2,
     LONG_SUMS},
    {.name = "1x1, odd sizes",
     .fused_attributes = FUSED(20, 1, 1, SAME, 1, false, CLM__RELU),
     .inputs = {{3, {7, 9, 40}}},
     .batch = 2,
     LONG_SUMS},
    {.name = "valid, kernel 7x2",
     .fused_attributes = FUSED(9, 7, 2, VALID, 1, true, CLM__RELU),
     .inputs = {{3, {16, 7, 6}}},
     .batch = 2,
     LONG_SUMS},
    {.name = "dilation 2, same",
     .fused_attributes = FUSED(24, 3, 3, SAME, 2, true, CLM__RELU),
     .inputs = {{3, {11, 12, 5}}},
     .batch = 2,
     LONG_SUMS},
    {.name = "dilation 2, valid",
     .fused_attributes = FUSED(3, 2, 3, VALID, 2, true, CLM__LINEAR),
     .gpu = true,
     .inputs = {{3, {9, 12, 1}}},
     .batch = 3,
     LONG_SUMS},
    {.name = "kernel larger than the image",
     .fused_attributes = FUSED(6, 7, 7, SAME, 1, true, CLM__RELU),
     .inputs = {{3, {4, 3, 2}}},
     .batch = 2,
     LONG_SUMS},
    {.name = "many images",
     .fused_attributes = FUSED(8, 3, 3, SAME, 1, true, CLM__RELU),
     .inputs = {{3, {6, 6, 3}}},
     .batch = 37,
     LONG_SUMS},
    {.name = "many columns",
     .fused_attributes = FUSED(10, 3, 3, SAME, 1, true, CLM__RELU),
     .inputs = {{3, {4, 301, 4}}},
     .batch = 1,
     LONG_SUMS},
    {.name = "many channels",
     .fused_attributes = FUSED(130, 3, 3, SAME, 1, true, CLM__RELU),
     .inputs = {{3, {5, 6, 129}}},
     .batch = 1,
     .tolerance = 4e-5,
     .no_differences = true},
    {.name = "ties: every pixel is the same",
     .fused_attributes = FUSED(17, 3, 3, SAME, 1, true, CLM__LINEAR),
     .inputs = {{3, {8, 9, 3}}},
     .batch = 2,
     .x_least = 1e-30,
     .x_most = 1e-30,
     LONG_SUMS},
    {.name = "ties behind ReLU, plane of ones",
     .fused_attributes = FUSED(17, 1, 1, SAME, 1, true, CLM__RELU),
     .inputs = {{3, {8, 9, 3}}},
     .batch = 2,
     .x_least = 1,
     .x_most = 1,
     LONG_SUMS},
    {.name = "NaN and infinity",
     .fused_attributes = FUSED(17, 1, 1, SAME, 1, true, CLM__LINEAR),
     .gpu = true,
     .inputs = {{3, {6, 5, 3}}},
     .batch = 2,
     .specials = true},
    {.name = "frozen",
     .fused_attributes = FUSED(17, 3, 3, SAME, 1, true, CLM__RELU),
     .inputs = {{3, {6, 5, 3}}},
     .batch = 2,
     .frozen = true,
     LONG_SUMS},
    {.name = "inference",
     .fused_attributes = FUSED(17, 3, 3, SAME, 1, true, CLM__RELU),
     .inputs = {{3, {6, 5, 3}}},
     .batch = 2,
     .inference = true,
     LONG_SUMS},
    {.name = "an epilogue that cannot be fused",
     .fused_attributes = FUSED(17, 3, 3, SAME, 1, true, CLM__TANH),
     .inputs = {{3, {6, 5, 3}}},
     .batch = 1,
     .refused = CLM_UNSUPPORTED,
     .message = "cannot be fused with a pool"},
    {.name = "no room for a window",
     .fused_attributes = FUSED(17, 3, 3, VALID, 1, true, CLM__RELU),
     .inputs = {{3, {6, 3, 3}}},
     .batch = 1,
     .refused = CLM_BAD_DATA,
     .message = "a 2x2 pool does not fit in the 4x1 output"},
};

static const clm__conv2d_attributes conv = {.filters = 4,
                                            .kernel_size = {3, 3},
                                            .strides = {1, 1},
                                            .dilation_rate = {1, 1},
                                            .groups = 1,
                                            .use_bias = true,
                                            .epilogue = CLM__RELU};
static const clm__pooling2d_attributes pool = {.pool_size = {2, 2}, .strides = {2, 2}};

static bool fuses(const clm__conv2d_attributes *producer, const clm__pooling2d_attributes *consumer)
{
  const clm__shape input = clm__shape3(8, 8, 4);
  clm__conv2d_max_pool_attributes fused = {0};
  const clm__fusion *fusion = &clm__op_conv2d_max_pool.fusions[0];
  assert_string_equal(fusion->producer, "conv2d");
  assert_string_equal(fusion->consumer, "max_pooling2d");
  if (!fusion->merge(producer, consumer, &input, &fused)) return false;
  assert_memory_equal(&fused.conv, producer, sizeof *producer);
  return true;
}

static void fuses_what_fits_and_nothing_else(void **state)
{
  (void)state;
  clm__conv2d_attributes other = conv;
  clm__pooling2d_attributes window = pool;
  assert_true(fuses(&conv, &pool));
  window.strides[0] = window.strides[1] = 0;
  assert_true(fuses(&conv, &window));
  window = (clm__pooling2d_attributes){.pool_size = {3, 2}, .strides = {2, 2}};
  assert_false(fuses(&conv, &window));
  window = (clm__pooling2d_attributes){.pool_size = {2, 2}, .strides = {2, 1}};
  assert_false(fuses(&conv, &window));
  window = (clm__pooling2d_attributes){.pool_size = {2, 2}, .strides = {2, 2}, .padding = 1};
  assert_false(fuses(&conv, &window));
  other.epilogue = CLM__LINEAR;
  assert_true(fuses(&other, &pool));
  other.epilogue = CLM__ELU;
  assert_false(fuses(&other, &pool));
  other = conv;
  other.strides[1] = 2;
  assert_false(fuses(&other, &pool));
  other = conv;
  other.groups = 2;
  assert_false(fuses(&other, &pool));
}

static const struct CMUnitTest more[] = {cmocka_unit_test(fuses_what_fits_and_nothing_else)};

static const op_suite suite = {.op = &clm__op_conv2d_max_pool,
                               .forward = clm__ref_conv2d_max_pool_forward,
                               .backward = clm__ref_conv2d_max_pool_backward,
                               .cases = cases,
                               .case_count = sizeof cases / sizeof cases[0],
                               .more = more,
                               .more_count = 1};

int main(int argc, char **argv) { return check_op(&suite, argc, argv); }
