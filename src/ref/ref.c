#include "ref/ref.h"

#include "base/error.h"

#include <math.h>
#include <string.h>

#define CLM_OP(op_name)                                                                            \
  {#op_name, clm__ref_##op_name##_forward, clm__ref_##op_name##_backward,                          \
   clm__ref_##op_name##_trials},
#define CLM_LOSS(name)
#define CLM_OPTIM(name)
static const struct reference {
  const char *op;
  clm__ref_function forward;
  clm__ref_function backward;
  const clm__ref_trial *trials;
} references[] = {
#include "op/ops.def"
};
#undef CLM_OP
#undef CLM_LOSS
#undef CLM_OPTIM

static const struct reference *find(const clm__op *op)
{
  const size_t count = sizeof references / sizeof references[0];
  size_t i = 0;
  while (i < count && strcmp(references[i].op, op->name) != 0) i++;
  CLM_ASSERT(i < count);
  return &references[i];
}

void clm__ref_find(const clm__op *op, clm__ref_function *forward, clm__ref_function *backward)
{
  const struct reference *found = find(op);
  *forward = found->forward;
  *backward = found->backward;
}

const clm__ref_trial *clm__ref_trials(const clm__op *op) { return find(op)->trials; }

const void *clm__ref_attribute(const clm__problem *problem, const char *key)
{
  const clm__field *field = problem->op->fields;
  while (field->key != NULL && strcmp(field->key, key) != 0) field++;
  CLM_ASSERT(field->key != NULL && field->kind != CLM__FIELD_FIXED);
  return (const char *)problem->attributes + field->offset;
}

double clm__ref_activate(clm__activation activation, double z)
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

double clm__ref_activate_slope(clm__activation activation, double z)
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
