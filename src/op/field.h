/* The typed table of an op's attributes. One table serves Keras configurations in and out, ONNX,
 * the summary and the checks: a row says where a value lies in the attribute struct, what Keras
 * calls it, and which values are allowed. Knows neither JSON nor a device. */
#ifndef CLM_OP_FIELD_H
#define CLM_OP_FIELD_H

#include "base/error.h"
#include "op/initializer.h"

#include <stdbool.h>
#include <stddef.h>

/* Pointwise functions of one tensor, and softmax over its last axis. The first values are those of
 * cl/prelude.cl. */
typedef enum clm__activation {
  CLM__LINEAR,
  CLM__RELU,
  CLM__RELU6,
  CLM__LEAKY_RELU, /* slope 0.2, Keras' activation function */
  CLM__ELU,
  CLM__SIGMOID,
  CLM__TANH,
  CLM__SILU,
  CLM__GELU,
  CLM__SOFTMAX,
  CLM__ACTIVATION_COUNT
} clm__activation;

/* Keras' name, such as "relu6". */
const char *clm__activation_name(clm__activation activation);
/* The activation of Keras' name (aliases too: swish). Errors: UNSUPPORTED naming it. */
CLM_MUST_CHECK clm_status clm__activation_parse(const char *name, clm__activation *activation);
/* Whether dy/dz can be told from y, so that the function can be the epilogue of another op. */
bool clm__activation_is_epilogue(clm__activation activation);

typedef enum clm__field_kind {
  CLM__FIELD_INT,           /* int */
  CLM__FIELD_INT_OR_NULL,   /* int >= 0, null is -1; `otherwise` is -1 where null is the default */
  CLM__FIELD_FLOAT,         /* double: Keras writes Python floats */
  CLM__FIELD_BOOL,          /* bool */
  CLM__FIELD_PAIR,          /* int[2], rows then columns; Keras also accepts one int */
  CLM__FIELD_PAIR_OR_NULL,  /* the same, null means {0,0} and infer fills it in */
  CLM__FIELD_SIDES,         /* int[4] = top, bottom, left, right: [[t,b],[l,r]], [h,w] or one int */
  CLM__FIELD_CHOICE,        /* int: index into choices */
  CLM__FIELD_ACTIVATION,    /* clm__activation; the graph makes it a node of its own */
  CLM__FIELD_INITIALIZER,   /* clm__initializer */
  CLM__FIELD_FLOAT_OR_LIST, /* clm__float_list: one float or a list over the last axis */
  CLM__FIELD_FIXED          /* no member: always written as `fixed`, anything else is unsupported */
} clm__field_kind;

#define CLM__FLOAT_LIST_MAX 4
typedef struct clm__float_list {
  int count; /* 0: one value for all, in values[0] */
  double values[CLM__FLOAT_LIST_MAX];
} clm__float_list;

typedef struct clm__field {
  const char *key; /* in Keras' configuration */
  clm__field_kind kind;
  size_t offset;      /* offsetof in the attribute struct */
  bool required;      /* no default; reading fails where it is missing */
  double least, most; /* allowed range of numbers; both 0: any */
  double otherwise;   /* default of INT, FLOAT, BOOL, CHOICE, ACTIVATION, FLOAT_OR_LIST and
                         of all numbers of a PAIR or SIDES */
  clm__initializer initializer; /* default of INITIALIZER */
  const char *const *choices;   /* NULL-terminated */
  const char *fixed;            /* JSON text */
  bool omit_default;            /* written only where it differs: keys younger than Keras 3.0 */
} clm__field;

/* Fills a zeroed attribute struct with the defaults of its table. */
void clm__field_set_defaults(const clm__field *fields, void *attributes);

#endif
