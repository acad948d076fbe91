/* The shape of a tensor without its batch dimension: [H,W,C], [C] or [] and up to 4 dimensions. */
#ifndef CLM_BASE_SHAPE_H
#define CLM_BASE_SHAPE_H

#include <stdbool.h>
#include <stddef.h>

#define CLM__RANK_MAX 4

typedef struct clm__shape {
  int rank;                /* 0..CLM__RANK_MAX */
  int dims[CLM__RANK_MAX]; /* each >= 1; row-major, last one contiguous */
} clm__shape;

/* The number of elements, 1 for rank 0; SIZE_MAX where it does not fit in size_t. */
size_t clm__shape_elements(const clm__shape *shape);

bool clm__shape_equal(const clm__shape *a, const clm__shape *b);

static inline clm__shape clm__shape1(int d0) { return (clm__shape){.rank = 1, .dims = {d0}}; }
static inline clm__shape clm__shape2(int d0, int d1)
{
  return (clm__shape){.rank = 2, .dims = {d0, d1}};
}
static inline clm__shape clm__shape3(int h, int w, int c)
{
  return (clm__shape){.rank = 3, .dims = {h, w, c}};
}

#define CLM__SHAPE_TEXT_SIZE 64
/* Writes "180x180x3" ("scalar" for rank 0) into text; returns text. */
char *clm__shape_text(const clm__shape *shape, char text[CLM__SHAPE_TEXT_SIZE]);

#endif
