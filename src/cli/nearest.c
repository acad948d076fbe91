#include "cli/nearest.h"

#include <stdint.h>
#include <string.h>

#define WORD_LENGTH_MAX 40

clm__nearest clm__nearest_begin(const char *wanted, size_t length)
{
  return (clm__nearest){.wanted = wanted, .length = length, .best_distance = SIZE_MAX};
}

static size_t smallest(size_t a, size_t b, size_t c)
{
  const size_t ab = a < b ? a : b;
  return ab < c ? ab : c;
}

static char plain(char c) { return c == '_' ? '-' : c; }

/* Letters to insert, remove or change to make one word of the other. */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
  size_t row[WORD_LENGTH_MAX + 1];
  for (size_t j = 0; j <= b_length; j++) row[j] = j;
  for (size_t i = 1; i <= a_length; i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b_length; j++) {
      const size_t changed = diagonal + (plain(a[i - 1]) != plain(b[j - 1]));
      diagonal = row[j];
      row[j] = smallest(row[j] + 1, row[j - 1] + 1, changed);
    }
  }
  return row[b_length];
}

void clm__nearest_try(clm__nearest *nearest, const char *word)
{
  const size_t length = strlen(word);
  if (length > WORD_LENGTH_MAX || nearest->length > WORD_LENGTH_MAX) return;
  size_t away = distance(nearest->wanted, nearest->length, word, length);
  /* A beginning of the word is meant more often than a word of the same length. */
  const size_t shorter = nearest->length < length ? nearest->length : length;
  if (shorter >= 3 && memcmp(nearest->wanted, word, shorter) == 0) away = 1;
  if (away >= nearest->best_distance) return;
  nearest->best = word;
  nearest->best_distance = away;
}

const char *clm__nearest_found(const clm__nearest *nearest)
{
  return nearest->best_distance <= 1 + nearest->length / 4 ? nearest->best : NULL;
}
