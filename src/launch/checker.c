#include "launch/checker.h"

#include "base/nearest.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LABEL_LENGTH_MAX 63

static void say(clm__checker *checker, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(clm__checker *checker, const char *format, ...)
{
  char text[400];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  clm__report_add(checker->report, CLM_FINDING_ERROR, clm__str_get(&checker->path), "%s", text);
}

/* Goes back to a shorter path. */
static void shorten(clm__checker *checker, size_t length)
{
  if (checker->path.text == NULL) return;
  checker->path.length = length;
  checker->path.text[length] = '\0';
}

static clm_status add_key(clm__checker *checker, const char *key)
{
  const char *dot = checker->path.length > 0 ? "." : "";
  return clm__str_add(&checker->path, "%s%.60s", dot, key);
}

static clm_status add_index(clm__checker *checker, size_t index)
{
  return clm__str_add(&checker->path, "[%zu]", index);
}

static const char *article_of(const clm__field *field)
{
  switch (field->kind) {
  case CLM__FIELD_INT:
    return "a whole number";
  case CLM__FIELD_BOOL:
    return "true or false";
  case CLM__FIELD_DURATION:
    return "a duration such as \"3600s\"";
  case CLM__FIELD_MESSAGE:
  case CLM__FIELD_LABELS:
    return "an object";
  case CLM__FIELD_MESSAGES:
    return "a list of objects";
  case CLM__FIELD_TEXTS:
    return "a list of texts";
  default:
    return "a text";
  }
}

static void say_kind(clm__checker *checker, const clm__field *field, const clm__json_at *at)
{
  say(checker, "%s is expected here, not %s%s%s", article_of(field), clm__json_kind_text(at),
      field->hint != NULL ? ": " : "", field->hint != NULL ? field->hint : "");
}

bool clm__checker_read_int(const clm__json_at *at, int64_t *value)
{
  const char *text = NULL;
  if (clm__json_kind_of(at) != CLM__JSON_TEXT)
    return clm__json_get_int(at, INT64_MIN, INT64_MAX, value) == CLM_OK;
  if (clm__json_get_text(at, &text) != CLM_OK) return false;
  const size_t sign = text[0] == '-';
  const size_t digits = strspn(text + sign, "0123456789");
  if (digits == 0 || digits > 18 || text[sign + digits] != '\0') return false;
  *value = strtoll(text, NULL, 10);
  return true;
}

bool clm__checker_read_duration(const clm__json_at *at, double *seconds)
{
  const char *text = NULL;
  double value = 0.0;
  if (clm__json_kind_of(at) == CLM__JSON_TEXT) {
    if (clm__json_get_text(at, &text) != CLM_OK || strspn(text, "0123456789.") == 0) return false;
    char *end = NULL;
    value = strtod(text, &end);
    if (strcmp(end, "s") != 0 && *end != '\0') return false;
  } else if (clm__json_get_number(at, &value) != CLM_OK) {
    return false;
  }
  if (!(value >= 0.0 && value < 1e10)) return false;
  *seconds = value;
  return true;
}

static void check_int(clm__checker *checker, const clm__field *field, const clm__json_at *at)
{
  int64_t value = 0;
  if (!clm__checker_read_int(at, &value))
    say_kind(checker, field, at);
  else if (value < field->low || value > field->high)
    say(checker, "%lld is not in %lld..%lld", (long long)value, (long long)field->low,
        (long long)field->high);
}

static void check_word(clm__checker *checker, const clm__field *field, const clm__json_at *at)
{
  const char *text = NULL;
  if (clm__json_get_text(at, &text) != CLM_OK) {
    say_kind(checker, field, at);
    return;
  }
  clm__near near = {.wanted = text};
  for (size_t i = 0; field->words[i] != NULL; i++) {
    if (strcmp(field->words[i], text) == 0) return;
    clm__near_try(&near, field->words[i]);
  }
  const char *meant = clm__near_found(&near);
  if (meant != NULL)
    say(checker, "'%.60s' is not known; did you mean %s?", text, meant);
  else
    say(checker, "'%.60s' is not known; known are %s, %s, ...", text, field->words[0],
        field->words[1]);
}

static void check_text(clm__checker *checker, const clm__field *field, const clm__json_at *at)
{
  const char *text = NULL;
  if (clm__json_get_text(at, &text) != CLM_OK)
    say_kind(checker, field, at);
  else if (text[0] == '\0' && (field->flags & CLM__FIELD_REQUIRED) != 0)
    say(checker, "a value is missing: the text is empty");
}

static clm_status check_texts(clm__checker *checker, const clm__field *field,
                              const clm__json_at *at)
{
  if (clm__json_kind_of(at) != CLM__JSON_LIST) {
    say_kind(checker, field, at);
    return CLM_OK;
  }
  const size_t length = checker->path.length;
  for (size_t i = 0; i < clm__json_count(at); i++) {
    const clm__json_at item = clm__json_item(at, i);
    if (clm__json_kind_of(&item) == CLM__JSON_TEXT) continue;
    CLM_TRY(add_index(checker, i));
    say(checker, "a text is expected here, not %s: put it in quotes", clm__json_kind_text(&item));
    shorten(checker, length);
  }
  return CLM_OK;
}

static bool is_label(const char *text)
{
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_-";
  /* Bytes of UTF-8 are letters of other scripts, which are allowed. */
  for (const char *at = text; *at != '\0'; at++)
    if ((unsigned char)*at < 0x80 && strchr(letters, *at) == NULL) return false;
  return strlen(text) <= LABEL_LENGTH_MAX;
}

static clm_status check_labels(clm__checker *checker, const clm__field *field,
                               const clm__json_at *at)
{
  if (clm__json_kind_of(at) != CLM__JSON_OBJECT) {
    say_kind(checker, field, at);
    return CLM_OK;
  }
  const size_t length = checker->path.length;
  void *iterator = NULL;
  clm__json_at member;
  while (clm__json_next(at, &iterator, &member)) {
    const char *text = NULL;
    CLM_TRY(add_key(checker, member.key));
    if (clm__json_get_text(&member, &text) != CLM_OK)
      say(checker, "a text is expected here, not %s", clm__json_kind_text(&member));
    else if (!is_label(member.key) || !is_label(text))
      say(checker, "keys and values of labels are lower-case letters, digits, _ and -, at most %d",
          LABEL_LENGTH_MAX);
    shorten(checker, length);
  }
  return CLM_OK;
}

clm_status clm__checker_messages(clm__checker *checker, const clm__json_at *at,
                                 const clm__field *field)
{
  if (clm__json_kind_of(at) != CLM__JSON_LIST) {
    say_kind(checker, field, at);
    return CLM_OK;
  }
  const size_t count = clm__json_count(at);
  const size_t length = checker->path.length;
  if (field->high > 0 && count > (size_t)field->high)
    say(checker, "%zu entries, at most %lld are allowed", count, (long long)field->high);
  if (count == 0 && (field->flags & CLM__FIELD_REQUIRED) != 0) say(checker, "the list is empty");
  for (size_t i = 0; i < count; i++) {
    const clm__json_at item = clm__json_item(at, i);
    CLM_TRY(add_index(checker, i));
    if (clm__json_kind_of(&item) == CLM__JSON_LIST)
      say(checker, "a list stands inside the list: take one pair of [ ] away");
    else
      CLM_TRY(clm__checker_message(checker, &item, field->message));
    shorten(checker, length);
  }
  return CLM_OK;
}

static clm_status check_value(clm__checker *checker, const clm__field *field,
                              const clm__json_at *at)
{
  double seconds = 0.0;
  switch (field->kind) {
  case CLM__FIELD_TEXT:
    check_text(checker, field, at);
    return CLM_OK;
  case CLM__FIELD_INT:
    check_int(checker, field, at);
    return CLM_OK;
  case CLM__FIELD_BOOL:
    if (clm__json_kind_of(at) != CLM__JSON_BOOL) say_kind(checker, field, at);
    return CLM_OK;
  case CLM__FIELD_DURATION:
    if (!clm__checker_read_duration(at, &seconds)) say_kind(checker, field, at);
    return CLM_OK;
  case CLM__FIELD_WORD:
    check_word(checker, field, at);
    return CLM_OK;
  case CLM__FIELD_MESSAGE:
    if (clm__json_kind_of(at) == CLM__JSON_OBJECT)
      return clm__checker_message(checker, at, field->message);
    say_kind(checker, field, at);
    return CLM_OK;
  case CLM__FIELD_MESSAGES:
    return clm__checker_messages(checker, at, field);
  case CLM__FIELD_TEXTS:
    return check_texts(checker, field, at);
  case CLM__FIELD_LABELS:
    return check_labels(checker, field, at);
  case CLM__FIELD_ANY:
    break;
  }
  return CLM_OK;
}

static void say_unknown(clm__checker *checker, const clm__message *message, const char *snake)
{
  clm__near near = {.wanted = snake};
  for (size_t i = 0; i < message->count; i++) clm__near_try(&near, message->fields[i].name);
  const char *meant = clm__near_found(&near);
  if (meant != NULL)
    say(checker, "%s has no such key; did you mean %s?", message->name, meant);
  else
    say(checker, "%s has no such key", message->name);
}

static clm_status note_for_vertex(clm__checker *checker, const char *name)
{
  if (strstr(clm__str_get(&checker->for_vertex), name) != NULL) return CLM_OK;
  return clm__str_add(&checker->for_vertex, "%s%s", checker->for_vertex.length > 0 ? ", " : "",
                      name);
}

/* The two spellings that everything behind the checker looks for; other mixtures are mistakes. */
static bool is_spelling(const char *key, const clm__field *field)
{
  char camel[CLM__FIELD_NAME_SIZE];
  clm__field_to_camel(field->name, camel);
  return strcmp(key, field->name) == 0 || strcmp(key, camel) == 0;
}

/* Checks one key of an object; `seen` has a bit a field. */
static clm_status check_member(clm__checker *checker, const clm__json_at *member,
                               const clm__message *message, uint64_t *seen)
{
  char snake[CLM__FIELD_NAME_SIZE];
  clm__field_to_snake(member->key, snake);
  const clm__field *field = clm__field_find(message, snake);
  if (field == NULL || !is_spelling(member->key, field)) {
    say_unknown(checker, message, snake);
    return CLM_OK;
  }
  if (clm__json_kind_of(member) == CLM__JSON_NULL) return CLM_OK;
  const uint64_t bit = UINT64_C(1) << (field - message->fields);
  if ((*seen & bit) != 0) say(checker, "given twice, once in each spelling");
  *seen |= bit;
  if ((field->flags & CLM__FIELD_VERTEX) != 0) CLM_TRY(note_for_vertex(checker, field->name));
  return check_value(checker, field, member);
}

clm_status clm__checker_message(clm__checker *checker, const clm__json_at *at,
                                const clm__message *message)
{
  if (clm__json_kind_of(at) != CLM__JSON_OBJECT) {
    say(checker, "an object is expected here, not %s", clm__json_kind_text(at));
    return CLM_OK;
  }
  const size_t length = checker->path.length;
  uint64_t seen = 0;
  void *iterator = NULL;
  clm__json_at member;
  while (clm__json_next(at, &iterator, &member)) {
    CLM_TRY(add_key(checker, member.key));
    CLM_TRY(check_member(checker, &member, message, &seen));
    shorten(checker, length);
  }
  for (size_t i = 0; i < message->count; i++) {
    const clm__field *field = &message->fields[i];
    if ((field->flags & CLM__FIELD_REQUIRED) == 0 || (seen >> i & 1) != 0) continue;
    CLM_TRY(add_key(checker, field->name));
    say(checker, "missing");
    shorten(checker, length);
  }
  return CLM_OK;
}

void clm__checker_fini(clm__checker *checker)
{
  clm__str_fini(&checker->path);
  clm__str_fini(&checker->for_vertex);
}

clm__json_at clm__checker_find(const clm__json_at *object, const char *snake)
{
  clm__json_at found = clm__json_find(object, snake);
  if (found.value == NULL) {
    char camel[CLM__FIELD_NAME_SIZE];
    clm__field_to_camel(snake, camel);
    const clm__json_at other = clm__json_find(object, camel);
    if (other.value != NULL) found = other;
  }
  if (clm__json_kind_of(&found) == CLM__JSON_NULL) found.value = NULL;
  return found;
}
