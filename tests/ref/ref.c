#include "ref/ref.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

const void *ref_attribute(const clm__problem *problem, const char *key)
{
  for (const clm__field *field = problem->op->fields; field != NULL && field->key != NULL; field++)
    if (strcmp(field->key, key) == 0 && field->kind != CLM__FIELD_FIXED)
      return (const char *)problem->attributes + field->offset;
  fail_msg("op %s has no attribute %s", problem->op->name, key);
  return NULL;
}

double ref_activate(clm__activation activation, double z)
{
  switch (activation) {
  case CLM__RELU:
    return z < 0.0 ? 0.0 : z;
  case CLM__RELU6:
    return z < 0.0 ? 0.0 : z > 6.0 ? 6.0 : z;
  case CLM__LEAKY_RELU:
    return z > 0.0 ? z : 0.2 * z;
  case CLM__ELU:
    return z > 0.0 ? z : expm1(z);
  case CLM__SIGMOID:
    return 1.0 / (1.0 + exp(-z));
  case CLM__TANH:
    return tanh(z);
  case CLM__SILU:
    return z / (1.0 + exp(-z));
  case CLM__GELU:
    return 0.5 * z * (1.0 + erf(z * sqrt(0.5)));
  default:
    return z;
  }
}

static double gelu_slope(double z)
{
  const double density = exp(-0.5 * z * z) / sqrt(2.0 * acos(-1.0));
  return 0.5 * (1.0 + erf(z * sqrt(0.5))) + z * density;
}

double ref_activate_slope(clm__activation activation, double z)
{
  const double s = 1.0 / (1.0 + exp(-z));
  switch (activation) {
  case CLM__RELU:
    return z > 0.0 ? 1.0 : 0.0;
  case CLM__RELU6:
    return z > 0.0 && z < 6.0 ? 1.0 : 0.0;
  case CLM__LEAKY_RELU:
    return z > 0.0 ? 1.0 : 0.2;
  case CLM__ELU:
    return z > 0.0 ? 1.0 : exp(z);
  case CLM__SIGMOID:
    return s * (1.0 - s);
  case CLM__TANH:
    return 1.0 - tanh(z) * tanh(z);
  case CLM__SILU:
    return s * (1.0 + z * (1.0 - s));
  case CLM__GELU:
    return gelu_slope(z);
  default:
    return 1.0;
  }
}
