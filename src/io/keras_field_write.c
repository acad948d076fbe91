#include "io/keras_field.h"

#include <string.h>

static void put_ints(clm__json_writer *writer, const char *key, const int *values, int count)
{
  clm__json_begin_list(writer, key);
  for (int i = 0; i < count; i++) clm__json_put_int(writer, NULL, values[i]);
  clm__json_end_list(writer);
}

void clm__keras_begin_class(clm__json_writer *writer, const char *key, const char *module,
                            const char *class_name)
{
  clm__json_begin_object(writer, key);
  clm__json_put_text(writer, "module", module);
  clm__json_put_text(writer, "class_name", class_name);
  clm__json_begin_object(writer, "config");
}

void clm__keras_end_class(clm__json_writer *writer)
{
  clm__json_end_object(writer);
  clm__json_put_null(writer, "registered_name");
  clm__json_end_object(writer);
}

static bool is_random(clm__initializer_kind kind)
{
  return kind != CLM__INIT_ZEROS && kind != CLM__INIT_ONES && kind != CLM__INIT_CONSTANT;
}

static void put_initializer(clm__json_writer *writer, const char *key,
                            const clm__initializer *initializer)
{
  const char *key_a = NULL;
  const char *key_b = NULL;
  clm__initializer_keys(initializer->kind, &key_a, &key_b);
  clm__keras_begin_class(writer, key, "keras.initializers",
                         clm__initializer_class(initializer->kind));
  if (key_a != NULL) clm__json_put_number(writer, key_a, initializer->a);
  if (key_b != NULL) clm__json_put_number(writer, key_b, initializer->b);
  if (is_random(initializer->kind)) clm__json_put_null(writer, "seed");
  clm__keras_end_class(writer);
}

static void put_float_list(clm__json_writer *writer, const char *key, const clm__float_list *list)
{
  if (list->count == 0) {
    clm__json_put_number(writer, key, list->values[0]);
    return;
  }
  clm__json_begin_list(writer, key);
  for (int i = 0; i < list->count; i++) clm__json_put_number(writer, NULL, list->values[i]);
  clm__json_end_list(writer);
}

static void put_sides(clm__json_writer *writer, const char *key, const int sides[4])
{
  clm__json_begin_list(writer, key);
  put_ints(writer, NULL, &sides[0], 2);
  put_ints(writer, NULL, &sides[2], 2);
  clm__json_end_list(writer);
}

static void put_field(clm__json_writer *writer, const clm__field *field, const void *member)
{
  const int *ints = member;
  switch (field->kind) {
  case CLM__FIELD_INT:
    clm__json_put_int(writer, field->key, *ints);
    break;
  case CLM__FIELD_INT_OR_NULL:
    if (*ints == -1)
      clm__json_put_null(writer, field->key);
    else
      clm__json_put_int(writer, field->key, *ints);
    break;
  case CLM__FIELD_FLOAT:
    clm__json_put_number(writer, field->key, *(const double *)member);
    break;
  case CLM__FIELD_BOOL:
    clm__json_put_bool(writer, field->key, *(const bool *)member);
    break;
  case CLM__FIELD_PAIR:
    put_ints(writer, field->key, ints, 2);
    break;
  case CLM__FIELD_PAIR_OR_NULL:
    if (ints[0] == 0)
      clm__json_put_null(writer, field->key);
    else
      put_ints(writer, field->key, ints, 2);
    break;
  case CLM__FIELD_SIDES:
    put_sides(writer, field->key, ints);
    break;
  case CLM__FIELD_CHOICE:
    clm__json_put_text(writer, field->key, field->choices[*ints]);
    break;
  case CLM__FIELD_ACTIVATION:
    clm__json_put_text(writer, field->key, clm__activation_name(*(const clm__activation *)member));
    break;
  case CLM__FIELD_INITIALIZER:
    put_initializer(writer, field->key, member);
    break;
  case CLM__FIELD_FLOAT_OR_LIST:
    put_float_list(writer, field->key, member);
    break;
  case CLM__FIELD_FIXED:
    clm__json_put_raw(writer, field->key, field->fixed);
    break;
  }
}

/* Whether the value of a key that Keras 3.0 does not know is the default, so that leaving it out
 * says the same. */
static bool is_default(const clm__field *field, const void *member)
{
  clm__field only[2] = {*field, {0}};
  only[0].offset = 0;
  union {
    int number;
    double real;
    bool flag;
  } otherwise = {.real = 0.0};
  switch (field->kind) {
  case CLM__FIELD_FIXED:
    return true;
  case CLM__FIELD_INT:
  case CLM__FIELD_CHOICE:
    clm__field_set_defaults(only, &otherwise);
    return *(const int *)member == otherwise.number;
  case CLM__FIELD_FLOAT:
    clm__field_set_defaults(only, &otherwise);
    return *(const double *)member == otherwise.real;
  case CLM__FIELD_BOOL:
    clm__field_set_defaults(only, &otherwise);
    return *(const bool *)member == otherwise.flag;
  default:
    return false;
  }
}

void clm__keras_write_fields(clm__json_writer *writer, const clm__field *fields,
                             const void *attributes)
{
  for (; fields != NULL && fields->key != NULL; fields++) {
    const void *member = (const char *)attributes + fields->offset;
    if (fields->omit_default && is_default(fields, member)) continue;
    put_field(writer, fields, member);
  }
}
