#include "op/checker.h"

extern const clm__op clm__op_add;

static const op_case cases[] = {
    {.name = "Keras", .inputs = {{3, {3, 4, 5}}, {3, {3, 4, 5}}}, .golden = "add", .tiny = true},
    {.name = "Keras, three inputs",
     .inputs = {{2, {3, 4}}, {2, {3, 4}}, {2, {3, 4}}},
     .golden = "add_three"},
    {.name = "eight inputs",
     .inputs = {{1, {5}}, {1, {5}}, {1, {5}}, {1, {5}}, {1, {5}}, {1, {5}}, {1, {5}}, {1, {5}}},
     .batch = 3},
    {.name = "a value a channel",
     .inputs = {{3, {4, 5, 3}}, {3, {1, 1, 3}}},
     .batch = 3,
     .tiny = true},
    {.name = "both repeated",
     .inputs = {{3, {4, 1, 3}}, {3, {1, 5, 1}}, {3, {4, 5, 3}}},
     .batch = 2},
    {.name = "four dimensions", .inputs = {{4, {2, 3, 4, 5}}, {4, {2, 1, 4, 1}}}, .batch = 2},
    {.name = "one gradient",
     .inputs = {{2, {3, 4}}, {2, {3, 4}}, {2, {1, 4}}},
     .batch = 2,
     .need_dx = 4},
    {.name = "NaN and infinity", .inputs = {{1, {11}}, {1, {11}}}, .batch = 1, .specials = true},
    {.name = "other sizes",
     .inputs = {{2, {3, 4}}, {2, {3, 5}}},
     .refused = CLM_BAD_DATA,
     .message = "3x4 and 3x5 cannot be added"},
    {.name = "other dimensions",
     .inputs = {{2, {3, 4}}, {1, {4}}},
     .refused = CLM_BAD_DATA,
     .message = "cannot be added"},
};

static const op_suite suite = {
    .op = &clm__op_add,
    .forward = clm__ref_add_forward,
    .backward = clm__ref_add_backward,
    .cases = cases,
    .case_count = sizeof cases / sizeof cases[0],
};

int main(int argc, char **argv) { return check_op(&suite, argc, argv); }
