#include "base/nearest.h"

#include "base/num.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define LENGTH_MAX 64

static bool is_same(char a, char b)
{
  return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Letters to insert, remove or change to make one name of the other; both fit LENGTH_MAX. */
static size_t measure(const char *a, const char *b)
{
  const size_t b_length = strlen(b);
  size_t row[LENGTH_MAX + 1];
  for (size_t j = 0; j <= b_length; j++) row[j] = j;
  for (size_t i = 1; a[i - 1] != '\0'; i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b_length; j++) {
      const size_t changed = diagonal + !is_same(a[i - 1], b[j - 1]);
      diagonal = row[j];
      row[j] = clm__min_size(clm__min_size(row[j], row[j - 1]) + 1, changed);
    }
  }
  return row[b_length];
}

void clm__near_try(clm__near *near, const char *name)
{
  if (strlen(near->wanted) > LENGTH_MAX || strlen(name) > LENGTH_MAX) return;
  const size_t distance = measure(near->wanted, name);
  if (near->best != NULL && distance >= near->distance) return;
  near->best = name;
  near->distance = distance;
}

const char *clm__near_found(const clm__near *near)
{
  const bool is_near = near->best != NULL && near->distance <= 1 + strlen(near->wanted) / 3;
  return is_near ? near->best : NULL;
}
