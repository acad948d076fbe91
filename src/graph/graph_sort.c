#include "graph/graph.h"

#include "base/mem.h"
#include "base/num.h"

#include <string.h>

/* The walk from the output along the inputs, without recursion: a model may be thousands of layers
 * deep. All arrays have one entry a layer. */
typedef struct graph_walk {
  int *block;
  int *entered;  /* order of first entry, -1: not reached */
  int *finished; /* layers in the order in which the walk left them */
  int *depth;    /* longest distance to the output */
  int *path;     /* layers on the way to the current one */
  int *next;     /* which input of them comes next */
  int finished_count;
} graph_walk;

static clm_status walk_init(graph_walk *walk, int layer_count)
{
  const size_t count = (size_t)layer_count;
  CLM_TRY(clm__mem_alloc(6 * count, sizeof(int), &walk->block));
  int **arrays[] = {&walk->entered, &walk->finished, &walk->depth, &walk->path, &walk->next};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
    *arrays[i] = walk->block + i * count;
  for (size_t i = 0; i < count; i++) walk->entered[i] = -1;
  return CLM_OK;
}

static void visit_all(const clm__graph *graph, graph_walk *walk)
{
  int entered_count = 0;
  int length = 0;
  walk->path[length++] = graph->output_layer;
  walk->entered[graph->output_layer] = entered_count++;
  while (length > 0) {
    const int index = walk->path[length - 1];
    const clm__layer *layer = &graph->layers[index];
    if (walk->next[index] == layer->input_count) {
      walk->finished[walk->finished_count++] = index;
      length--;
      continue;
    }
    const int input = layer->inputs[walk->next[index]++];
    if (walk->entered[input] >= 0) continue;
    walk->entered[input] = entered_count++;
    walk->path[length++] = input;
  }
}

static void find_depths(const clm__graph *graph, graph_walk *walk)
{
  for (int i = walk->finished_count - 1; i >= 0; i--) {
    const int index = walk->finished[i];
    const clm__layer *layer = &graph->layers[index];
    for (int k = 0; k < layer->input_count; k++) {
      int *depth = &walk->depth[layer->inputs[k]];
      *depth = clm__max_int(*depth, walk->depth[index] + 1);
    }
  }
}

/* Whether layer a stands before layer b. */
static bool is_before(const graph_walk *walk, int a, int b)
{
  const bool reached_a = walk->entered[a] >= 0;
  if (reached_a != (walk->entered[b] >= 0)) return reached_a;
  if (!reached_a) return a < b;
  if (walk->depth[a] != walk->depth[b]) return walk->depth[a] > walk->depth[b];
  return walk->entered[a] < walk->entered[b];
}

/* Merges the sorted halves of order[0..count); `spare` is as large. */
static void merge_sort(const graph_walk *walk, int *order, int *spare, int count)
{
  for (int width = 1; width < count; width *= 2) {
    for (int start = 0; start < count; start += 2 * width) {
      const int middle = clm__min_int(start + width, count);
      const int end = clm__min_int(start + 2 * width, count);
      int left = start;
      int right = middle;
      for (int i = start; i < end; i++) {
        const bool take_right =
            left == middle || (right < end && is_before(walk, order[right], order[left]));
        spare[i] = take_right ? order[right++] : order[left++];
      }
    }
    memcpy(order, spare, (size_t)count * sizeof *order);
  }
}

/* layers[i] becomes what layers[order[i]] was. */
static clm_status reorder(clm__graph *graph, const int *order, int *place)
{
  clm__layer *layers = NULL;
  CLM_TRY(clm__mem_alloc((size_t)graph->layer_count, sizeof *layers, &layers));
  for (int i = 0; i < graph->layer_count; i++) {
    layers[i] = graph->layers[order[i]];
    place[order[i]] = i;
  }
  for (int i = 0; i < graph->layer_count; i++)
    for (int k = 0; k < layers[i].input_count; k++)
      layers[i].inputs[k] = place[layers[i].inputs[k]];
  graph->output_layer = place[graph->output_layer];
  memcpy(graph->layers, layers, (size_t)graph->layer_count * sizeof *layers);
  clm__mem_free(layers);
  return CLM_OK;
}

clm_status clm__graph_sort(clm__graph *graph)
{
  if (graph->is_sequential) return CLM_OK;
  graph_walk walk = {0};
  CLM_TRY(walk_init(&walk, graph->layer_count));
  visit_all(graph, &walk);
  find_depths(graph, &walk);
  int *order = walk.path;
  for (int i = 0; i < graph->layer_count; i++) order[i] = i;
  merge_sort(&walk, order, walk.next, graph->layer_count);
  const clm_status status = reorder(graph, order, walk.next);
  clm__mem_free(walk.block);
  return status;
}
