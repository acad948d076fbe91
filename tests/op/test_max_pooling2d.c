#include "op/checker.h"

extern const clm__op clm__op_max_pooling2d;

#define GOLDEN(folder, text)                                                                       \
  {                                                                                                \
    .name = folder, .attributes = text, .golden = folder, .tiny = true, .no_differences = true     \
  }

static const op_case cases[] = {
    GOLDEN("maxpool_2x2_s2_valid_odd", NULL),
    GOLDEN("maxpool_2x2_ties", "strides=2"),
    GOLDEN("maxpool_3x3_s2_same", "pool_size=3 strides=2 padding=same"),
    GOLDEN("maxpool_3x3_s1_same", "pool_size=3 strides=1 padding=same"),
    GOLDEN("maxpool_3x3_s2_same_ties", "pool_size=3 strides=2 padding=same"),
    GOLDEN("maxpool_3x3_s2_same_negative", "pool_size=3 strides=2 padding=same"),
    GOLDEN("maxpool_2x3_s1x2_valid", "pool_size=2,3 strides=1,2"),
    {.name = "default window", .inputs = {{3, {9, 7, 5}}}, .batch = 3},
    {.name = "one image of one pixel, larger window",
     .attributes = "pool_size=3 padding=same",
     .inputs = {{3, {1, 1, 1}}},
     .batch = 1},
    {.name = "as large as the image",
     .attributes = "pool_size=4,3",
     .inputs = {{3, {4, 3, 2}}},
     .batch = 2},
    {.name = "gaps between windows",
     .attributes = "pool_size=2 strides=5,3",
     .inputs = {{3, {13, 11, 17}}},
     .batch = 2},
    {.name = "windows of more than 256 places",
     .attributes = "pool_size=17,19 strides=2,3 padding=same",
     .inputs = {{3, {23, 29, 3}}},
     .batch = 2},
    {.name = "windows of 256 places",
     .attributes = "pool_size=16 strides=1",
     .inputs = {{3, {18, 17, 2}}},
     .batch = 1},
    {.name = "many channels", .inputs = {{3, {6, 5, 67}}}, .batch = 5},
    {.name = "NaN and infinity",
     .attributes = "pool_size=3 strides=1 padding=same",
     .inputs = {{3, {4, 4, 2}}},
     .batch = 2,
     .specials = true},
    {.name = "window larger than the image",
     .attributes = "pool_size=5",
     .inputs = {{3, {4, 9, 2}}},
     .batch = 1,
     .refused = CLM_BAD_DATA,
     .message = "a window of 5 elements does not fit in 4"},
    {.name = "no image",
     .inputs = {{2, {4, 9}}},
     .batch = 1,
     .refused = CLM_BAD_DATA,
     .message = "the input is 4x9"},
    {.name = "too many places",
     .attributes = "pool_size=300,300 padding=same",
     .inputs = {{3, {4, 9, 1}}},
     .batch = 1,
     .refused = CLM_UNSUPPORTED,
     .message = "more than 65536 places"},
};

static const op_suite suite = {
    .op = &clm__op_max_pooling2d,
    .forward = clm__ref_max_pooling2d_forward,
    .backward = clm__ref_max_pooling2d_backward,
    .cases = cases,
    .case_count = sizeof cases / sizeof cases[0],
};

int main(int argc, char **argv) { return check_op(&suite, argc, argv); }
