#include "bench/nets.h"

#include "base/mem.h"
#include "op/activation.h"
#include "op/conv2d.h"
#include "op/dense.h"
#include "op/registry.h"

#include <string.h>

clm_status net_flowers(clm__graph **graph)
{
  return clm__graph_create_default(180, 180, 3, NET_CLASSES, graph);
}

/* Adds a layer whose attributes all have their defaults. */
static clm_status add_default(clm__graph *graph, const char *name, const int *inputs,
                              int input_count)
{
  const clm__op *op = NULL;
  void *attributes = NULL;
  CLM_TRY(clm__registry_find_op(name, &op));
  CLM_TRY(clm__mem_alloc(1, op->attribute_bytes, &attributes));
  clm__field_set_defaults(op->fields, attributes);
  const clm_status status = clm__graph_add(graph, op, NULL, attributes, inputs, input_count);
  clm__mem_free(attributes);
  return status;
}

static clm_status add_relu(clm__graph *graph)
{
  const clm__op *op = NULL;
  const clm__activation_attributes attributes = {.activation = CLM__RELU};
  const int input = graph->output_layer;
  CLM_TRY(clm__registry_find_op("activation", &op));
  return clm__graph_add(graph, op, NULL, &attributes, &input, 1);
}

/* A convolution without bias behind layer `input`, and batch normalization. */
static clm_status add_convolution(clm__graph *graph, int input, int filters, int size, int stride)
{
  clm__conv2d_attributes attributes = {0};
  clm__field_set_defaults(clm__op_conv2d.fields, &attributes);
  attributes.filters = filters;
  attributes.kernel_size[0] = attributes.kernel_size[1] = size;
  attributes.strides[0] = attributes.strides[1] = stride;
  attributes.padding = CLM__CONV2D_SAME;
  attributes.use_bias = false;
  CLM_TRY(clm__graph_add(graph, &clm__op_conv2d, NULL, &attributes, &input, 1));
  const int convolution = graph->output_layer;
  return add_default(graph, "batch_normalization", &convolution, 1);
}

static clm_status add_block(clm__graph *graph, int filters, int stride)
{
  const int input = graph->output_layer;
  CLM_TRY(add_convolution(graph, input, filters, 3, stride));
  CLM_TRY(add_relu(graph));
  CLM_TRY(add_convolution(graph, graph->output_layer, filters, 3, 1));
  int branches[2] = {graph->output_layer, input};
  if (stride != 1) {
    CLM_TRY(add_convolution(graph, input, filters, 1, stride));
    branches[1] = graph->output_layer;
  }
  CLM_TRY(add_default(graph, "add", branches, 2));
  return add_relu(graph);
}

static clm_status add_head(clm__graph *graph)
{
  const clm__op *op = NULL;
  clm__dense_attributes attributes = {0};
  int input = graph->output_layer;
  CLM_TRY(add_default(graph, "global_average_pooling2d", &input, 1));
  input = graph->output_layer;
  CLM_TRY(clm__registry_find_op("dense", &op));
  clm__field_set_defaults(op->fields, &attributes);
  attributes.units = NET_CLASSES;
  attributes.activation = CLM__SOFTMAX;
  return clm__graph_add(graph, op, NULL, &attributes, &input, 1);
}

static clm_status add_residual(clm__graph *graph)
{
  CLM_TRY(add_convolution(graph, 0, 32, 3, 1));
  CLM_TRY(add_relu(graph));
  CLM_TRY(add_block(graph, 32, 1));
  CLM_TRY(add_block(graph, 64, 2));
  CLM_TRY(add_block(graph, 128, 2));
  return add_head(graph);
}

clm_status net_residual(clm__graph **graph)
{
  clm__graph *made = NULL;
  CLM_TRY(clm__graph_create("residual", false, "input_layer", clm__shape3(64, 64, 3), &made));
  const clm_status status = add_residual(made);
  if (status != CLM_OK) {
    clm__graph_destroy(made);
    return status;
  }
  *graph = made;
  return CLM_OK;
}

clm_status net_create(const char *name, clm__graph **graph)
{
  if (strcmp(name, "flowers") == 0) return net_flowers(graph);
  if (strcmp(name, "residual") == 0) return net_residual(graph);
  CLM_FAIL(CLM_USAGE, "there is no network '%s': flowers or residual", name);
}
