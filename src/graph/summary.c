#include "graph/summary.h"

#include "base/mem.h"
#include "base/num.h"
#include "graph/table.h"

#include <stdio.h>
#include <string.h>

/* Columns: name and class, shape, params, inputs. */
enum { COLUMNS_LINEAR = 3, COLUMNS_MOST = 4 };

/* Whether Keras draws the model without "Connected to": one layer a depth, one input a layer. */
static bool is_linear(const clm__graph *graph)
{
  for (int i = 1; i < graph->layer_count; i++) {
    const clm__layer *layer = &graph->layers[i];
    if (layer->input_count != 1 || layer->inputs[0] != i - 1) return false;
  }
  return true;
}

static void set_widths(clm__table *table, int columns)
{
  static const double linear[] = {0.45, 0.80, 1.0};
  static const double connected[] = {0.3, 0.56, 0.74, 1.0};
  const bool narrow = table->column_count == COLUMNS_LINEAR;
  const double *positions = narrow ? linear : connected;
  const int width = clm__min_int(narrow ? 88 : 108, columns - 4);
  int before = 0;
  for (int i = 0; i < table->column_count; i++) {
    const int position = (int)(positions[i] * width);
    table->widths[i] = position - before;
    before = position;
  }
  clm__table_fit(table, width);
}

static clm_status add_shape(clm__str *text, const clm__shape *shape)
{
  CLM_TRY(clm__str_add(text, "(None"));
  for (int i = 0; i < shape->rank; i++) CLM_TRY(clm__str_add(text, ", %d", shape->dims[i]));
  return clm__str_add(text, ")");
}

/* "1,234,567" */
static clm_status add_count(clm__str *text, size_t count)
{
  char digits[32];
  const int length = snprintf(digits, sizeof digits, "%zu", count);
  for (int i = 0; i < length; i++)
    CLM_TRY(clm__str_add(text, "%s%c", i > 0 && (length - i) % 3 == 0 ? "," : "", digits[i]));
  return CLM_OK;
}

static clm_status add_inputs(clm__str *text, const clm__graph *graph, const clm__layer *layer)
{
  if (layer->input_count == 0) return clm__str_add(text, "-");
  for (int i = 0; i < layer->input_count; i++)
    CLM_TRY(
        clm__str_add(text, "%s%s[0][0]", i > 0 ? ", " : "", graph->layers[layer->inputs[i]].name));
  return CLM_OK;
}

static clm_status fill_row(clm__str *cells, const clm__graph *graph, const clm__layer *layer)
{
  CLM_TRY(clm__str_add(&cells[0], "%s (%s)", layer->name, clm__graph_class(layer->op)));
  CLM_TRY(add_shape(&cells[1], &layer->spec.output));
  size_t params = 0;
  for (int i = 0; i < layer->spec.param_count; i++)
    params += clm__shape_elements(&layer->spec.params[i].shape);
  CLM_TRY(add_count(&cells[2], params));
  return add_inputs(&cells[3], graph, layer);
}

static clm_status add_row(clm__table *table, const clm__graph *graph, const clm__layer *layer)
{
  clm__str cells[COLUMNS_MOST] = {{0}};
  clm_status status = fill_row(cells, graph, layer);
  const char *texts[COLUMNS_MOST];
  for (int i = 0; i < COLUMNS_MOST; i++) texts[i] = clm__str_get(&cells[i]);
  if (status == CLM_OK) status = clm__table_add_row(table, texts);
  for (int i = 0; i < COLUMNS_MOST; i++) clm__str_fini(&cells[i]);
  return status;
}

static clm_status add_table(clm__str *text, const clm__graph *graph, int columns)
{
  clm__table table = {.text = text,
                      .column_count = is_linear(graph) ? COLUMNS_LINEAR : COLUMNS_MOST,
                      .right_column = 2};
  set_widths(&table, columns);
  CLM_TRY(clm__table_begin(
      &table, (const char *[]){"Layer (type)", "Output Shape", "Param #", "Connected to"}));
  for (int i = graph->is_sequential ? 1 : 0; i < graph->layer_count; i++)
    CLM_TRY(add_row(&table, graph, &graph->layers[i]));
  return clm__table_end(&table);
}

/* " Total params: 1,234 (4.82 KB)" */
static clm_status add_total(clm__str *text, const char *what, size_t count, size_t bytes)
{
  static const char *const units[] = {"B", "KB", "MB", "GB", "TB", "PB"};
  const size_t unit_count = sizeof units / sizeof units[0];
  double size = (double)bytes;
  size_t unit = 0;
  for (; size >= 1024.0 && unit + 1 < unit_count; unit++) size /= 1024.0;
  CLM_TRY(clm__str_add(text, " %s params: ", what));
  CLM_TRY(add_count(text, count));
  return clm__str_add(text, " (%.2f %s)\n", size, units[unit]);
}

static clm_status add_totals(clm__str *text, const clm__weights *weights, size_t optimizer_params)
{
  const size_t trainable = clm__weights_count_params(weights, true);
  const size_t rest = clm__weights_count_params(weights, false);
  /* All are float32 but the count of iterations, which is int64. */
  const size_t optimizer_bytes = optimizer_params > 0 ? optimizer_params * 4 + 4 : 0;
  CLM_TRY(add_total(text, "Total", trainable + rest + optimizer_params,
                    (trainable + rest) * 4 + optimizer_bytes));
  CLM_TRY(add_total(text, "Trainable", trainable, trainable * 4));
  CLM_TRY(add_total(text, "Non-trainable", rest, rest * 4));
  if (optimizer_params > 0)
    CLM_TRY(add_total(text, "Optimizer", optimizer_params, optimizer_bytes));
  return CLM_OK;
}

clm_status clm__summary(const clm__graph *graph, const clm__weights *weights, int columns,
                        size_t optimizer_params, char **text)
{
  clm__str built = {0};
  clm_status status = clm__str_add(&built, "Model: \"%s\"\n", graph->name);
  if (status == CLM_OK) status = add_table(&built, graph, columns);
  if (status == CLM_OK) status = add_totals(&built, weights, optimizer_params);
  if (status == CLM_OK) status = clm__str_take(&built, text);
  clm__str_fini(&built);
  return status;
}
