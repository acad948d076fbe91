/* "did you mean": the nearest of several words. */
#ifndef CLM_CLI_NEAREST_H
#define CLM_CLI_NEAREST_H

#include <stddef.h>

/* A search for the word nearest to one that was mistyped. */
typedef struct clm__nearest {
  const char *wanted;
  size_t length; /* of wanted */
  const char *best;
  size_t best_distance;
} clm__nearest;

clm__nearest clm__nearest_begin(const char *wanted, size_t length);
void clm__nearest_try(clm__nearest *nearest, const char *word);

/* The nearest word, NULL where none is near enough to be meant. */
const char *clm__nearest_found(const clm__nearest *nearest);

#endif
