#include "io/keras_layer.h"

#include "base/mem.h"
#include "io/keras_field.h"
#include "op/registry.h"

#include <limits.h>
#include <string.h>

static bool is_one_of(const char *text, const char *const *texts)
{
  for (; *texts != NULL; texts++)
    if (strcmp(text, *texts) == 0) return true;
  return false;
}

/* A class is told by its name alone, but these are no layers although some are called like one. */
static clm_status check_module(const clm__keras_layer *layer, const char *name)
{
  static const char *const models[] = {"Functional", "Sequential", "Model", NULL};
  const clm__json_at at = clm__json_find(&layer->entry, "module");
  const char *module = "keras.layers";
  if (is_one_of(layer->class_name, models))
    return clm__json_fail(&layer->entry, CLM_UNSUPPORTED,
                          "%.80s is a model within the model (%s), which is not supported", name,
                          layer->class_name);
  if (clm__json_kind_of(&at) == CLM__JSON_TEXT) CLM_TRY(clm__json_get_text(&at, &module));
  if (strstr(module, "keras") != module)
    return clm__json_fail(&layer->entry, CLM_UNSUPPORTED,
                          "layer %.80s is of a class of its author, %.80s, which cannot be run",
                          name, layer->class_name);
  if (strstr(module, ".ops") != NULL)
    return clm__json_fail(&layer->entry, CLM_UNSUPPORTED,
                          "%.80s is an operation (%.80s), no layer; only layers are supported",
                          name, layer->class_name);
  return CLM_OK;
}

clm_status clm__keras_open_layer(const clm__json_at *list, size_t index, clm__keras_layer *layer)
{
  *layer = (clm__keras_layer){.list = *list};
  layer->entry = clm__json_item(&layer->list, index);
  CLM_TRY(clm__json_require(&layer->entry, CLM__JSON_OBJECT));
  CLM_TRY(clm__keras_get_class(&layer->entry, &layer->class_name, &layer->config));
  CLM_TRY(clm__json_require(&layer->config, CLM__JSON_OBJECT));
  layer->is_input = strcmp(layer->class_name, "InputLayer") == 0;
  clm__json_at name = clm__json_find(&layer->entry, "name");
  if (name.value == NULL) name = clm__json_find(&layer->config, "name");
  if (name.value != NULL) CLM_TRY(clm__json_get_text(&name, &layer->name));
  return check_module(layer, layer->name != NULL ? layer->name : "a layer");
}

static clm__json_at find_shape(const clm__keras_layer *layer)
{
  const clm__json_at shape = clm__json_find(&layer->config, "batch_shape");
  return shape.value != NULL ? shape : clm__json_find(&layer->config, "batch_input_shape");
}

bool clm__keras_has_shape(const clm__keras_layer *layer)
{
  const clm__json_at shape = find_shape(layer);
  return clm__json_kind_of(&shape) == CLM__JSON_LIST;
}

clm_status clm__keras_read_shape(const clm__json_at *at, clm__shape *shape)
{
  clm__shape read = {0};
  CLM_TRY(clm__json_require(at, CLM__JSON_LIST));
  const size_t count = clm__json_count(at);
  if (count < 2 || count > CLM__RANK_MAX + 1)
    return clm__json_fail(at, CLM_UNSUPPORTED,
                          "an input of %zu dimensions is not supported, images have 4 with the "
                          "batch",
                          count);
  for (size_t i = 1; i < count; i++) {
    const clm__json_at item = clm__json_item(at, i);
    int64_t size = 0;
    if (clm__json_kind_of(&item) == CLM__JSON_NULL)
      return clm__json_fail(&item, CLM_UNSUPPORTED,
                            "the size of the model's input is not fixed; build it with a full "
                            "input shape");
    CLM_TRY(clm__json_get_int(&item, 1, INT_MAX, &size));
    read.dims[read.rank++] = (int)size;
  }
  *shape = read;
  return CLM_OK;
}

static clm_status check_input_config(const clm__json_at *config)
{
  static const char *const known[] = {"name",  "batch_shape", "batch_input_shape",
                                      "dtype", "trainable",   NULL};
  const clm__json_at dtype = clm__json_find(config, "dtype");
  CLM_TRY(clm__keras_check_dtype(&dtype));
  return clm__keras_check_keys(config, known, (const clm__field *const[]){NULL});
}

clm_status clm__keras_read_input(const clm__keras_layer *layer, clm__shape *shape)
{
  if (layer->is_input) CLM_TRY(check_input_config(&layer->config));
  const clm__json_at at = find_shape(layer);
  return clm__keras_read_shape(&at, shape);
}

/* The attributes of a layer, its common keys apart. */
static clm_status read_attributes(const clm__json_at *config, const clm__op *op, bool *trainable,
                                  void *attributes)
{
  static const char *const known[] = {"name",        "trainable",         "dtype",
                                      "batch_shape", "batch_input_shape", NULL};
  const clm__json_at dtype = clm__json_find(config, "dtype");
  const clm__json_at trained = clm__json_find(config, "trainable");
  CLM_TRY(clm__keras_check_dtype(&dtype));
  if (trained.value != NULL) CLM_TRY(clm__json_get_bool(&trained, trainable));
  CLM_TRY(clm__keras_check_keys(config, known, (const clm__field *const[]){op->fields, NULL}));
  return clm__keras_read_fields(config, op->fields, attributes);
}

static clm_status find_class(const clm__keras_layer *layer, const clm__op **op)
{
  const clm__op *found = NULL;
  CLM_TRY(clm__registry_find_op(layer->class_name, &found));
  CLM_REQUIRE(found->keras_class != NULL && strcmp(found->keras_class, layer->class_name) == 0,
              CLM_UNSUPPORTED, "layer class %.80s is not supported", layer->class_name);
  *op = found;
  return CLM_OK;
}

static clm_status add(const clm__keras_layer *layer, clm__graph *graph, const int *inputs,
                      int input_count)
{
  const clm__op *op = NULL;
  void *attributes = NULL;
  bool trainable = true;
  const clm_status found = find_class(layer, &op);
  if (found != CLM_OK)
    return clm__error_prefix(found, "layer %.80s: ", layer->name != NULL ? layer->name : "?");
  CLM_TRY(clm__mem_alloc(1, op->attribute_bytes, &attributes));
  clm_status status = read_attributes(&layer->config, op, &trainable, attributes);
  if (status != CLM_OK)
    (void)clm__error_prefix(status, "layer %.80s (%s): ", layer->name != NULL ? layer->name : "?",
                            layer->class_name);
  else
    status = clm__graph_add(graph, op, layer->name, attributes, inputs, input_count);
  if (status == CLM_OK) graph->layers[graph->output_layer].trainable = trainable;
  clm__mem_free(attributes);
  return status;
}

clm_status clm__keras_add_layer(const clm__keras_layer *layer, clm__graph *graph, const int *inputs,
                                int input_count)
{
  const clm_status status = add(layer, graph, inputs, input_count);
  return status == CLM_OK ? CLM_OK : clm__error_pass(status, __FILE__, __LINE__, __func__);
}
