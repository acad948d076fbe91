/* How many cells of a terminal a text takes. */
#ifndef CLM_GRAPH_CELLS_H
#define CLM_GRAPH_CELLS_H

#include <stddef.h>

/* Bytes and cells (0, 1 or 2) of the first character of a text in UTF-8 of `size` >= 1 bytes. A
 * byte that is not UTF-8 is a character of one cell. */
size_t clm__cells_next(const char *text, size_t size, int *cells);

/* The cells of a text. */
int clm__cells_count(const char *text, size_t size);

/* The number of bytes whose characters fill at most `cells`. */
size_t clm__cells_fit(const char *text, size_t size, int cells);

#endif
