/* From the text of an option to its field, and back. */
#include "cli/opts.h"
#include "cli/say.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *field_of(const clm__option *option, clm__cli_config *config)
{
  return (char *)config + option->offset;
}

static const void *const_field_of(const clm__option *option, const clm__cli_config *config)
{
  return (const char *)config + option->offset;
}

bool clm__option_is_flag(const clm__option *option)
{
  return option->kind == CLM__FLAG || option->kind == CLM__INVERSE;
}

void clm__option_set_flag(const clm__option *option, bool on, clm__cli_config *config)
{
  const int value = option->kind == CLM__INVERSE ? !on : on;
  memcpy(field_of(option, config), &value, sizeof value);
}

static clm_status fail_value(const clm__option *option, const char *where, const char *text)
{
  const char *kind = option->kind == CLM__DOUBLE ? "a number" : "a whole number";
  return clm__say_error(CLM_USAGE, "%s %s: give %s from %.10g to %.10g", where, text, kind,
                        option->low, option->high);
}

static bool is_in_range(const clm__option *option, double value)
{
  return value >= option->low && value <= option->high;
}

/* A whole number, in decimal digits alone: strtoull takes spaces and signs as well. */
static bool read_whole(const char *text, uint64_t *value, const char **end)
{
  if (text[0] < '0' || text[0] > '9') return false;
  char *stop = NULL;
  errno = 0;
  const unsigned long long number = strtoull(text, &stop, 10);
  if (errno != 0) return false;
  *value = number;
  *end = stop;
  return true;
}

static clm_status set_whole(const clm__option *option, const char *where, const char *text,
                            clm__cli_config *config)
{
  uint64_t value = 0;
  const char *end = NULL;
  if (!read_whole(text, &value, &end) || *end != '\0' || !is_in_range(option, (double)value))
    return fail_value(option, where, text);
  if (option->kind == CLM__INT) {
    const int number = (int)value;
    memcpy(field_of(option, config), &number, sizeof number);
  } else if (option->kind == CLM__U32) {
    const uint32_t number = (uint32_t)value;
    memcpy(field_of(option, config), &number, sizeof number);
  } else {
    memcpy(field_of(option, config), &value, sizeof value);
  }
  return CLM_OK;
}

static clm_status set_double(const clm__option *option, const char *where, const char *text,
                             clm__cli_config *config)
{
  char *end = NULL;
  const double value = strtod(text, &end);
  if (end == text || *end != '\0' || !is_in_range(option, value))
    return fail_value(option, where, text);
  memcpy(field_of(option, config), &value, sizeof value);
  return CLM_OK;
}

/* 10, 10K, 10M, 10G, and with a B behind. */
static clm_status set_bytes(const clm__option *option, const char *where, const char *text,
                            clm__cli_config *config)
{
  static const char units[] = "KMGT";
  uint64_t value = 0;
  const char *end = NULL;
  if (!read_whole(text, &value, &end))
    return clm__say_error(CLM_USAGE, "%s %s: give a number of bytes, as 512M or 4G", where, text);
  const char *unit = *end != '\0' ? strchr(units, *end) : NULL;
  const int shift = unit != NULL ? 10 * (int)(unit - units + 1) : 0;
  end += unit != NULL;
  if (*end == 'B') end++;
  if (*end != '\0' || !is_in_range(option, ldexp((double)value, shift)))
    return clm__say_error(CLM_USAGE, "%s %s: give a number of bytes, as 512M or 4G", where, text);
  value <<= shift;
  memcpy(field_of(option, config), &value, sizeof value);
  return CLM_OK;
}

/* "180x180" or "180": height and width. */
static clm_status set_size(const clm__option *option, const char *where, const char *text,
                           clm__cli_config *config)
{
  uint64_t size[2] = {0};
  const char *end = NULL;
  bool good = read_whole(text, &size[0], &end);
  size[1] = size[0];
  if (good && *end == 'x') good = read_whole(end + 1, &size[1], &end);
  for (int i = 0; good && i < 2; i++) good = is_in_range(option, (double)size[i]);
  if (!good || *end != '\0')
    return clm__say_error(CLM_USAGE, "%s %s: give HEIGHTxWIDTH, as 180x180, each from %g to %g",
                          where, text, option->low, option->high);
  const int pair[2] = {(int)size[0], (int)size[1]};
  memcpy(field_of(option, config), pair, sizeof pair);
  return CLM_OK;
}

/* The position of a word in "one|two|three", -1 where it is not in it. */
static int word_index(const char *words, const char *word)
{
  const size_t length = strlen(word);
  for (int index = 0;; index++) {
    const size_t here = strcspn(words, "|");
    if (here == length && memcmp(words, word, length) == 0) return index;
    if (words[here] == '\0') return -1;
    words += here + 1;
  }
}

static clm_status set_word(const clm__option *option, const char *where, const char *text,
                           clm__cli_config *config)
{
  const int index = word_index(option->value, text);
  if (index < 0)
    return clm__say_error(CLM_USAGE, "%s %s: give one of %s", where, text, option->value);
  if (option->kind == CLM__CHOICE)
    memcpy(field_of(option, config), &index, sizeof index);
  else
    memcpy(field_of(option, config), &text, sizeof text);
  return CLM_OK;
}

static clm_status set_flag(const clm__option *option, const char *where, const char *text,
                           clm__cli_config *config)
{
  const int index = word_index("false|true|0|1", text);
  if (index < 0) return clm__say_error(CLM_USAGE, "%s %s: give true or false", where, text);
  clm__option_set_flag(option, (index & 1) != 0, config);
  return CLM_OK;
}

static clm_status add_word(const clm__option *option, const char *where, const char *text,
                           clm__cli_config *config)
{
  clm__word_list *list = field_of(option, config);
  if (list->count == CLM__WORD_LIST_MAX)
    return clm__say_error(CLM_USAGE, "%s is given more than %d times", where, CLM__WORD_LIST_MAX);
  list->items[list->count++] = text;
  return CLM_OK;
}

clm_status clm__option_set(const clm__option *option, const char *where, const char *text,
                           clm__cli_config *config)
{
  switch (option->kind) {
  case CLM__FLAG:
  case CLM__INVERSE:
    return set_flag(option, where, text, config);
  case CLM__INT:
  case CLM__U32:
  case CLM__U64:
    return set_whole(option, where, text, config);
  case CLM__BYTES:
    return set_bytes(option, where, text, config);
  case CLM__DOUBLE:
    return set_double(option, where, text, config);
  case CLM__CHOICE:
  case CLM__WORD:
    return set_word(option, where, text, config);
  case CLM__SIZE:
    return set_size(option, where, text, config);
  case CLM__LIST:
    return add_word(option, where, text, config);
  case CLM__TEXT:
    break;
  }
  if (text[0] == '\0') return clm__say_error(CLM_USAGE, "%s: the value is empty", where);
  memcpy(field_of(option, config), &text, sizeof text);
  return CLM_OK;
}

/* The shortest text that reads as the same number. */
static void add_double(clm__text *text, double value)
{
  char digits[40];
  for (int precision = 6; precision <= 17; precision++) {
    (void)snprintf(digits, sizeof digits, "%.*g", precision, value);
    if (strtod(digits, NULL) == value) break;
  }
  clm__text_add(text, "%s", digits);
}

static bool format_int(const clm__option *option, int value, clm__text *text)
{
  const char *words = option->value;
  switch (option->kind) {
  case CLM__FLAG:
  case CLM__INVERSE:
    if (value < 0) return false;
    clm__text_add(text, "%s", (option->kind == CLM__INVERSE) == (value != 0) ? "false" : "true");
    return true;
  case CLM__CHOICE:
    while (value-- > 0) words += strcspn(words, "|") + 1;
    clm__text_add(text, "%.*s", (int)strcspn(words, "|"), words);
    return true;
  default:
    if (value == 0 && option->unset != NULL) return false;
    clm__text_add(text, "%d", value);
    return true;
  }
}

static bool format_u64(const clm__option *option, uint64_t value, clm__text *text)
{
  if (value == 0 && option->unset != NULL) return false;
  clm__text_add(text, "%" PRIu64, value);
  return true;
}

bool clm__option_format(const clm__option *option, const clm__cli_config *config, clm__text *text)
{
  const void *field = const_field_of(option, config);
  switch (option->kind) {
  case CLM__U32:
    return format_u64(option, *(const uint32_t *)field, text);
  case CLM__U64:
  case CLM__BYTES:
    return format_u64(option, *(const uint64_t *)field, text);
  case CLM__DOUBLE:
    if (isnan(*(const double *)field)) return false;
    add_double(text, *(const double *)field);
    return true;
  case CLM__WORD:
  case CLM__TEXT:
    if (*(const char *const *)field == NULL) return false;
    clm__text_add(text, "%s", *(const char *const *)field);
    return true;
  case CLM__LIST:
    return false;
  case CLM__SIZE:
    clm__text_add(text, "%dx%d", ((const int *)field)[0], ((const int *)field)[1]);
    return true;
  default:
    return format_int(option, *(const int *)field, text);
  }
}
