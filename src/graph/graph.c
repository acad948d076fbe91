#include "graph/graph.h"

#include "base/mem.h"
#include "base/str.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Kernels count the elements of one image in int. */
static clm_status check_shape(const char *what, const clm__shape *shape)
{
  char text[CLM__SHAPE_TEXT_SIZE];
  bool valid = shape->rank >= 0 && shape->rank <= CLM__RANK_MAX;
  for (int i = 0; valid && i < shape->rank; i++) valid = shape->dims[i] >= 1;
  CLM_REQUIRE(valid, CLM_BAD_DATA, "%s has a shape with a dimension below 1", what);
  CLM_REQUIRE(clm__shape_elements(shape) <= INT_MAX, CLM_BAD_DATA,
              "%s is too large: %s for one image", what, clm__shape_text(shape, text));
  return CLM_OK;
}

static void fini_layer(clm__layer *layer)
{
  clm__mem_free(layer->name);
  clm__mem_free(layer->attributes);
}

/* Makes room for one more layer; the room is zeroed. */
static clm_status grow(clm__graph *graph)
{
  const size_t count = (size_t)graph->layer_count;
  if ((count & (count + 1)) == 0)
    CLM_TRY(clm__mem_resize(count * 2 + 2, sizeof *graph->layers, &graph->layers));
  memset(&graph->layers[count], 0, sizeof graph->layers[count]);
  return CLM_OK;
}

clm_status clm__graph_create(const char *name, bool is_sequential, const char *input_name,
                             clm__shape input_shape, clm__graph **graph)
{
  CLM_REQUIRE(input_shape.rank >= 1, CLM_BAD_DATA, "the model's input has no dimensions");
  CLM_TRY(check_shape("the model's input", &input_shape));
  clm__graph *made = NULL;
  CLM_TRY(clm__mem_alloc(1, sizeof *made, &made));
  made->is_sequential = is_sequential;
  made->input_shape = input_shape;
  clm_status status = CLM_OK;
  CLM_TRY_TO(failed, status, clm__mem_copy_text(name, &made->name));
  CLM_TRY_TO(failed, status, grow(made));
  CLM_TRY_TO(failed, status, clm__mem_copy_text(input_name, &made->layers[0].name));
  made->layers[0].trainable = true;
  made->layers[0].spec.output = input_shape;
  made->layer_count = 1;
  *graph = made;
  return CLM_OK;
failed:
  clm__graph_destroy(made);
  return status;
}

void clm__graph_destroy(clm__graph *graph)
{
  if (graph == NULL) return;
  for (int i = 0; i < graph->layer_count; i++) fini_layer(&graph->layers[i]);
  clm__mem_free(graph->layers);
  clm__mem_free(graph->name);
  clm__mem_free(graph);
}

int clm__graph_find(const clm__graph *graph, const char *name)
{
  for (int i = 0; i < graph->layer_count; i++)
    if (strcmp(graph->layers[i].name, name) == 0) return i;
  return -1;
}

/* The first number for which "prefix_N" is behind all names of that form; 0 where not even "prefix"
 * is taken. */
static long next_number(const clm__graph *graph, const char *prefix)
{
  const long most = 1000000000;
  const size_t length = strlen(prefix);
  long next = 0;
  for (int i = 0; i < graph->layer_count; i++) {
    const char *rest = graph->layers[i].name;
    if (strncmp(rest, prefix, length) != 0) continue;
    rest += length;
    char *end = NULL;
    const long number =
        *rest == '_' && isdigit((unsigned char)rest[1]) ? strtol(rest + 1, &end, 10) : 0;
    if (*rest != '\0' && (end == NULL || *end != '\0' || number > most)) continue;
    if (number >= next) next = number + 1;
  }
  return next;
}

static clm_status make_name(const clm__graph *graph, const clm__op *op, char **name)
{
  char *prefix = NULL;
  CLM_TRY(clm__graph_snake_case(clm__graph_class(op), &prefix));
  const long number = next_number(graph, prefix);
  clm__str made = {0};
  clm_status status = clm__str_add(&made, "%s", prefix);
  if (status == CLM_OK && number > 0) status = clm__str_add(&made, "_%ld", number);
  if (status == CLM_OK) status = clm__str_take(&made, name);
  clm__str_fini(&made);
  clm__mem_free(prefix);
  return status;
}

static clm_status check_inputs(const clm__graph *graph, const clm__op *op, const int *inputs,
                               int input_count)
{
  CLM_REQUIRE(input_count >= op->inputs_least && input_count <= op->inputs_most &&
                  input_count <= CLM__INPUTS_MAX,
              CLM_BAD_DATA, "it has %d inputs, %d to %d are possible", input_count,
              op->inputs_least, op->inputs_most);
  for (int i = 0; i < input_count; i++)
    CLM_REQUIRE(inputs[i] >= 0 && inputs[i] < graph->layer_count, CLM_BAD_DATA,
                "its input %d is no layer before it", i);
  return CLM_OK;
}

static clm_status infer(const clm__graph *graph, clm__layer *layer)
{
  clm__shape shapes[CLM__INPUTS_MAX] = {{0}};
  for (int i = 0; i < layer->input_count; i++)
    shapes[i] = graph->layers[layer->inputs[i]].spec.output;
  CLM_TRY(layer->op->infer(layer->attributes, shapes, layer->input_count, &layer->spec));
  return check_shape("its output", &layer->spec.output);
}

static clm_status fill_layer(const clm__graph *graph, clm__layer *layer, const void *attributes,
                             const int *inputs, int input_count)
{
  const clm__op *op = layer->op;
  CLM_TRY(check_inputs(graph, op, inputs, input_count));
  for (int i = 0; i < input_count; i++) layer->inputs[i] = inputs[i];
  layer->input_count = input_count;
  CLM_TRY(clm__mem_alloc(1, op->attribute_bytes, &layer->attributes));
  if (op->attribute_bytes > 0) memcpy(layer->attributes, attributes, op->attribute_bytes);
  return infer(graph, layer);
}

clm_status clm__graph_add(clm__graph *graph, const clm__op *op, const char *name,
                          const void *attributes, const int *inputs, int input_count)
{
  CLM_REQUIRE(name == NULL || clm__graph_find(graph, name) < 0, CLM_BAD_DATA,
              "two layers are called %s", name);
  CLM_TRY(grow(graph));
  clm__layer *layer = &graph->layers[graph->layer_count];
  layer->op = op;
  layer->trainable = true;
  if (name == NULL)
    CLM_TRY(make_name(graph, op, &layer->name));
  else
    CLM_TRY(clm__mem_copy_text(name, &layer->name));
  const clm_status status = fill_layer(graph, layer, attributes, inputs, input_count);
  if (status != CLM_OK) {
    (void)clm__error_prefix(status, "layer %s (%s): ", layer->name, clm__graph_class(op));
    fini_layer(layer);
    return clm__error_pass(status, __FILE__, __LINE__, __func__);
  }
  graph->output_layer = graph->layer_count++;
  return CLM_OK;
}

const clm__shape *clm__graph_output_shape(const clm__graph *graph)
{
  return &graph->layers[graph->output_layer].spec.output;
}

const char *clm__graph_class(const clm__op *op)
{
  if (op == NULL) return "InputLayer";
  return op->keras_class != NULL ? op->keras_class : op->name;
}

/* Keras deletes what is no word character, then puts a line before an upper-case letter that a
 * lower-case one follows, and between a lower-case and an upper-case letter. */
clm_status clm__graph_snake_case(const char *class_name, char **result)
{
  clm__str snake = {0};
  char before = '\0';
  for (const char *at = class_name; *at != '\0'; at++) {
    const unsigned char letter = (unsigned char)*at;
    if (!isalnum(letter) && letter != '_') continue;
    const bool starts =
        isupper(letter) && (islower((unsigned char)at[1]) || islower((unsigned char)before));
    const char lower = (char)tolower(letter);
    clm_status status = CLM_OK;
    if (starts && before != '\0' && before != '_') status = clm__str_add(&snake, "_");
    if (status == CLM_OK) status = clm__str_add(&snake, "%c", lower);
    if (status != CLM_OK) {
      clm__str_fini(&snake);
      return status;
    }
    before = *at;
  }
  return clm__str_take(&snake, result);
}
