#include "dev/source.h"

#include <string.h>

const char *clm__source_find(const char *name)
{
  for (const clm__source *source = clm__sources; source->name != NULL; source++)
    if (strcmp(source->name, name) == 0) return source->text;
  return NULL;
}
