#include "io/keras_weights.h"

#include "base/mem.h"
#include "base/str.h"

#include <stdio.h>
#include <string.h>

#define PATH_SIZE 256

/* "/layers" of Keras 3; the name that Keras 2.12 to 2.15 gave it. */
static const char *const containers[] = {"/layers", "/_layer_checkpoint_dependencies"};

static clm_status make_group_name(const clm__graph *graph, int index, char **name)
{
  const clm__op *op = graph->layers[index].op;
  int before = 0;
  for (int i = graph->is_sequential ? 1 : 0; i < index; i++) before += graph->layers[i].op == op;
  char *snake = NULL;
  clm__str built = {0};
  CLM_TRY(clm__graph_snake_case(clm__graph_class(op), &snake));
  clm_status status = clm__str_add(&built, "%s", snake);
  if (status == CLM_OK && before > 0) status = clm__str_add(&built, "_%d", before);
  if (status == CLM_OK) status = clm__str_take(&built, name);
  clm__str_fini(&built);
  clm__mem_free(snake);
  return status;
}

clm_status clm__keras_group_names(const clm__graph *graph, char **names)
{
  clm_status status = CLM_OK;
  for (int i = 0; i < graph->layer_count; i++) names[i] = NULL;
  for (int i = graph->is_sequential ? 1 : 0; i < graph->layer_count && status == CLM_OK; i++)
    status = make_group_name(graph, i, &names[i]);
  if (status == CLM_OK) return CLM_OK;
  for (int i = 0; i < graph->layer_count; i++) {
    clm__mem_free(names[i]);
    names[i] = NULL;
  }
  return status;
}

typedef struct group_list {
  char **names;
  int count;
} group_list;

static clm_status group_list_init(group_list *list, const clm__graph *graph)
{
  CLM_TRY(clm__mem_alloc((size_t)graph->layer_count, sizeof *list->names, &list->names));
  list->count = graph->layer_count;
  return clm__keras_group_names(graph, list->names);
}

static void group_list_fini(group_list *list)
{
  for (int i = 0; i < list->count; i++) clm__mem_free(list->names[i]);
  clm__mem_free(list->names);
}

static clm_status read_layer(const clm__hdf5 *file, const char *group, const clm__layer *layer,
                             int first, clm__weights *weights)
{
  char path[PATH_SIZE];
  const int wanted = layer->spec.param_count;
  const size_t found = clm__hdf5_count(file, group);
  CLM_REQUIRE(found == (size_t)wanted, CLM_BAD_DATA, "it has %d weights, the file holds %zu in %s",
              wanted, found, group);
  for (int i = 0; i < wanted; i++) {
    const clm__weight *weight = &weights->items[first + i];
    (void)snprintf(path, sizeof path, "%s/%d", group, i);
    CLM_TRY(clm__hdf5_read_floats(file, path, &weight->shape, weights->values + weight->offset));
  }
  return CLM_OK;
}

static clm_status read_layers(const clm__hdf5 *file, const clm__graph *graph,
                              const group_list *groups, clm__weights *weights)
{
  char path[PATH_SIZE];
  const char *container = containers[clm__hdf5_has(file, containers[0]) ? 0 : 1];
  CLM_REQUIRE(clm__hdf5_has(file, container), CLM_BAD_DATA,
              "the file of weights has no group /layers");
  int first = 0;
  for (int i = 0; i < graph->layer_count; i++) {
    const clm__layer *layer = &graph->layers[i];
    if (layer->spec.param_count == 0) continue;
    (void)snprintf(path, sizeof path, "%s/%s/vars", container, groups->names[i]);
    const clm_status status = read_layer(file, path, layer, first, weights);
    if (status != CLM_OK) return clm__error_prefix(status, "layer %.80s: ", layer->name);
    first += layer->spec.param_count;
  }
  return CLM_OK;
}

clm_status clm__keras_read_weights(const clm__hdf5 *file, const clm__graph *graph,
                                   clm__weights *weights)
{
  group_list groups = {0};
  clm_status status = group_list_init(&groups, graph);
  if (status == CLM_OK) status = read_layers(file, graph, &groups, weights);
  group_list_fini(&groups);
  return status;
}

static clm_status write_layer(clm__hdf5 *file, const char *group, const clm__layer *layer,
                              int first, const clm__weights *weights)
{
  char path[PATH_SIZE];
  (void)snprintf(path, sizeof path, "/layers/%s/vars", group);
  CLM_TRY(clm__hdf5_make_group(file, path, layer->name));
  for (int i = 0; i < layer->spec.param_count; i++) {
    const clm__weight *weight = &weights->items[first + i];
    (void)snprintf(path, sizeof path, "/layers/%s/vars/%d", group, i);
    CLM_TRY(clm__hdf5_write_floats(file, path, &weight->shape, weights->values + weight->offset));
  }
  return CLM_OK;
}

static clm_status write_layers(clm__hdf5 *file, const clm__graph *graph, const group_list *groups,
                               const clm__weights *weights)
{
  int first = 0;
  CLM_TRY(clm__hdf5_make_group(file, "/vars", graph->name));
  for (int i = 0; i < graph->layer_count; i++) {
    const clm__layer *layer = &graph->layers[i];
    if (groups->names[i] == NULL) continue;
    CLM_TRY(write_layer(file, groups->names[i], layer, first, weights));
    first += layer->spec.param_count;
  }
  return CLM_OK;
}

clm_status clm__keras_write_weights(clm__hdf5 *file, const clm__graph *graph,
                                    const clm__weights *weights)
{
  group_list groups = {0};
  clm_status status = group_list_init(&groups, graph);
  if (status == CLM_OK) status = write_layers(file, graph, &groups, weights);
  group_list_fini(&groups);
  return status;
}
