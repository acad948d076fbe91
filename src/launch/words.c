#include "launch/words.h"

#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static clm_status make_room(clm__words *words)
{
  if (words->count + 2 <= words->capacity) return CLM_OK;
  const size_t capacity = words->capacity == 0 ? 16 : words->capacity * 2;
  CLM_TRY(clm__mem_resize(capacity, sizeof *words->items, &words->items));
  words->capacity = capacity;
  return CLM_OK;
}

static void put(clm__words *words, char *word)
{
  words->items[words->count++] = word;
  words->items[words->count] = NULL;
}

clm_status clm__words_add(clm__words *words, const char *word)
{
  CLM_TRY(make_room(words));
  char *copy = NULL;
  CLM_TRY(clm__mem_copy_text(word, &copy));
  put(words, copy);
  return CLM_OK;
}

clm_status clm__words_addf(clm__words *words, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  CLM_ASSERT(length >= 0);
  CLM_TRY(make_room(words));
  char *word = NULL;
  CLM_TRY(clm__mem_alloc((size_t)length + 1, 1, &word));
  va_start(arguments, format);
  (void)vsnprintf(word, (size_t)length + 1, format, arguments);
  va_end(arguments);
  put(words, word);
  return CLM_OK;
}

clm_status clm__words_add_list(clm__words *words, const char *const *more, size_t count)
{
  for (size_t i = 0; i < count; i++) CLM_TRY(clm__words_add(words, more[i]));
  return CLM_OK;
}

clm_status clm__words_add_str(clm__words *words, clm__str *str)
{
  clm_status status = make_room(words);
  char *word = NULL;
  if (status == CLM_OK) status = clm__str_take(str, &word);
  if (status == CLM_OK) put(words, word);
  clm__str_fini(str);
  return status;
}

/* The place of NAME=... in a list, its count where there is none. */
static size_t find_variable(const clm__words *words, const char *name)
{
  const size_t length = strlen(name);
  size_t i = 0;
  while (i < words->count &&
         (strncmp(words->items[i], name, length) != 0 || words->items[i][length] != '='))
    i++;
  return i;
}

clm_status clm__words_set_variable(clm__words *words, const char *name, const char *value)
{
  const size_t at = find_variable(words, name);
  CLM_TRY(clm__words_addf(words, "%s=%s", name, value));
  if (at + 1 == words->count) return CLM_OK;
  clm__mem_free(words->items[at]);
  words->items[at] = words->items[--words->count];
  words->items[words->count] = NULL;
  return CLM_OK;
}

const char *clm__words_get_variable(const clm__words *words, const char *name)
{
  const size_t at = find_variable(words, name);
  return at < words->count ? words->items[at] + strlen(name) + 1 : NULL;
}

bool clm__words_have(const clm__words *words, const char *word)
{
  for (size_t i = 0; i < words->count; i++)
    if (strcmp(words->items[i], word) == 0) return true;
  return false;
}

bool clm__words_equal(const clm__words *a, const clm__words *b)
{
  if (a->count != b->count) return false;
  for (size_t i = 0; i < a->count; i++)
    if (strcmp(a->items[i], b->items[i]) != 0) return false;
  return true;
}

void clm__words_fini(clm__words *words)
{
  for (size_t i = 0; i < words->count; i++) clm__mem_free(words->items[i]);
  clm__mem_free(words->items);
  *words = (clm__words){0};
}
