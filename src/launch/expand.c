#include "launch/expand.h"

#include <string.h>

#define NAME_SIZE 128

/* The length of "$(NAME)" at the text's beginning, its name copied; 0 where there is none. */
static size_t match(const char *text, char name[NAME_SIZE])
{
  if (text[0] != '$' || text[1] != '(') return 0;
  const size_t length = strcspn(text + 2, "()$");
  if (text[2 + length] != ')' || length == 0 || length >= NAME_SIZE) return 0;
  memcpy(name, text + 2, length);
  name[length] = '\0';
  return length + 3;
}

clm_status clm__expand(const char *text, const clm__words *env, clm__str *result)
{
  char name[NAME_SIZE];
  CLM_TRY(clm__str_add(result, "%s", ""));
  while (*text != '\0') {
    const size_t plain = strcspn(text, "$");
    CLM_TRY(clm__str_add_bytes(result, text, plain));
    text += plain;
    if (*text == '\0') break;
    const bool is_doubled = text[1] == '$';
    const size_t length = match(text + is_doubled, name);
    const char *value = is_doubled || length == 0 ? NULL : clm__words_get_variable(env, name);
    if (value != NULL)
      CLM_TRY(clm__str_add(result, "%s", value));
    else
      CLM_TRY(clm__str_add_bytes(result, text + is_doubled, length > 0 ? length : 1));
    text += is_doubled + (length > 0 ? length : 1);
  }
  return CLM_OK;
}

clm_status clm__expand_bucket(const char *uri, clm__str *result)
{
  static const char scheme[] = "gs://";
  const bool is_bucket = strncmp(uri, scheme, strlen(scheme)) == 0;
  const char *rest = is_bucket ? uri + strlen(scheme) : uri;
  size_t length = strlen(rest);
  while (length > 1 && rest[length - 1] == '/') length--;
  CLM_TRY(clm__str_add(result, "%s", is_bucket ? "/gcs/" : ""));
  return clm__str_add_bytes(result, rest, length);
}
