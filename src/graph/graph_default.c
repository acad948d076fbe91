#include "graph/graph.h"

#include "base/mem.h"
#include "op/registry.h"

#include <string.h>

/* A value of one attribute, by Keras' key. */
typedef struct setting {
  const char *key;
  const char *word; /* of a choice or an activation; NULL: numbers */
  double numbers[2];
} setting;

static int find_choice(const clm__field *field, const char *word)
{
  int index = 0;
  while (field->choices[index] != NULL && strcmp(field->choices[index], word) != 0) index++;
  CLM_ASSERT(field->choices[index] != NULL);
  return index;
}

static clm_status set_attribute(const clm__op *op, void *attributes, const setting *wanted)
{
  const clm__field *field = op->fields;
  while (field->key != NULL && strcmp(field->key, wanted->key) != 0) field++;
  void *member = (char *)attributes + field->offset;
  const double *numbers = wanted->numbers;
  switch (field->key == NULL ? CLM__FIELD_FIXED : field->kind) {
  case CLM__FIELD_INT:
    *(int *)member = (int)numbers[0];
    return CLM_OK;
  case CLM__FIELD_PAIR:
    ((int *)member)[0] = (int)numbers[0];
    ((int *)member)[1] = (int)numbers[1];
    return CLM_OK;
  case CLM__FIELD_CHOICE:
    *(int *)member = find_choice(field, wanted->word);
    return CLM_OK;
  case CLM__FIELD_ACTIVATION:
    return clm__activation_parse(wanted->word, (clm__activation *)member);
  case CLM__FIELD_FLOAT:
    *(double *)member = numbers[0];
    return CLM_OK;
  case CLM__FIELD_FLOAT_OR_LIST:
    *(clm__float_list *)member = (clm__float_list){.values = {numbers[0]}};
    return CLM_OK;
  default:
    CLM_FAIL(CLM_INTERNAL, "%s has no attribute %s that can be set", op->name, wanted->key);
  }
}

/* Adds a layer behind the last one; settings end with key NULL. */
static clm_status add(clm__graph *graph, const char *op_name, const setting *settings)
{
  const clm__op *op = NULL;
  CLM_TRY(clm__registry_find_op(op_name, &op));
  void *attributes = NULL;
  CLM_TRY(clm__mem_alloc(1, op->attribute_bytes, &attributes));
  clm__field_set_defaults(op->fields, attributes);
  clm_status status = CLM_OK;
  for (; settings->key != NULL && status == CLM_OK; settings++)
    status = set_attribute(op, attributes, settings);
  const int input = graph->output_layer;
  if (status == CLM_OK) status = clm__graph_add(graph, op, NULL, attributes, &input, 1);
  clm__mem_free(attributes);
  return status;
}

static clm_status add_dense(clm__graph *graph, int units, const char *activation)
{
  return add(graph, "dense",
             (setting[]){{.key = "units", .numbers = {units}},
                         {.key = "activation", .word = activation},
                         {0}});
}

static clm_status add_convolutions(clm__graph *graph)
{
  for (int filters = 16; filters <= 64; filters *= 2) {
    CLM_TRY(add(graph, "conv2d",
                (setting[]){{.key = "filters", .numbers = {filters}},
                            {.key = "kernel_size", .numbers = {3, 3}},
                            {.key = "padding", .word = "same"},
                            {.key = "activation", .word = "relu"},
                            {0}}));
    CLM_TRY(add(graph, "max_pooling2d", (setting[]){{0}}));
  }
  return CLM_OK;
}

static clm_status add_layers(clm__graph *graph, int height, int width, int class_count)
{
  CLM_TRY(add(graph, "resizing",
              (setting[]){{.key = "height", .numbers = {height}},
                          {.key = "width", .numbers = {width}},
                          {0}}));
  CLM_TRY(add(graph, "rescaling", (setting[]){{.key = "scale", .numbers = {1.0 / 255.0}}, {0}}));
  CLM_TRY(add_convolutions(graph));
  CLM_TRY(add(graph, "flatten", (setting[]){{0}}));
  CLM_TRY(add_dense(graph, 128, "relu"));
  return add_dense(graph, class_count, "softmax");
}

clm_status clm__graph_create_default(int height, int width, int channels, int class_count,
                                     clm__graph **graph)
{
  clm__graph *made = NULL;
  CLM_TRY(clm__graph_create("sequential", true, "input_layer", clm__shape3(height, width, channels),
                            &made));
  const clm_status status = add_layers(made, height, width, class_count);
  if (status != CLM_OK) {
    clm__graph_destroy(made);
    return status;
  }
  *graph = made;
  return CLM_OK;
}
