#include "op/checker.h"

extern const clm__op clm__op_flatten;

static const op_case cases[] = {
    {.name = "Keras", .golden = "flatten"},
    {.name = "five", .inputs = {{1, {5}}}, .batch = 1},
    {.name = "too many",
     .inputs = {{3, {65536, 65536, 1}}},
     .refused = CLM_UNSUPPORTED,
     .message = "too many elements"},
};

static const op_suite suite = {
    .op = &clm__op_flatten,
    .cases = cases,
    .case_count = sizeof cases / sizeof cases[0],
};

int main(int argc, char **argv) { return check_op(&suite, argc, argv); }
