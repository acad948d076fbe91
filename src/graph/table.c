#include "graph/table.h"

#include "base/num.h"
#include "graph/cells.h"

#include <stdbool.h>
#include <string.h>

/* value / count rounded to the nearest, halves to even, as Python's round() does. */
static int share_of(int value, int count)
{
  const int twice = 2 * (value % count);
  const int down = value / count;
  return down + (twice > count || (twice == count && down % 2 == 1));
}

void clm__table_fit(clm__table *table, int width)
{
  const int padding = 2;
  int excess = table->column_count + 1 - width;
  for (int i = 0; i < table->column_count; i++) excess += table->widths[i] + padding;
  for (int i = 0; i < table->column_count; i++) {
    const int most = table->widths[i] + padding - 3;
    const int cut = clm__min_int(share_of(clm__max_int(excess, 0), table->column_count - i), most);
    table->widths[i] = clm__max_int(table->widths[i] - clm__max_int(cut, 0), 1);
    excess -= clm__max_int(cut, 0);
  }
}

/* A line of table: what is left of each cell's text. */
typedef struct cell_rest {
  const char *text;
  size_t size;
} cell_rest;

static size_t word_end(const cell_rest *rest, size_t at)
{
  while (at < rest->size && rest->text[at] == ' ') at++;
  while (at < rest->size && rest->text[at] != ' ') at++;
  return at;
}

/* Takes the words that fit into the width off the text, at least one. */
static cell_rest take_line(cell_rest *rest, int width)
{
  size_t end = word_end(rest, 0);
  while (end < rest->size) {
    const size_t next = word_end(rest, end);
    if (clm__cells_count(rest->text, next) > width) break;
    end = next;
  }
  const cell_rest line = {rest->text, end};
  while (end < rest->size && rest->text[end] == ' ') end++;
  rest->text += end;
  rest->size -= end;
  return line;
}

static clm_status add_repeated(clm__str *text, const char *piece, int count)
{
  for (int i = 0; i < count; i++) CLM_TRY(clm__str_add_bytes(text, piece, strlen(piece)));
  return CLM_OK;
}

/* One line of a cell, filled up with spaces; a line without room ends in an ellipsis. */
static clm_status add_line(clm__str *text, cell_rest line, int width, bool right)
{
  const int cells = clm__cells_count(line.text, line.size);
  if (cells > width) {
    const size_t bytes = clm__cells_fit(line.text, line.size, width - 1);
    CLM_TRY(clm__str_add_bytes(text, line.text, bytes));
    CLM_TRY(add_repeated(text, " ", width - 1 - clm__cells_count(line.text, bytes)));
    return clm__str_add(text, "…");
  }
  if (right) CLM_TRY(add_repeated(text, " ", width - cells));
  CLM_TRY(clm__str_add_bytes(text, line.text, line.size));
  return right ? CLM_OK : add_repeated(text, " ", width - cells);
}

static clm_status add_cells(clm__table *table, const char *const *cells, const char *edge)
{
  cell_rest rests[CLM__TABLE_COLUMNS_MAX] = {{0}};
  bool more = true;
  for (int i = 0; i < table->column_count; i++) rests[i] = (cell_rest){cells[i], strlen(cells[i])};
  while (more) {
    more = false;
    for (int i = 0; i < table->column_count; i++) {
      const cell_rest line = take_line(&rests[i], table->widths[i]);
      CLM_TRY(clm__str_add(table->text, "%s ", edge));
      CLM_TRY(add_line(table->text, line, table->widths[i], i == table->right_column));
      CLM_TRY(clm__str_add(table->text, " "));
      more = more || rests[i].size > 0;
    }
    CLM_TRY(clm__str_add(table->text, "%s\n", edge));
  }
  return CLM_OK;
}

/* A rule: left end, stroke, crossing, right end, each of 3 bytes, with a space between. */
static clm_status add_rule(clm__table *table, const char *line)
{
  char pieces[4][4] = {{0}};
  for (int i = 0; i < 4; i++) memcpy(pieces[i], line + 4 * i, 3);
  for (int i = 0; i < table->column_count; i++) {
    CLM_TRY(clm__str_add(table->text, "%s", pieces[i == 0 ? 0 : 2]));
    CLM_TRY(add_repeated(table->text, pieces[1], table->widths[i] + 2));
  }
  return clm__str_add(table->text, "%s\n", pieces[3]);
}

clm_status clm__table_begin(clm__table *table, const char *const *cells)
{
  CLM_TRY(add_rule(table, "┏ ━ ┳ ┓"));
  CLM_TRY(add_cells(table, cells, "┃"));
  table->row_count = 0;
  return add_rule(table, "┡ ━ ╇ ┩");
}

clm_status clm__table_add_row(clm__table *table, const char *const *cells)
{
  if (table->row_count++ > 0) CLM_TRY(add_rule(table, "├ ─ ┼ ┤"));
  return add_cells(table, cells, "│");
}

clm_status clm__table_end(clm__table *table) { return add_rule(table, "└ ─ ┴ ┘"); }
