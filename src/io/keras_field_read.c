#include "io/keras_field.h"

#include <ctype.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>

clm_status clm__keras_get_class(const clm__json_at *object, const char **class_name,
                                clm__json_at *config)
{
  const clm__json_kind kind = clm__json_kind_of(object);
  if (kind == CLM__JSON_TEXT) {
    *config = (clm__json_at){.parent = object, .key = "config"};
    return clm__json_get_text(object, class_name);
  }
  CLM_TRY(clm__json_require(object, CLM__JSON_OBJECT));
  const clm__json_at name = clm__json_find(object, "class_name");
  CLM_TRY(clm__json_get_text(&name, class_name));
  *config = clm__json_find(object, "config");
  return CLM_OK;
}

clm_status clm__keras_check_dtype(const clm__json_at *dtype)
{
  const clm__json_kind kind = clm__json_kind_of(dtype);
  if (kind == CLM__JSON_MISSING || kind == CLM__JSON_NULL) return CLM_OK;
  if (kind == CLM__JSON_OBJECT) {
    const clm__json_at config = clm__json_find(dtype, "config");
    const clm__json_at name = clm__json_find(&config, "name");
    CLM_TRY(clm__json_require(&name, CLM__JSON_TEXT));
    return clm__keras_check_dtype(&name);
  }
  const char *name = NULL;
  CLM_TRY(clm__json_get_text(dtype, &name));
  if (strcmp(name, "float32") == 0) return CLM_OK;
  return clm__json_fail(dtype, CLM_UNSUPPORTED, "the type %.80s is not supported, only float32",
                        name);
}

static bool is_known(const char *key, const char *const *known, const clm__field *const *tables)
{
  for (; *known != NULL; known++)
    if (strcmp(key, *known) == 0) return true;
  for (; *tables != NULL; tables++)
    for (const clm__field *field = *tables; field->key != NULL; field++)
      if (strcmp(key, field->key) == 0) return true;
  return false;
}

clm_status clm__keras_check_keys(const clm__json_at *config, const char *const *known,
                                 const clm__field *const *tables)
{
  void *iterator = NULL;
  clm__json_at member;
  while (clm__json_next(config, &iterator, &member)) {
    if (is_known(member.key, known, tables)) continue;
    if (clm__json_kind_of(&member) == CLM__JSON_NULL) continue;
    bool on = true;
    if (clm__json_kind_of(&member) == CLM__JSON_BOOL) CLM_TRY(clm__json_get_bool(&member, &on));
    if (on) return clm__json_fail(&member, CLM_UNSUPPORTED, "this option is not supported");
  }
  return CLM_OK;
}

/* The table's range of a number. */
static void range_of(const clm__field *field, int64_t *least, int64_t *most)
{
  const bool any = field->least == 0.0 && field->most == 0.0;
  *least = any ? INT_MIN : (int64_t)field->least;
  *most = any ? INT_MAX : (int64_t)field->most;
}

/* Keras has some single numbers as lists of one, such as the axis of a normalization. */
static clm_status read_int(const clm__json_at *at, const clm__field *field, int *value)
{
  int64_t least = 0;
  int64_t most = 0;
  int64_t number = 0;
  range_of(field, &least, &most);
  const clm__json_at only = clm__json_item(at, 0);
  CLM_TRY(clm__json_get_int(clm__json_count(at) == 1 ? &only : at, least, most, &number));
  *value = (int)number;
  return CLM_OK;
}

static clm_status read_float(const clm__json_at *at, const clm__field *field, double *value)
{
  double number = 0.0;
  CLM_TRY(clm__json_get_number(at, &number));
  if ((field->least != 0.0 || field->most != 0.0) &&
      !(number >= field->least && number <= field->most))
    return clm__json_fail(at, CLM_BAD_DATA, "%g is not in %g..%g", number, field->least,
                          field->most);
  *value = number;
  return CLM_OK;
}

/* One number for all, or a list of `count`. */
static clm_status read_ints(const clm__json_at *at, const clm__field *field, int count, int *values)
{
  if (clm__json_kind_of(at) != CLM__JSON_LIST) {
    CLM_TRY(read_int(at, field, &values[0]));
    for (int i = 1; i < count; i++) values[i] = values[0];
    return CLM_OK;
  }
  if (clm__json_count(at) != (size_t)count)
    return clm__json_fail(at, CLM_BAD_DATA, "%d numbers are expected here, not %zu", count,
                          clm__json_count(at));
  for (int i = 0; i < count; i++) {
    const clm__json_at item = clm__json_item(at, (size_t)i);
    CLM_TRY(read_int(&item, field, &values[i]));
  }
  return CLM_OK;
}

/* [[top, bottom], [left, right]], [rows, columns] or one number. */
static clm_status read_sides(const clm__json_at *at, const clm__field *field, int sides[4])
{
  const clm__json_at halves[] = {clm__json_item(at, 0), clm__json_item(at, 1)};
  if (clm__json_kind_of(at) != CLM__JSON_LIST) return read_ints(at, field, 4, sides);
  if (clm__json_count(at) != 2)
    return clm__json_fail(at, CLM_BAD_DATA, "2 entries are expected here, not %zu",
                          clm__json_count(at));
  CLM_TRY(read_ints(&halves[0], field, 2, &sides[0]));
  return read_ints(&halves[1], field, 2, &sides[2]);
}

static bool equal_but_case(const char *a, const char *b)
{
  for (; *a != '\0' && tolower((unsigned char)*a) == tolower((unsigned char)*b); a++) b++;
  return *a == '\0' && *b == '\0';
}

static clm_status read_choice(const clm__json_at *at, const clm__field *field, int *value)
{
  const char *text = NULL;
  CLM_TRY(clm__json_get_text(at, &text));
  for (int i = 0; field->choices[i] != NULL; i++) {
    if (!equal_but_case(text, field->choices[i])) continue;
    *value = i;
    return CLM_OK;
  }
  return clm__json_fail(at, CLM_UNSUPPORTED, "\"%.80s\" is not supported", text);
}

/* Puts the way to the value before the message of a function that knows no JSON. */
static clm_status explain(const clm__json_at *at, clm_status status)
{
  if (status == CLM_OK) return CLM_OK;
  char message[CLM_ERROR_MESSAGE_SIZE];
  memcpy(message, clm_error_last()->message, sizeof message);
  return clm__json_fail(at, status, "%s", message);
}

static clm_status read_activation(const clm__json_at *at, clm__activation *activation)
{
  const clm__json_kind kind = clm__json_kind_of(at);
  const char *name = NULL;
  if (kind == CLM__JSON_NULL) {
    *activation = CLM__LINEAR;
    return CLM_OK;
  }
  if (kind == CLM__JSON_OBJECT) {
    clm__json_at config;
    CLM_TRY(clm__keras_get_class(at, &name, &config));
    return clm__json_fail(at, CLM_UNSUPPORTED, "an activation of class %.80s is not supported",
                          name);
  }
  CLM_TRY(clm__json_get_text(at, &name));
  return explain(at, clm__activation_parse(name, activation));
}

static clm_status read_initializer_numbers(const clm__json_at *config,
                                           clm__initializer *initializer)
{
  const char *keys[2] = {NULL, NULL};
  double *numbers[] = {&initializer->a, &initializer->b};
  clm__initializer_keys(initializer->kind, &keys[0], &keys[1]);
  for (int i = 0; i < 2; i++) {
    if (keys[i] == NULL) continue;
    const clm__json_at at = clm__json_find(config, keys[i]);
    if (at.value != NULL) CLM_TRY(clm__json_get_number(&at, numbers[i]));
  }
  const char *known[4] = {"seed"};
  int count = 1;
  for (int i = 0; i < 2; i++)
    if (keys[i] != NULL) known[count++] = keys[i];
  return clm__keras_check_keys(config, known, (const clm__field *const[]){NULL});
}

static clm_status read_initializer(const clm__json_at *at, clm__initializer *initializer)
{
  const char *name = NULL;
  clm__json_at config;
  if (clm__json_kind_of(at) == CLM__JSON_NULL) return CLM_OK;
  CLM_TRY(clm__keras_get_class(at, &name, &config));
  clm__initializer found = {0};
  CLM_TRY(explain(at, clm__initializer_parse(name, &found)));
  CLM_TRY(read_initializer_numbers(&config, &found));
  *initializer = found;
  return CLM_OK;
}

static clm_status read_float_list(const clm__json_at *at, const clm__field *field,
                                  clm__float_list *list)
{
  clm__float_list read = {0};
  if (clm__json_kind_of(at) != CLM__JSON_LIST) {
    CLM_TRY(read_float(at, field, &read.values[0]));
    *list = read;
    return CLM_OK;
  }
  const size_t count = clm__json_count(at);
  if (count < 1 || count > CLM__FLOAT_LIST_MAX)
    return clm__json_fail(at, CLM_UNSUPPORTED, "a list of %zu numbers is not supported", count);
  for (size_t i = 0; i < count; i++) {
    const clm__json_at item = clm__json_item(at, i);
    CLM_TRY(read_float(&item, field, &read.values[i]));
  }
  read.count = (int)count;
  *list = read;
  return CLM_OK;
}

static clm_status check_fixed(const clm__json_at *at, const char *fixed)
{
  clm__json *json = NULL;
  CLM_TRY(clm__json_parse(fixed, strlen(fixed), "a fixed value", &json));
  const clm__json_at wanted = clm__json_root(json);
  const bool equal = clm__json_equal(at, &wanted);
  clm__json_free(json);
  if (equal) return CLM_OK;
  const char *text = "this value";
  const clm__json_at class_name = clm__json_find(at, "class_name");
  const clm__json_at *named = class_name.value != NULL ? &class_name : at;
  if (clm__json_kind_of(named) == CLM__JSON_TEXT) CLM_TRY(clm__json_get_text(named, &text));
  return clm__json_fail(at, CLM_UNSUPPORTED, "%.80s is not supported, only %s", text, fixed);
}

static clm_status read_field(const clm__json_at *at, const clm__field *field, void *member)
{
  const bool is_null = clm__json_kind_of(at) == CLM__JSON_NULL;
  switch (field->kind) {
  case CLM__FIELD_INT:
    return read_int(at, field, member);
  case CLM__FIELD_INT_OR_NULL:
    *(int *)member = -1;
    return is_null ? CLM_OK : read_int(at, field, member);
  case CLM__FIELD_FLOAT:
    return read_float(at, field, member);
  case CLM__FIELD_BOOL:
    return clm__json_get_bool(at, member);
  case CLM__FIELD_PAIR:
    return read_ints(at, field, 2, member);
  case CLM__FIELD_PAIR_OR_NULL:
    return is_null ? CLM_OK : read_ints(at, field, 2, member);
  case CLM__FIELD_SIDES:
    return read_sides(at, field, member);
  case CLM__FIELD_CHOICE:
    return read_choice(at, field, member);
  case CLM__FIELD_ACTIVATION:
    return read_activation(at, member);
  case CLM__FIELD_INITIALIZER:
    return read_initializer(at, member);
  case CLM__FIELD_FLOAT_OR_LIST:
    return read_float_list(at, field, member);
  case CLM__FIELD_FIXED:
    break;
  }
  return check_fixed(at, field->fixed);
}

clm_status clm__keras_read_fields(const clm__json_at *config, const clm__field *fields,
                                  void *attributes)
{
  clm__field_set_defaults(fields, attributes);
  for (; fields != NULL && fields->key != NULL; fields++) {
    const clm__json_at at = clm__json_find(config, fields->key);
    if (at.value == NULL && fields->required)
      return clm__json_fail(&at, CLM_BAD_DATA, "the key is missing");
    if (at.value != NULL) CLM_TRY(read_field(&at, fields, (char *)attributes + fields->offset));
  }
  return CLM_OK;
}
