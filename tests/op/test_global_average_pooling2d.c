#include "op/checker.h"

extern const clm__op clm__op_global_average_pooling2d;

static const op_case cases[] = {
    {.name = "Keras", .golden = "global_average", .tiny = true, .gpu = true},
    {.name = "Keras, dimensions kept",
     .attributes = "keepdims=true",
     .golden = "global_average_keepdims",
     .tiny = true},
    {.name = "odd sizes", .inputs = {{3, {7, 11, 13}}}, .batch = 3, .gpu = true},
    {.name = "more channels than a group", .inputs = {{3, {2, 3, 77}}}, .batch = 2, .gpu = true},
    {.name = "one pixel", .inputs = {{3, {1, 1, 4}}}, .batch = 1},
    {.name = "large image",
     .inputs = {{3, {120, 130, 1}}},
     .batch = 2,
     .gpu = true,
     .x_least = 0,
     .x_most = 2},
    {.name = "NaN and infinity", .inputs = {{3, {2, 3, 4}}}, .batch = 3, .specials = true},
    {.name = "no image",
     .inputs = {{1, {9}}},
     .batch = 1,
     .refused = CLM_BAD_DATA,
     .message = "the input is 9"},
};

static const op_suite suite = {
    .op = &clm__op_global_average_pooling2d,
    .forward = clm__ref_global_average_pooling2d_forward,
    .backward = clm__ref_global_average_pooling2d_backward,
    .cases = cases,
    .case_count = sizeof cases / sizeof cases[0],
};

int main(int argc, char **argv) { return check_op(&suite, argc, argv); }
