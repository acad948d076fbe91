#include "op/checker.h"

extern const clm__op clm__op_activation;

#define KEY(kind) "activation=" kind

/* One made-up case and Keras' own of an activation. */
#define CASES(kind)                                                                                \
  {.name = kind,                                                                                   \
   .attributes = KEY(kind),                                                                        \
   .inputs = {{3, {5, 7, 3}}},                                                                     \
   .batch = 4,                                                                                     \
   .x_least = -8.0,                                                                                \
   .x_most = 8.0},                                                                                 \
      {.name = kind " of Keras",                                                                   \
       .attributes = KEY(kind),                                                                    \
       .golden = "activation_" kind,                                                               \
       .no_differences = true,                                                                     \
       .gpu = true,                                                                                \
       .tiny = true},                                                                              \
  {                                                                                                \
    .name = kind " of NaN and infinity", .attributes = KEY(kind), .inputs = {{1, {9}}},            \
    .batch = 2, .gpu = true, .specials = true                                                      \
  }

static const op_case cases[] = {
    CASES("linear"),
    CASES("relu"),
    CASES("relu6"),
    CASES("leaky_relu"),
    CASES("elu"),
    CASES("sigmoid"),
    CASES("tanh"),
    CASES("silu"),
    CASES("gelu"),
    CASES("softmax"),
    {.name = "softmax of one",
     .attributes = KEY("softmax"),
     .inputs = {{1, {1}}},
     .batch = 3,
     .gpu = true},
    {.name = "softmax of large numbers",
     .attributes = KEY("softmax"),
     .inputs = {{2, {3, 1000}}},
     .batch = 2,
     .gpu = true,
     .x_least = -500.0,
     .x_most = 500.0},
    {.name = "softmax, Keras' layer of large numbers",
     .attributes = KEY("softmax"),
     .golden = "softmax_layer_large"},
    {.name = "one element", .attributes = KEY("relu"), .inputs = {{1, {1}}}, .batch = 1},
};

static const op_suite suite = {
    .op = &clm__op_activation,
    .forward = clm__ref_activation_forward,
    .backward = clm__ref_activation_backward,
    .cases = cases,
    .case_count = sizeof cases / sizeof cases[0],
};

int main(int argc, char **argv) { return check_op(&suite, argc, argv); }
