#include "cli/text.h"

#include "clematis/status.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Told here and not through cli/say.h, which needs memory itself. */
_Noreturn void clm__text_end_program(void)
{
  (void)fputs("clematis: the host has not enough memory\n", stderr);
  exit(clm_status_exit_code(CLM_NO_MEMORY));
}

static void reserve(clm__text *text, size_t count)
{
  if (text->capacity - text->length > count) return;
  if (count > SIZE_MAX / 4 || text->length > SIZE_MAX / 4) clm__text_end_program();
  const size_t capacity = 2 * (text->length + count) + 64;
  char *bytes = realloc(text->bytes, capacity);
  if (bytes == NULL) clm__text_end_program();
  text->bytes = bytes;
  text->capacity = capacity;
}

void clm__text_add_list(clm__text *text, const char *format, va_list arguments)
{
  va_list again;
  va_copy(again, arguments);
  const int count = vsnprintf(NULL, 0, format, again);
  va_end(again);
  if (count > 0) {
    reserve(text, (size_t)count);
    (void)vsnprintf(text->bytes + text->length, (size_t)count + 1, format, arguments);
    text->length += (size_t)count;
  }
}

void clm__text_add(clm__text *text, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  clm__text_add_list(text, format, arguments);
  va_end(arguments);
}

const char *clm__text_get(const clm__text *text) { return text->bytes != NULL ? text->bytes : ""; }

void clm__text_fini(clm__text *text)
{
  free(text->bytes);
  *text = (clm__text){0};
}

void *clm__memory_take(size_t count, size_t size_bytes)
{
  void *block = calloc(count > 0 ? count : 1, size_bytes);
  if (block == NULL) clm__text_end_program();
  return block;
}

void clm__memory_free(void *block) { free(block); }
