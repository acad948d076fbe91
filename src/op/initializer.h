/* Initial values of weights (keras/src/initializers/random_initializers.py, compute_fans). Only the
 * distributions match Keras, whose own numbers differ from run to run. */
#ifndef CLM_OP_INITIALIZER_H
#define CLM_OP_INITIALIZER_H

#include "base/error.h"
#include "base/shape.h"

#include <stdint.h>

typedef enum clm__initializer_kind {
  CLM__INIT_ZEROS,
  CLM__INIT_ONES,
  CLM__INIT_CONSTANT,         /* a = value */
  CLM__INIT_GLOROT_UNIFORM,
  CLM__INIT_GLOROT_NORMAL,
  CLM__INIT_HE_UNIFORM,
  CLM__INIT_HE_NORMAL,
  CLM__INIT_LECUN_UNIFORM,
  CLM__INIT_LECUN_NORMAL,
  CLM__INIT_RANDOM_NORMAL,    /* a = mean, b = stddev */
  CLM__INIT_TRUNCATED_NORMAL, /* a = mean, b = stddev, redrawn beyond 2 stddev */
  CLM__INIT_RANDOM_UNIFORM,   /* a = minval, b = maxval */
  CLM__INITIALIZER_COUNT
} clm__initializer_kind;

typedef struct clm__initializer {
  clm__initializer_kind kind;
  double a;
  double b;
} clm__initializer;

/* Keras' class name, such as "GlorotUniform". */
const char *clm__initializer_class(clm__initializer_kind kind);
/* The kind and default numbers of a class name or snake-case alias ("zeros", "glorot_uniform").
 * Errors: UNSUPPORTED naming it. */
CLM_MUST_CHECK clm_status clm__initializer_parse(const char *name, clm__initializer *initializer);
/* Keras' keys for a and b of a kind ("mean", "stddev"), NULL where it has none. */
void clm__initializer_keys(clm__initializer_kind kind, const char **a, const char **b);

/* Writes the initial values of parameter number `parameter` of a model, a function of (seed,
 * parameter) alone. values: [shape]. */
void clm__initializer_fill(const clm__initializer *initializer, const clm__shape *shape,
                           uint64_t seed, uint32_t parameter, float *values);

#endif
