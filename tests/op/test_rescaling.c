#include "op/checker.h"

extern const clm__op clm__op_rescaling;

static const op_case cases[] = {
    {.name = "Keras",
     .attributes = "scale=0.00392156862745098",
     .golden = "rescaling",
     .tiny = true},
    {.name = "Keras, offset",
     .attributes = "scale=0.00784313725490196 offset=-1",
     .golden = "rescaling_offset"},
    {.name = "a scale a channel",
     .attributes = "scale=2,3,-0.5 offset=0,1,2",
     .inputs = {{3, {5, 7, 3}}},
     .batch = 3,
     .tiny = true},
    {.name = "one scale, an offset a channel",
     .attributes = "scale=2 offset=0.5,1",
     .inputs = {{2, {9, 2}}},
     .batch = 2},
    {.name = "NaN and infinity",
     .attributes = "scale=2",
     .inputs = {{1, {11}}},
     .batch = 1,
     .specials = true},
    {.name = "another number of channels",
     .attributes = "scale=1,2,3",
     .inputs = {{3, {5, 7, 4}}},
     .batch = 1,
     .refused = CLM_BAD_DATA,
     .message = "scale has 3 values, the input has 4 channels"},
};

static const op_suite suite = {
    .op = &clm__op_rescaling,
    .forward = clm__ref_rescaling_forward,
    .backward = clm__ref_rescaling_backward,
    .cases = cases,
    .case_count = sizeof cases / sizeof cases[0],
};

int main(int argc, char **argv) { return check_op(&suite, argc, argv); }
