#include "base/str.h"

#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static clm_status reserve(clm__str *str, size_t extra)
{
  const size_t needed = str->length + extra + 1;
  if (needed <= str->capacity) return CLM_OK;
  const size_t doubled = str->capacity * 2;
  const size_t capacity = doubled > needed ? doubled : needed + 63;
  CLM_TRY(clm__mem_resize(capacity, 1, &str->text));
  str->capacity = capacity;
  return CLM_OK;
}

clm_status clm__str_add(clm__str *str, const char *format, ...)
{
  va_list arguments;
  va_list again;
  va_start(arguments, format);
  va_copy(again, arguments);
  const int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  const clm_status status = length >= 0 ? reserve(str, (size_t)length) : CLM_INTERNAL;
  if (status == CLM_OK) {
    (void)vsnprintf(str->text + str->length, (size_t)length + 1, format, again);
    str->length += (size_t)length;
  }
  va_end(again);
  return status;
}

clm_status clm__str_add_bytes(clm__str *str, const char *bytes, size_t count)
{
  CLM_TRY(reserve(str, count));
  memcpy(str->text + str->length, bytes, count);
  str->length += count;
  str->text[str->length] = '\0';
  return CLM_OK;
}

const char *clm__str_get(const clm__str *str) { return str->text != NULL ? str->text : ""; }

clm_status clm__str_take(clm__str *str, char **result)
{
  if (str->text == NULL) CLM_TRY(clm__str_add(str, "%s", ""));
  *result = str->text;
  *str = (clm__str){0};
  return CLM_OK;
}

void clm__str_fini(clm__str *str)
{
  clm__mem_free(str->text);
  *str = (clm__str){0};
}
