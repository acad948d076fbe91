#include "op/checker.h"

extern const clm__op clm__op_average_pooling2d;

#define GOLDEN(folder, text)                                                                       \
  {                                                                                                \
    .name = folder, .attributes = text, .golden = folder, .tiny = true                             \
  }

static const op_case cases[] = {
    GOLDEN("avgpool_2x2_s2_valid_odd", NULL),
    GOLDEN("avgpool_3x3_s2_same", "pool_size=3 strides=2 padding=same"),
    GOLDEN("avgpool_3x3_s1_same", "pool_size=3 strides=1 padding=same"),
    {.name = "default window", .inputs = {{3, {9, 7, 5}}}, .batch = 3},
    {.name = "one image of one pixel, larger window",
     .attributes = "pool_size=3 padding=same",
     .inputs = {{3, {1, 1, 1}}},
     .batch = 1},
    {.name = "gaps between windows",
     .attributes = "pool_size=2 strides=5,3",
     .inputs = {{3, {13, 11, 17}}},
     .batch = 2},
    {.name = "overlapping windows",
     .attributes = "pool_size=5,3 strides=1,2 padding=same",
     .inputs = {{3, {6, 9, 3}}},
     .batch = 4},
    {.name = "NaN and infinity",
     .attributes = "pool_size=3 strides=1 padding=same",
     .inputs = {{3, {4, 4, 2}}},
     .batch = 2,
     .specials = true},
    {.name = "window larger than the image",
     .attributes = "pool_size=5",
     .inputs = {{3, {9, 4, 2}}},
     .batch = 1,
     .refused = CLM_BAD_DATA,
     .message = "a window of 5 elements does not fit in 4"},
    {.name = "no image",
     .inputs = {{1, {9}}},
     .batch = 1,
     .refused = CLM_BAD_DATA,
     .message = "the input is 9"},
};

static const op_suite suite = {
    .op = &clm__op_average_pooling2d,
    .forward = clm__ref_average_pooling2d_forward,
    .backward = clm__ref_average_pooling2d_backward,
    .cases = cases,
    .case_count = sizeof cases / sizeof cases[0],
};

int main(int argc, char **argv) { return check_op(&suite, argc, argv); }
