#include "op/checker.h"

extern const clm__op clm__op_zero_padding2d;

static const op_case cases[] = {
    {.name = "Keras", .attributes = "padding=1,2,0,3", .golden = "zero_padding", .tiny = true},
    {.name = "one all around", .inputs = {{3, {5, 7, 3}}}, .batch = 3, .tiny = true},
    {.name = "nothing", .attributes = "padding=0", .inputs = {{3, {5, 7, 3}}}, .batch = 2},
    {.name = "far", .attributes = "padding=9,0,0,11", .inputs = {{3, {1, 1, 1}}}, .batch = 2},
    {.name = "NaN and infinity", .inputs = {{3, {3, 3, 1}}}, .batch = 1, .specials = true},
    {.name = "negative",
     .attributes = "padding=-1,0,0,0",
     .inputs = {{3, {5, 7, 3}}},
     .refused = CLM_BAD_DATA,
     .message = "-1 is negative"},
    {.name = "not an image",
     .inputs = {{1, {5}}},
     .refused = CLM_BAD_DATA,
     .message = "rows x columns x channels"},
};

static const op_suite suite = {
    .op = &clm__op_zero_padding2d,
    .forward = clm__ref_zero_padding2d_forward,
    .backward = clm__ref_zero_padding2d_backward,
    .cases = cases,
    .case_count = sizeof cases / sizeof cases[0],
};

int main(int argc, char **argv) { return check_op(&suite, argc, argv); }
