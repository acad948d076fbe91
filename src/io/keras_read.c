#include "io/keras_config.h"

#include "io/keras_field.h"
#include "io/keras_functional.h"
#include "io/keras_layer.h"

#include <string.h>

/* Where a Sequential tells the shape of its input: the first layer, or the model. */
static clm_status read_sequential_shape(const clm__json_at *model, const clm__json_at *config,
                                        const clm__keras_layer *first, clm__shape *shape)
{
  if (first->is_input || clm__keras_has_shape(first)) return clm__keras_read_input(first, shape);
  const clm__json_at own = clm__json_find(config, "build_input_shape");
  const clm__json_at build = clm__json_find(model, "build_config");
  const clm__json_at other = clm__json_find(&build, "input_shape");
  if (clm__json_kind_of(&own) == CLM__JSON_LIST) return clm__keras_read_shape(&own, shape);
  if (clm__json_kind_of(&other) == CLM__JSON_LIST) return clm__keras_read_shape(&other, shape);
  return clm__json_fail(config, CLM_BAD_DATA,
                        "the model does not tell the shape of its input; build it before saving");
}

static clm_status add_sequential(const clm__json_at *layers, size_t first, clm__graph *graph)
{
  for (size_t i = first; i < clm__json_count(layers); i++) {
    clm__keras_layer layer;
    CLM_TRY(clm__keras_open_layer(layers, i, &layer));
    const int input = graph->output_layer;
    CLM_TRY(clm__keras_add_layer(&layer, graph, &input, 1));
  }
  return CLM_OK;
}

static clm_status read_sequential(const clm__json_at *model, const clm__json_at *config,
                                  const char *name, clm__graph **graph)
{
  const clm__json_at layers = clm__json_find(config, "layers");
  clm__keras_layer first;
  clm__shape shape;
  clm__graph *made = NULL;
  CLM_TRY(clm__keras_open_layer(&layers, 0, &first));
  CLM_TRY(read_sequential_shape(model, config, &first, &shape));
  const char *input_name = first.is_input && first.name != NULL ? first.name : "input_layer";
  CLM_TRY(clm__graph_create(name, true, input_name, shape, &made));
  const clm_status status = add_sequential(&layers, first.is_input ? 1 : 0, made);
  if (status != CLM_OK) {
    clm__graph_destroy(made);
    return status;
  }
  *graph = made;
  return CLM_OK;
}

clm_status clm__keras_read_model(const clm__json_at *model, clm__graph **graph)
{
  const char *class_name = NULL;
  const char *name = NULL;
  clm__json_at config;
  CLM_TRY(clm__json_require(model, CLM__JSON_OBJECT));
  CLM_TRY(clm__keras_get_class(model, &class_name, &config));
  CLM_TRY(clm__json_require(&config, CLM__JSON_OBJECT));
  const clm__json_at name_at = clm__json_find(&config, "name");
  CLM_TRY(clm__json_get_text(&name_at, &name));
  const clm__json_at layers = clm__json_find(&config, "layers");
  CLM_TRY(clm__json_require(&layers, CLM__JSON_LIST));
  const size_t count = clm__json_count(&layers);
  if (count < 1 || count > CLM__LAYERS_MAX)
    return clm__json_fail(&layers, CLM_UNSUPPORTED, "%zu layers are not supported, only 1 to %d",
                          count, CLM__LAYERS_MAX);
  if (strcmp(class_name, "Sequential") == 0) return read_sequential(model, &config, name, graph);
  if (strcmp(class_name, "Functional") == 0 || strcmp(class_name, "Model") == 0)
    return clm__keras_read_functional(&config, name, graph);
  return clm__json_fail(model, CLM_UNSUPPORTED,
                        "a model of class %.80s is not supported, only Sequential and Functional",
                        class_name);
}
