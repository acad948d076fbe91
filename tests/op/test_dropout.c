#include "op/checker.h"

extern const clm__op clm__op_dropout;

static const op_case cases[] = {
    {.name = "Keras, inference",
     .attributes = "rate=0.4 seed=1",
     .golden = "dropout_inference",
     .inference = true},
    {.name = "half",
     .attributes = "rate=0.5",
     .inputs = {{3, {5, 7, 3}}},
     .batch = 4,
     .gpu = true,
     .tiny = true},
    {.name = "a seed of its own",
     .attributes = "rate=0.3 seed=77",
     .inputs = {{1, {1000}}},
     .batch = 3,
     .gpu = true},
    {.name = "nothing", .attributes = "rate=0", .inputs = {{1, {9}}}, .batch = 2},
    {.name = "one element", .attributes = "rate=0.5", .inputs = {{1, {1}}}, .batch = 7},
    {.name = "no such rate",
     .attributes = "rate=1.5",
     .inputs = {{1, {9}}},
     .refused = CLM_BAD_DATA,
     .message = "between 0 and 1"},
};

static const op_suite suite = {
    .op = &clm__op_dropout,
    .forward = clm__ref_dropout_forward,
    .backward = clm__ref_dropout_backward,
    .cases = cases,
    .case_count = sizeof cases / sizeof cases[0],
};

int main(int argc, char **argv) { return check_op(&suite, argc, argv); }
