/* "did you mean": the nearest of several names. */
#ifndef CLM_BASE_NEAREST_H
#define CLM_BASE_NEAREST_H

#include <stddef.h>

/* A search for the name nearest to one that was mistyped. Begin with {.wanted = name}. */
typedef struct clm__near {
  const char *wanted;
  const char *best; /* NULL: none so far */
  size_t distance;  /* of best */
} clm__near;

/* Looks at one name, which is kept as a borrowed pointer. */
void clm__near_try(clm__near *near, const char *name);

/* The nearest name, NULL where none is near enough to be meant. */
const char *clm__near_found(const clm__near *near);

#endif
