#include "op/checker.h"

extern const clm__op clm__op_concatenate;

static const op_case cases[] = {
    {.name = "Keras",
     .inputs = {{3, {3, 4, 2}}, {3, {3, 4, 3}}, {3, {3, 4, 1}}},
     .golden = "concatenate",
     .tiny = true},
    {.name = "Keras, rows",
     .attributes = "axis=1",
     .inputs = {{3, {3, 4, 2}}, {3, {1, 4, 2}}},
     .golden = "concatenate_axis1"},
    {.name = "columns, one gradient",
     .attributes = "axis=2",
     .inputs = {{3, {3, 4, 2}}, {3, {3, 7, 2}}},
     .batch = 3,
     .need_dx = 2},
    {.name = "one input", .inputs = {{1, {7}}}, .batch = 2},
    {.name = "NaN and infinity", .inputs = {{1, {11}}, {1, {3}}}, .batch = 1, .specials = true},
    {.name = "other rows",
     .inputs = {{3, {3, 4, 2}}, {3, {5, 4, 2}}},
     .refused = CLM_BAD_DATA,
     .message = "3x4x2 and 5x4x2 differ elsewhere than along axis 3"},
    {.name = "other dimensions",
     .inputs = {{3, {3, 4, 2}}, {1, {2}}},
     .refused = CLM_BAD_DATA,
     .message = "differ elsewhere"},
    {.name = "the batch",
     .attributes = "axis=0",
     .inputs = {{1, {3}}, {1, {3}}},
     .refused = CLM_BAD_DATA,
     .message = "have no axis 0"},
    {.name = "no such axis",
     .attributes = "axis=-3",
     .inputs = {{2, {3, 1}}, {2, {3, 1}}},
     .refused = CLM_BAD_DATA,
     .message = "have no axis -3"},
};

static const op_suite suite = {
    .op = &clm__op_concatenate,
    .forward = clm__ref_concatenate_forward,
    .backward = clm__ref_concatenate_backward,
    .cases = cases,
    .case_count = sizeof cases / sizeof cases[0],
};

int main(int argc, char **argv) { return check_op(&suite, argc, argv); }
