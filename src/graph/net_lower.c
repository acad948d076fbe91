#include "graph/net_build.h"

#include "base/mem.h"
#include "op/registry.h"

#include <string.h>

clm__activation *clm__net_activation(const clm__op *op, void *attributes)
{
  for (const clm__field *field = op->fields; field != NULL && field->key != NULL; field++)
    if (field->kind == CLM__FIELD_ACTIVATION)
      return (clm__activation *)(void *)((char *)attributes + field->offset);
  return NULL;
}

clm_status clm__net_find_op(const char *name, const clm__op **op)
{
  for (const clm__op *const *known = clm__registry_ops(); *known != NULL; known++) {
    if (strcmp((*known)->name, name) != 0) continue;
    *op = *known;
    return CLM_OK;
  }
  CLM_FAIL(CLM_INTERNAL, "the op %s is not registered", name);
}

void clm__net_fini_node(clm__node *node)
{
  clm__mem_free(node->attributes);
  *node = (clm__node){0};
}

static bool is_activation(const clm__op *op) { return strcmp(op->name, "activation") == 0; }

/* Whether a layer only hands its input on. */
static bool is_identity(const clm__graph *graph, const clm__layer *layer, bool training)
{
  if (layer->op->only_training && !training) return true;
  if (layer->op->is_identity != NULL &&
      layer->op->is_identity(layer->attributes, &graph->layers[layer->inputs[0]].spec.output))
    return true;
  return is_activation(layer->op) &&
         *clm__net_activation(layer->op, layer->attributes) == CLM__LINEAR;
}

/* Appends a node without inputs; attributes NULL: zeros. */
static clm_status append(clm__net *net, const clm__op *op, const void *attributes, int layer)
{
  clm__node *node = &net->nodes[net->node_count];
  CLM_TRY(clm__mem_alloc(1, op->attribute_bytes, &node->attributes));
  if (attributes != NULL && op->attribute_bytes > 0)
    memcpy(node->attributes, attributes, op->attribute_bytes);
  node->op = op;
  node->layer = layer;
  node->frozen = !net->graph->layers[layer].trainable;
  for (int i = 0; i < CLM__PARAMS_MAX; i++) node->weights[i] = -1;
  net->node_count++;
  return CLM_OK;
}

static clm_status infer(clm__net *net, clm__node *node)
{
  clm__shape shapes[CLM__INPUTS_MAX] = {{0}};
  for (int i = 0; i < node->input_count; i++) shapes[i] = net->value_shapes[node->inputs[i]];
  return node->op->infer(node->attributes, shapes, node->input_count, &node->spec);
}

static clm_status finish_node(clm__net *net)
{
  clm__node *node = &net->nodes[net->node_count - 1];
  CLM_TRY(infer(net, node));
  net->value_shapes[net->node_count] = node->spec.output;
  return CLM_OK;
}

/* A node that applies the activation to the last value. */
static clm_status append_activation(clm__net *net, clm__activation activation, int layer)
{
  const clm__op *op = NULL;
  CLM_TRY(clm__net_find_op("activation", &op));
  CLM_TRY(append(net, op, NULL, layer));
  clm__node *node = &net->nodes[net->node_count - 1];
  *clm__net_activation(op, node->attributes) = activation;
  node->inputs[0] = net->node_count - 1;
  node->input_count = 1;
  return finish_node(net);
}

static clm_status lower_layer(clm__net *net, const clm__weights *weights, int index,
                              const int *values)
{
  const clm__layer *layer = &net->graph->layers[index];
  CLM_TRY(append(net, layer->op, layer->attributes, index));
  clm__node *node = &net->nodes[net->node_count - 1];
  for (int i = 0; i < layer->input_count; i++) node->inputs[i] = values[layer->inputs[i]];
  node->input_count = layer->input_count;
  clm__activation activation = CLM__LINEAR;
  clm__activation *member = clm__net_activation(node->op, node->attributes);
  if (member != NULL && !is_activation(node->op)) {
    activation = *member;
    *member = CLM__LINEAR;
  }
  CLM_TRY(finish_node(net));
  for (int i = 0; i < node->spec.param_count; i++)
    node->weights[i] = clm__weights_find(weights, index, i);
  return activation == CLM__LINEAR ? CLM_OK : append_activation(net, activation, index);
}

void clm__net_compact(clm__net *net, int *map)
{
  int count = 0;
  map[0] = 0;
  for (int k = 0; k < net->node_count; k++) {
    clm__node node = net->nodes[k];
    if (node.op == NULL) continue;
    for (int i = 0; i < node.input_count; i++) node.inputs[i] = map[node.inputs[i]];
    net->nodes[count] = node;
    net->value_shapes[count + 1] = net->value_shapes[k + 1];
    map[k + 1] = ++count;
  }
  for (int k = count; k < net->node_count; k++) net->nodes[k] = (clm__node){0};
  net->node_count = count;
}

/* Takes out what does not lead to `output`; then that is the last value. */
static void keep_only(clm__net *net, int output, int *map)
{
  for (int v = 0; v <= net->node_count; v++) map[v] = v == output;
  for (int k = net->node_count - 1; k >= 0; k--) {
    clm__node *node = &net->nodes[k];
    if (!map[k + 1]) {
      clm__net_fini_node(node);
      continue;
    }
    for (int i = 0; i < node->input_count; i++) map[node->inputs[i]] = 1;
  }
  clm__net_compact(net, map);
}

/* The loss takes a softmax at the end into itself, so the last node is left out. */
static void drop_softmax(clm__net *net)
{
  if (net->node_count < 2) return;
  clm__node *last = &net->nodes[net->node_count - 1];
  if (!is_activation(last->op) || last->spec.output.rank != 1 ||
      *clm__net_activation(last->op, last->attributes) != CLM__SOFTMAX)
    return;
  clm__net_fini_node(last);
  net->node_count--;
  net->ends_in_softmax = true;
}

/* values: the value of every layer's output. */
static clm_status lower_all(clm__net *net, const clm__weights *weights,
                            const clm__net_options *options, int *values)
{
  for (int i = 1; i < net->graph->layer_count; i++) {
    const clm__layer *layer = &net->graph->layers[i];
    if (is_identity(net->graph, layer, options->training)) {
      values[i] = values[layer->inputs[0]];
      continue;
    }
    const clm_status status = lower_layer(net, weights, i, values);
    if (status != CLM_OK) return clm__error_prefix(status, "layer %s: ", layer->name);
    values[i] = net->node_count;
  }
  return CLM_OK;
}

clm_status clm__net_lower(clm__net *net, const clm__weights *weights,
                          const clm__net_options *options)
{
  /* At most one activation a layer is added. */
  const size_t most = 2 * (size_t)net->graph->layer_count;
  CLM_TRY(clm__mem_alloc(most, sizeof *net->nodes, &net->nodes));
  CLM_TRY(clm__mem_alloc(most + 1, sizeof *net->value_shapes, &net->value_shapes));
  net->value_shapes[0] = net->graph->input_shape;
  int *values = NULL;
  CLM_TRY(clm__mem_alloc(most + 1, sizeof *values, &values));
  const clm_status status = lower_all(net, weights, options, values);
  if (status == CLM_OK) keep_only(net, values[net->graph->output_layer], values);
  clm__mem_free(values);
  if (status != CLM_OK) return status;
  CLM_REQUIRE(net->node_count > 0, CLM_BAD_DATA, "the model %s computes nothing", net->graph->name);
  if (options->training || options->logits) drop_softmax(net);
  return CLM_OK;
}
