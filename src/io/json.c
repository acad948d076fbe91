#include "io/json.h"

#include "base/mem.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

/* A clm__json is a json_t behind another name. */
static const json_t *raw(const clm__json_at *at) { return (const json_t *)(const void *)at->value; }

static clm__json_at place(const json_t *value, const clm__json_at *parent, const char *key,
                          size_t index)
{
  return (clm__json_at){.value = (const clm__json *)(const void *)value,
                        .parent = parent,
                        .key = key,
                        .index = index};
}

clm_status clm__json_parse(const char *text, size_t size_bytes, const char *what, clm__json **json)
{
  static const char mark[] = "\xef\xbb\xbf";
  if (size_bytes >= 3 && memcmp(text, mark, 3) == 0) {
    text += 3;
    size_bytes -= 3;
  }
  json_error_t error;
  json_t *value = json_loadb(text, size_bytes, JSON_DECODE_ANY, &error);
  CLM_REQUIRE(value != NULL || json_error_code(&error) != json_error_out_of_memory, CLM_NO_MEMORY,
              "%s: out of memory", what);
  CLM_REQUIRE(value != NULL, CLM_BAD_DATA, "%s is not valid JSON: line %d, column %d: %s", what,
              error.line, error.column, error.text);
  *json = (clm__json *)(void *)value;
  return CLM_OK;
}

void clm__json_free(clm__json *json) { json_decref((json_t *)(void *)json); }

clm__json_at clm__json_root(const clm__json *json) { return (clm__json_at){.value = json}; }

clm__json_at clm__json_find(const clm__json_at *object, const char *key)
{
  /* Jansson's iterators can change what they go over, but nothing is changed here. */
  json_t *values = (json_t *)(uintptr_t)raw(object);
  void *found = json_object_iter_at(values, key);
  if (found == NULL) return place(NULL, object, key, 0);
  return place(json_object_iter_value(found), object, json_object_iter_key(found), 0);
}

clm__json_at clm__json_item(const clm__json_at *list, size_t index)
{
  return place(json_array_get(raw(list), index), list, NULL, index);
}

size_t clm__json_count(const clm__json_at *at)
{
  return json_is_object(raw(at)) ? json_object_size(raw(at)) : json_array_size(raw(at));
}

bool clm__json_next(const clm__json_at *object, void **iterator, clm__json_at *member)
{
  if (clm__json_kind_of(object) != CLM__JSON_OBJECT) return false;
  json_t *value = (json_t *)(uintptr_t)raw(object);
  *iterator = *iterator == NULL ? json_object_iter(value) : json_object_iter_next(value, *iterator);
  if (*iterator == NULL) return false;
  *member = place(json_object_iter_value(*iterator), object, json_object_iter_key(*iterator), 0);
  return true;
}

clm__json_kind clm__json_kind_of(const clm__json_at *at)
{
  if (at->value == NULL) return CLM__JSON_MISSING;
  switch (json_typeof(raw(at))) {
  case JSON_OBJECT:
    return CLM__JSON_OBJECT;
  case JSON_ARRAY:
    return CLM__JSON_LIST;
  case JSON_STRING:
    return CLM__JSON_TEXT;
  case JSON_INTEGER:
    return CLM__JSON_INT;
  case JSON_REAL:
    return CLM__JSON_REAL;
  case JSON_TRUE:
  case JSON_FALSE:
    return CLM__JSON_BOOL;
  case JSON_NULL:
    break;
  }
  return CLM__JSON_NULL;
}

static const char *const kind_texts[] = {"missing",  "null",   "true or false", "a whole number",
                                         "a number", "a text", "a list",        "an object"};

const char *clm__json_kind_text(const clm__json_at *at)
{
  return kind_texts[clm__json_kind_of(at)];
}

bool clm__json_is_text(const clm__json_at *at, const char *text)
{
  return json_is_string(raw(at)) && strcmp(json_string_value(raw(at)), text) == 0;
}

static bool are_equal(const json_t *a, const json_t *b)
{
  if (json_is_number(a) && json_is_number(b)) return json_number_value(a) == json_number_value(b);
  if (!json_is_array(a) || !json_is_array(b)) return json_equal(a, b) != 0;
  if (json_array_size(a) != json_array_size(b)) return false;
  for (size_t i = 0; i < json_array_size(a); i++)
    if (!are_equal(json_array_get(a, i), json_array_get(b, i))) return false;
  return true;
}

bool clm__json_equal(const clm__json_at *a, const clm__json_at *b)
{
  if (a->value == NULL || b->value == NULL) return a->value == b->value;
  return are_equal(raw(a), raw(b));
}

#define PATH_STEPS_MAX 32

static clm_status add_path(clm__str *path, const clm__json_at *at)
{
  const clm__json_at *steps[PATH_STEPS_MAX];
  int count = 0;
  for (; at->parent != NULL && count < PATH_STEPS_MAX; at = at->parent) steps[count++] = at;
  while (count-- > 0) {
    const clm__json_at *step = steps[count];
    if (step->key == NULL)
      CLM_TRY(clm__str_add(path, "[%zu]", step->index));
    else
      CLM_TRY(clm__str_add(path, "%s%.100s", path->length > 0 ? "." : "", step->key));
  }
  return CLM_OK;
}

clm_status clm__json_fail(const clm__json_at *at, clm_status status, const char *format, ...)
{
  char words[512];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(words, sizeof words, format, arguments);
  va_end(arguments);
  clm__str path = {0};
  clm_status result = add_path(&path, at);
  if (result == CLM_OK)
    result = clm__error_fail(status, __FILE__, __LINE__, __func__, "%s%s%s", clm__str_get(&path),
                             path.length > 0 ? ": " : "", words);
  clm__str_fini(&path);
  return result;
}

clm_status clm__json_require(const clm__json_at *at, clm__json_kind kind)
{
  if (clm__json_kind_of(at) == kind) return CLM_OK;
  return clm__json_fail(at, CLM_BAD_DATA, "%s is expected here, not %s", kind_texts[kind],
                        at->value == NULL ? "nothing" : clm__json_kind_text(at));
}

clm_status clm__json_get_text(const clm__json_at *at, const char **text)
{
  CLM_TRY(clm__json_require(at, CLM__JSON_TEXT));
  *text = json_string_value(raw(at));
  return CLM_OK;
}

clm_status clm__json_get_bool(const clm__json_at *at, bool *value)
{
  CLM_TRY(clm__json_require(at, CLM__JSON_BOOL));
  *value = json_is_true(raw(at));
  return CLM_OK;
}

clm_status clm__json_get_int(const clm__json_at *at, int64_t least, int64_t most, int64_t *value)
{
  int64_t number = 0;
  if (clm__json_kind_of(at) == CLM__JSON_REAL) {
    const double real = json_real_value(raw(at));
    if (!(fabs(real) < 9e15) || real != floor(real))
      return clm__json_fail(at, CLM_BAD_DATA, "a whole number is expected here, not %g", real);
    number = (int64_t)real;
  } else {
    CLM_TRY(clm__json_require(at, CLM__JSON_INT));
    number = json_integer_value(raw(at));
  }
  if (number < least || number > most)
    return clm__json_fail(at, CLM_BAD_DATA, "%lld is not in %lld..%lld", (long long)number,
                          (long long)least, (long long)most);
  *value = number;
  return CLM_OK;
}

clm_status clm__json_get_number(const clm__json_at *at, double *value)
{
  if (!json_is_number(raw(at))) return clm__json_require(at, CLM__JSON_REAL);
  *value = json_number_value(raw(at));
  return CLM_OK;
}

clm_status clm__json_dump(const clm__json_at *at, char **text)
{
  char *dumped = json_dumps(raw(at), JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(17));
  CLM_REQUIRE(dumped != NULL, CLM_NO_MEMORY, "out of memory for the text of a JSON value");
  const clm_status status = clm__mem_copy_text(dumped, text);
  json_free_t release = NULL;
  json_get_alloc_funcs(NULL, &release);
  release(dumped);
  return status;
}
