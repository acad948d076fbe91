/* A table of box-drawing characters, laid out as the library does that Keras prints with: columns
 * shrunk to a width, cells wrapped at spaces, words without room cut with an ellipsis. Widths are
 * cells of a terminal: wide characters count twice, combining ones not at all. */
#ifndef CLM_GRAPH_TABLE_H
#define CLM_GRAPH_TABLE_H

#include "base/str.h"

#define CLM__TABLE_COLUMNS_MAX 4

typedef struct clm__table {
  clm__str *text; /* what is drawn is added here */
  int column_count;
  int right_column;                   /* flush right; -1: none */
  int row_count;                      /* drawn so far */
  int widths[CLM__TABLE_COLUMNS_MAX]; /* cells of text, without a space on either side */
} clm__table;

/* Shrinks the columns evenly until the table is at most `width` cells wide. */
void clm__table_fit(clm__table *table, int width);

/* The head, a row, the bottom line. cells: column_count texts in UTF-8. */
CLM_MUST_CHECK clm_status clm__table_begin(clm__table *table, const char *const *cells);
CLM_MUST_CHECK clm_status clm__table_add_row(clm__table *table, const char *const *cells);
CLM_MUST_CHECK clm_status clm__table_end(clm__table *table);

#endif
