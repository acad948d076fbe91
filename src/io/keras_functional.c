#include "io/keras_functional.h"

#include "base/mem.h"
#include "io/keras_config.h"
#include "io/keras_layer.h"

#include <limits.h>
#include <string.h>

/* An entry of "layers" with the entries that it reads. */
typedef struct functional_node {
  clm__keras_layer layer;
  int inputs[CLM__INPUTS_MAX]; /* numbers of entries */
  int input_count;
  int index; /* in the graph, -1: not added yet */
} functional_node;

typedef struct functional {
  functional_node *nodes;
  int count;
  int input; /* the entry that is the InputLayer */
  int output;
} functional;

static clm_status find_node(const functional *model, const clm__json_at *name, int *index)
{
  const char *text = NULL;
  CLM_TRY(clm__json_get_text(name, &text));
  for (int i = 0; i < model->count; i++)
    if (strcmp(model->nodes[i].layer.name, text) == 0) {
      *index = i;
      return CLM_OK;
    }
  return clm__json_fail(name, CLM_BAD_DATA, "there is no layer called %.80s", text);
}

/* A reference to a layer's output: [name, which call of the layer, which output]. */
static clm_status read_reference(const functional *model, const clm__json_at *at, int *index)
{
  CLM_TRY(clm__json_require(at, CLM__JSON_LIST));
  const clm__json_at name = clm__json_item(at, 0);
  CLM_TRY(find_node(model, &name, index));
  for (size_t i = 1; i < 3; i++) {
    const clm__json_at item = clm__json_item(at, i);
    int64_t number = 0;
    CLM_TRY(clm__json_get_int(&item, 0, INT_MAX, &number));
    if (number != 0)
      return clm__json_fail(&item, CLM_UNSUPPORTED,
                            "layer %.80s is called several times or has several outputs, which is "
                            "not supported",
                            model->nodes[*index].layer.name);
  }
  return CLM_OK;
}

static clm_status add_input(const functional *model, const clm__json_at *at, functional_node *node)
{
  if (node->input_count == CLM__INPUTS_MAX)
    return clm__json_fail(at, CLM_UNSUPPORTED, "more than %d inputs are not supported",
                          CLM__INPUTS_MAX);
  CLM_TRY(read_reference(model, at, &node->inputs[node->input_count]));
  node->input_count++;
  return CLM_OK;
}

/* A tensor object of Keras 3. */
static clm_status add_tensor(const functional *model, const clm__json_at *at, functional_node *node)
{
  const clm__json_at class_name = clm__json_find(at, "class_name");
  const clm__json_at config = clm__json_find(at, "config");
  const clm__json_at history = clm__json_find(&config, "keras_history");
  if (!clm__json_is_text(&class_name, "__keras_tensor__"))
    return clm__json_fail(at, CLM_UNSUPPORTED,
                          "an argument that is no output of a layer is not supported");
  return add_input(model, &history, node);
}

/* A layer is called with tensors or with one list of tensors. */
static clm_status read_arguments(const functional *model, const clm__json_at *arguments,
                                 functional_node *node)
{
  CLM_TRY(clm__json_require(arguments, CLM__JSON_LIST));
  for (size_t i = 0; i < clm__json_count(arguments); i++) {
    const clm__json_at item = clm__json_item(arguments, i);
    if (clm__json_kind_of(&item) != CLM__JSON_LIST) {
      CLM_TRY(add_tensor(model, &item, node));
      continue;
    }
    for (size_t k = 0; k < clm__json_count(&item); k++) {
      const clm__json_at tensor = clm__json_item(&item, k);
      CLM_TRY(add_tensor(model, &tensor, node));
    }
  }
  return CLM_OK;
}

/* Keras notes each layer's default of "training", but fit, evaluate and predict override it. Other
 * keywords, such as "mask", are harmless while they are off. */
static clm_status check_keywords(const clm__json_at *keywords)
{
  void *iterator = NULL;
  clm__json_at member;
  while (clm__json_next(keywords, &iterator, &member)) {
    if (strcmp(member.key, "training") == 0) continue;
    bool on = clm__json_kind_of(&member) != CLM__JSON_NULL;
    if (clm__json_kind_of(&member) == CLM__JSON_BOOL) CLM_TRY(clm__json_get_bool(&member, &on));
    if (on)
      return clm__json_fail(&member, CLM_UNSUPPORTED,
                            "calling a layer with this argument is not supported");
  }
  return CLM_OK;
}

/* Keras 3: {"args": [...], "kwargs": {}}; Keras 2: [["name", 0, 0, {}], ...]. */
static clm_status read_call(const functional *model, const clm__json_at *call,
                            functional_node *node)
{
  if (clm__json_kind_of(call) == CLM__JSON_OBJECT) {
    const clm__json_at arguments = clm__json_find(call, "args");
    const clm__json_at keywords = clm__json_find(call, "kwargs");
    CLM_TRY(read_arguments(model, &arguments, node));
    return check_keywords(&keywords);
  }
  CLM_TRY(clm__json_require(call, CLM__JSON_LIST));
  for (size_t i = 0; i < clm__json_count(call); i++) {
    const clm__json_at item = clm__json_item(call, i);
    const clm__json_at keywords = clm__json_item(&item, 3);
    CLM_TRY(add_input(model, &item, node));
    CLM_TRY(check_keywords(&keywords));
  }
  return CLM_OK;
}

static clm_status read_calls(const functional *model, functional_node *node)
{
  const clm__json_at calls = clm__json_find(&node->layer.entry, "inbound_nodes");
  const clm__json_at call = clm__json_item(&calls, 0);
  CLM_TRY(clm__json_require(&calls, CLM__JSON_LIST));
  const size_t count = clm__json_count(&calls);
  if (node->layer.is_input && count == 0) return CLM_OK;
  if (count > 1)
    return clm__json_fail(&calls, CLM_UNSUPPORTED,
                          "layer %.80s is called %zu times; shared layers are not supported",
                          node->layer.name, count);
  if (count == 0 || node->layer.is_input)
    return clm__json_fail(&calls, CLM_BAD_DATA, "layer %.80s has not the one call it needs",
                          node->layer.name);
  return read_call(model, &call, node);
}

/* One layer: ["name", 0, 0], or that in a list or an object of one entry. */
static clm_status read_end(const functional *model, const clm__json_at *ends, int *index)
{
  const clm__json_at first = clm__json_item(ends, 0);
  if (clm__json_kind_of(&first) == CLM__JSON_TEXT) return read_reference(model, ends, index);
  if (clm__json_count(ends) != 1)
    return clm__json_fail(ends, CLM_UNSUPPORTED,
                          "a model with %zu inputs or outputs is not supported, it must have one",
                          clm__json_count(ends));
  if (clm__json_kind_of(ends) == CLM__JSON_LIST) return read_reference(model, &first, index);
  void *iterator = NULL;
  clm__json_at member;
  (void)clm__json_next(ends, &iterator, &member);
  return read_reference(model, &member, index);
}

static clm_status open_nodes(functional *model, const clm__json_at *layers)
{
  int inputs = 0;
  for (int i = 0; i < model->count; i++) {
    functional_node *node = &model->nodes[i];
    node->index = -1;
    CLM_TRY(clm__keras_open_layer(layers, (size_t)i, &node->layer));
    if (node->layer.name == NULL)
      return clm__json_fail(&node->layer.entry, CLM_BAD_DATA, "the layer has no name");
    inputs += node->layer.is_input;
  }
  if (inputs != 1)
    return clm__json_fail(layers, CLM_UNSUPPORTED,
                          "a model with %d inputs is not supported, it must have one", inputs);
  return CLM_OK;
}

static clm_status read_links(functional *model, const clm__json_at *config)
{
  const clm__json_at inputs = clm__json_find(config, "input_layers");
  const clm__json_at outputs = clm__json_find(config, "output_layers");
  for (int i = 0; i < model->count; i++) CLM_TRY(read_calls(model, &model->nodes[i]));
  CLM_TRY(read_end(model, &inputs, &model->input));
  CLM_TRY(read_end(model, &outputs, &model->output));
  if (!model->nodes[model->input].layer.is_input)
    return clm__json_fail(&inputs, CLM_UNSUPPORTED, "the model does not begin with an InputLayer");
  return CLM_OK;
}

/* Adds a layer where all that it reads is there already. */
static clm_status add_if_ready(functional *model, functional_node *node, clm__graph *graph)
{
  int inputs[CLM__INPUTS_MAX];
  for (int i = 0; i < node->input_count; i++) {
    inputs[i] = model->nodes[node->inputs[i]].index;
    if (inputs[i] < 0) return CLM_OK;
  }
  CLM_TRY(clm__keras_add_layer(&node->layer, graph, inputs, node->input_count));
  node->index = graph->output_layer;
  return CLM_OK;
}

/* Goes through the list again while something could be added. */
static clm_status add_all(functional *model, clm__graph *graph)
{
  bool added = true;
  while (added) {
    added = false;
    for (int i = 0; i < model->count; i++) {
      functional_node *node = &model->nodes[i];
      if (node->index >= 0) continue;
      CLM_TRY(add_if_ready(model, node, graph));
      added = added || node->index >= 0;
    }
  }
  for (int i = 0; i < model->count; i++)
    CLM_REQUIRE(model->nodes[i].index >= 0, CLM_BAD_DATA,
                "layer %.80s waits for its own output: the layers form a circle",
                model->nodes[i].layer.name);
  return CLM_OK;
}

static clm_status finish(const functional *model, clm__graph *graph)
{
  graph->output_layer = model->nodes[model->output].index;
  CLM_TRY(clm__graph_sort(graph));
  CLM_REQUIRE(graph->output_layer == graph->layer_count - 1, CLM_BAD_DATA,
              "layer %.80s does not lead to the model's output",
              graph->layers[graph->output_layer + 1].name);
  return CLM_OK;
}

static clm_status build(functional *model, const char *name, clm__graph **graph)
{
  functional_node *input = &model->nodes[model->input];
  clm__shape shape;
  clm__graph *made = NULL;
  CLM_TRY(clm__keras_read_input(&input->layer, &shape));
  CLM_TRY(clm__graph_create(name, false, input->layer.name, shape, &made));
  input->index = 0;
  clm_status status = add_all(model, made);
  if (status == CLM_OK) status = finish(model, made);
  if (status != CLM_OK) {
    clm__graph_destroy(made);
    return status;
  }
  *graph = made;
  return CLM_OK;
}

clm_status clm__keras_read_functional(const clm__json_at *config, const char *name,
                                      clm__graph **graph)
{
  const clm__json_at layers = clm__json_find(config, "layers");
  CLM_TRY(clm__json_require(&layers, CLM__JSON_LIST));
  functional model = {.count = (int)clm__json_count(&layers)};
  CLM_TRY(clm__mem_alloc((size_t)model.count, sizeof *model.nodes, &model.nodes));
  clm_status status = open_nodes(&model, &layers);
  if (status == CLM_OK) status = read_links(&model, config);
  if (status == CLM_OK) status = build(&model, name, graph);
  clm__mem_free(model.nodes);
  return status;
}
