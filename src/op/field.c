#include "op/field.h"

#include <string.h>

static const char *const activation_names[CLM__ACTIVATION_COUNT] = {
    "linear", "relu", "relu6", "leaky_relu", "elu", "sigmoid", "tanh", "silu", "gelu", "softmax",
};

const char *clm__activation_name(clm__activation activation)
{
  CLM_ASSERT(activation >= 0 && activation < CLM__ACTIVATION_COUNT);
  return activation_names[activation];
}

clm_status clm__activation_parse(const char *name, clm__activation *activation)
{
  const char *known = strcmp(name, "swish") == 0 ? "silu" : name;
  for (int i = 0; i < CLM__ACTIVATION_COUNT; i++) {
    if (strcmp(known, activation_names[i]) != 0) continue;
    *activation = (clm__activation)i;
    return CLM_OK;
  }
  CLM_FAIL(CLM_UNSUPPORTED,
           "activation %s is not supported (known are linear, relu, relu6, leaky_relu, elu, "
           "sigmoid, tanh, silu, gelu, softmax)",
           name);
}

bool clm__activation_is_epilogue(clm__activation activation) { return activation < CLM__SILU; }

static void set_ints(void *member, int count, int value)
{
  for (int i = 0; i < count; i++) ((int *)member)[i] = value;
}

static void set_default(const clm__field *field, void *member)
{
  switch (field->kind) {
  case CLM__FIELD_INT:
  case CLM__FIELD_INT_OR_NULL:
  case CLM__FIELD_CHOICE:
    set_ints(member, 1, (int)field->otherwise);
    break;
  case CLM__FIELD_PAIR:
    set_ints(member, 2, (int)field->otherwise);
    break;
  case CLM__FIELD_SIDES:
    set_ints(member, 4, (int)field->otherwise);
    break;
  case CLM__FIELD_FLOAT:
    *(double *)member = field->otherwise;
    break;
  case CLM__FIELD_BOOL:
    *(bool *)member = field->otherwise != 0.0;
    break;
  case CLM__FIELD_ACTIVATION:
    *(clm__activation *)member = (clm__activation)(int)field->otherwise;
    break;
  case CLM__FIELD_INITIALIZER:
    *(clm__initializer *)member = field->initializer;
    break;
  case CLM__FIELD_FLOAT_OR_LIST:
    *(clm__float_list *)member = (clm__float_list){.values = {field->otherwise}};
    break;
  case CLM__FIELD_PAIR_OR_NULL: /* null is zeros */
  case CLM__FIELD_FIXED:
    break;
  }
}

void clm__field_set_defaults(const clm__field *fields, void *attributes)
{
  for (const clm__field *field = fields; field != NULL && field->key != NULL; field++)
    set_default(field, (char *)attributes + field->offset);
}
