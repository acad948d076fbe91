#include "op/attributes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define NUMBERS_MAX 4

/* Reads numbers separated by commas; returns how many. */
static int read_numbers(const char *text, double numbers[NUMBERS_MAX])
{
  int count = 0;
  while (count < NUMBERS_MAX) {
    char *end = NULL;
    numbers[count] = strtod(text, &end);
    if (end == text) fail_msg("\"%s\" is no number", text);
    count++;
    if (*end != ',') break;
    text = end + 1;
  }
  return count;
}

/* One number stands for all. */
static void read_ints(const char *text, int *values, int count)
{
  double numbers[NUMBERS_MAX];
  const int given = read_numbers(text, numbers);
  if (given != 1 && given != count) fail_msg("\"%s\" are not %d numbers", text, count);
  for (int i = 0; i < count; i++) values[i] = (int)numbers[given == 1 ? 0 : i];
}

static int read_choice(const char *text, const char *const *choices)
{
  for (int i = 0; choices[i] != NULL; i++)
    if (strcmp(choices[i], text) == 0) return i;
  fail_msg("\"%s\" is none of the choices", text);
  return 0;
}

static void read_list(const char *text, clm__float_list *list)
{
  list->count = read_numbers(text, list->values);
  if (list->count == 1) list->count = 0;
}

static void read_value(const clm__field *field, const char *text, void *member)
{
  clm_status status = CLM_OK;
  switch (field->kind) {
  case CLM__FIELD_INT:
  case CLM__FIELD_INT_OR_NULL:
    read_ints(text, member, 1);
    break;
  case CLM__FIELD_PAIR:
  case CLM__FIELD_PAIR_OR_NULL:
    read_ints(text, member, 2);
    break;
  case CLM__FIELD_SIDES:
    read_ints(text, member, 4);
    break;
  case CLM__FIELD_FLOAT:
    *(double *)member = strtod(text, NULL);
    break;
  case CLM__FIELD_BOOL:
    *(bool *)member = strcmp(text, "true") == 0;
    break;
  case CLM__FIELD_CHOICE:
    *(int *)member = read_choice(text, field->choices);
    break;
  case CLM__FIELD_ACTIVATION:
    status = clm__activation_parse(text, member);
    break;
  case CLM__FIELD_INITIALIZER:
    status = clm__initializer_parse(text, member);
    break;
  case CLM__FIELD_FLOAT_OR_LIST:
    read_list(text, member);
    break;
  case CLM__FIELD_FIXED:
    fail_msg("%s cannot be set", field->key);
    break;
  }
  if (status != CLM_OK) fail_msg("%s", clm_error_last()->message);
}

static void read_word(const clm__field *fields, const char *word, void *attributes)
{
  const size_t length = strcspn(word, "=");
  for (const clm__field *field = fields; field != NULL && field->key != NULL; field++) {
    if (strlen(field->key) != length || strncmp(field->key, word, length) != 0) continue;
    read_value(field, word + length + 1, (char *)attributes + field->offset);
    return;
  }
  fail_msg("there is no field \"%s\"", word);
}

void attributes_read(const clm__field *fields, const char *text, void *attributes)
{
  clm__field_set_defaults(fields, attributes);
  while (text != NULL && *text != '\0') {
    char word[128];
    const size_t length = strcspn(text, " ");
    if (length >= sizeof word) fail_msg("\"%s\" is too long", text);
    (void)snprintf(word, sizeof word, "%.*s", (int)length, text);
    if (length > 0) read_word(fields, word, attributes);
    text += length;
    text += strspn(text, " ");
  }
}
