#include "io/keras_config.h"

#include "io/keras_field.h"

/* With the batch in front, as Keras has shapes. */
static void put_shape(clm__json_writer *writer, const char *key, const clm__shape *shape)
{
  clm__json_begin_list(writer, key);
  clm__json_put_null(writer, NULL);
  for (int i = 0; i < shape->rank; i++) clm__json_put_int(writer, NULL, shape->dims[i]);
  clm__json_end_list(writer);
}

static void put_reference(clm__json_writer *writer, const char *key, const char *name)
{
  clm__json_begin_list(writer, key);
  clm__json_put_text(writer, NULL, name);
  clm__json_put_int(writer, NULL, 0);
  clm__json_put_int(writer, NULL, 0);
  clm__json_end_list(writer);
}

static void put_tensor(clm__json_writer *writer, const clm__layer *producer)
{
  clm__json_begin_object(writer, NULL);
  clm__json_put_text(writer, "class_name", "__keras_tensor__");
  clm__json_begin_object(writer, "config");
  put_shape(writer, "shape", &producer->spec.output);
  clm__json_put_text(writer, "dtype", "float32");
  put_reference(writer, "keras_history", producer->name);
  clm__json_end_object(writer);
  clm__json_end_object(writer);
}

/* The one call of a layer; a layer that takes several tensors is called with a list of them. */
static void put_calls(clm__json_writer *writer, const clm__graph *graph, const clm__layer *layer)
{
  clm__json_begin_list(writer, "inbound_nodes");
  if (layer->op != NULL) {
    const bool listed = layer->op->inputs_most > 1;
    clm__json_begin_object(writer, NULL);
    clm__json_begin_list(writer, "args");
    if (listed) clm__json_begin_list(writer, NULL);
    for (int i = 0; i < layer->input_count; i++)
      put_tensor(writer, &graph->layers[layer->inputs[i]]);
    if (listed) clm__json_end_list(writer);
    clm__json_end_list(writer);
    clm__json_begin_object(writer, "kwargs");
    clm__json_end_object(writer);
    clm__json_end_object(writer);
  }
  clm__json_end_list(writer);
}

static void put_config(clm__json_writer *writer, const clm__graph *graph, const clm__layer *layer)
{
  if (layer->op == NULL) {
    put_shape(writer, "batch_shape", &graph->input_shape);
    clm__json_put_text(writer, "dtype", "float32");
    clm__json_put_bool(writer, "sparse", false);
    clm__json_put_text(writer, "name", layer->name);
    return;
  }
  clm__json_put_text(writer, "name", layer->name);
  clm__json_put_bool(writer, "trainable", layer->trainable);
  clm__json_put_text(writer, "dtype", "float32");
  clm__keras_write_fields(writer, layer->op->fields, layer->attributes);
}

/* Layers with weights are built from this; the others need no building. */
static void put_build_config(clm__json_writer *writer, const clm__graph *graph,
                             const clm__layer *layer)
{
  if (layer->spec.param_count == 0) return;
  clm__json_begin_object(writer, "build_config");
  put_shape(writer, "input_shape", &graph->layers[layer->inputs[0]].spec.output);
  clm__json_end_object(writer);
}

static void put_layer(clm__json_writer *writer, const clm__graph *graph, const clm__layer *layer)
{
  clm__json_begin_object(writer, NULL);
  clm__json_put_text(writer, "module", "keras.layers");
  clm__json_put_text(writer, "class_name", clm__graph_class(layer->op));
  clm__json_begin_object(writer, "config");
  put_config(writer, graph, layer);
  clm__json_end_object(writer);
  clm__json_put_null(writer, "registered_name");
  put_build_config(writer, graph, layer);
  if (!graph->is_sequential) {
    clm__json_put_text(writer, "name", layer->name);
    put_calls(writer, graph, layer);
  }
  clm__json_end_object(writer);
}

static void put_model_config(clm__json_writer *writer, const clm__graph *graph)
{
  clm__json_begin_object(writer, "config");
  clm__json_put_text(writer, "name", graph->name);
  clm__json_put_bool(writer, "trainable", true);
  if (graph->is_sequential) clm__json_put_text(writer, "dtype", "float32");
  clm__json_begin_list(writer, "layers");
  for (int i = 0; i < graph->layer_count; i++) put_layer(writer, graph, &graph->layers[i]);
  clm__json_end_list(writer);
  if (graph->is_sequential) {
    put_shape(writer, "build_input_shape", &graph->input_shape);
  } else {
    put_reference(writer, "input_layers", graph->layers[0].name);
    put_reference(writer, "output_layers", graph->layers[graph->output_layer].name);
  }
  clm__json_end_object(writer);
}

void clm__keras_write_model(clm__json_writer *writer, const clm__graph *graph,
                            const clm__compile *compile)
{
  const bool sequential = graph->is_sequential;
  clm__json_begin_object(writer, NULL);
  clm__json_put_text(writer, "module", sequential ? "keras" : "keras.src.models.functional");
  clm__json_put_text(writer, "class_name", sequential ? "Sequential" : "Functional");
  put_model_config(writer, graph);
  if (sequential)
    clm__json_put_null(writer, "registered_name");
  else
    clm__json_put_text(writer, "registered_name", "Functional");
  clm__json_begin_object(writer, "build_config");
  if (sequential)
    put_shape(writer, "input_shape", &graph->input_shape);
  else
    clm__json_put_null(writer, "input_shape");
  clm__json_end_object(writer);
  if (compile != NULL) {
    clm__json_begin_object(writer, "compile_config");
    clm__keras_write_compile(writer, compile);
    clm__json_end_object(writer);
  }
  clm__json_end_object(writer);
}
