#include "base/testswitch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

uint64_t clm__testswitch_number(const char *name, uint64_t otherwise)
{
  const char *text = getenv(name);
  if (text == NULL || *text == '\0') return otherwise;
  char *end = NULL;
  errno = 0;
  const unsigned long long value = strtoull(text, &end, 10);
  return errno == 0 && *end == '\0' ? value : otherwise;
}

bool clm__testswitch_is(const char *name, const char *value)
{
  const char *text = getenv(name);
  return text != NULL && strcmp(text, value) == 0;
}
