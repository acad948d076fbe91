#include "graph/weights.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/num.h"

#include <string.h>

/* Gives the next place to the weights that are trained, or to the others. */
static clm_status place(clm__weights *weights, bool trainable)
{
  for (int i = 0; i < weights->count; i++) {
    clm__weight *weight = &weights->items[i];
    if (weight->trainable != trainable) continue;
    CLM_REQUIRE(weight->elements < SIZE_MAX / 64 &&
                    weights->elements < SIZE_MAX / 64 - weight->elements,
                CLM_BAD_DATA, "the model has more weights than any machine can hold");
    weight->offset = weights->elements;
    weights->elements += clm__round_up(weight->elements, CLM__WEIGHT_ALIGN);
  }
  return CLM_OK;
}

static void list_items(clm__weights *weights, const clm__graph *graph)
{
  for (int i = 0; i < graph->layer_count; i++) {
    const clm__layer *layer = &graph->layers[i];
    for (int k = 0; k < layer->spec.param_count; k++) {
      const clm__param_spec *param = &layer->spec.params[k];
      weights->items[weights->count++] = (clm__weight){
          .layer = i,
          .param = k,
          .name = param->name,
          .shape = param->shape,
          .initializer = param->initializer,
          .trainable = layer->trainable && param->trainable,
          .elements = clm__shape_elements(&param->shape),
      };
    }
  }
}

static clm_status lay_out(clm__weights *weights, const clm__graph *graph)
{
  size_t count = 0;
  for (int i = 0; i < graph->layer_count; i++) count += (size_t)graph->layers[i].spec.param_count;
  CLM_TRY(clm__mem_alloc(count, sizeof *weights->items, &weights->items));
  list_items(weights, graph);
  CLM_TRY(place(weights, true));
  weights->trainable_elements = weights->elements;
  return place(weights, false);
}

clm_status clm__weights_create_bounded(const clm__graph *graph, size_t limit_bytes,
                                       clm__weights **weights)
{
  clm__weights *made = NULL;
  CLM_TRY(clm__mem_alloc(1, sizeof *made, &made));
  clm_status status = CLM_OK;
  CLM_TRY_TO(failed, status, lay_out(made, graph));
  const size_t count =
      clm__weights_count_params(made, true) + clm__weights_count_params(made, false);
  if (count > limit_bytes / sizeof(float))
    CLM_FAIL_TO(failed, status, CLM_BAD_DATA, "the model has %zu weights, the file at most %zu",
                count, limit_bytes / sizeof(float));
  CLM_TRY_TO(failed, status, clm__mem_alloc_aligned(made->elements * sizeof(float), &made->values));
  *weights = made;
  return CLM_OK;
failed:
  clm__weights_destroy(made);
  return status;
}

clm_status clm__weights_create(const clm__graph *graph, clm__weights **weights)
{
  return clm__weights_create_bounded(graph, SIZE_MAX, weights);
}

void clm__weights_destroy(clm__weights *weights)
{
  if (weights == NULL) return;
  clm__mem_free(weights->items);
  clm__mem_free(weights->values);
  clm__mem_free(weights);
}

void clm__weights_initialize(clm__weights *weights, uint64_t seed)
{
  for (int i = 0; i < weights->count; i++) {
    const clm__weight *weight = &weights->items[i];
    clm__initializer_fill(&weight->initializer, &weight->shape, seed, (uint32_t)i,
                          weights->values + weight->offset);
  }
}

int clm__weights_find(const clm__weights *weights, int layer, int param)
{
  for (int i = 0; i < weights->count; i++)
    if (weights->items[i].layer == layer && weights->items[i].param == param) return i;
  return -1;
}

size_t clm__weights_count_params(const clm__weights *weights, bool trainable)
{
  size_t count = 0;
  for (int i = 0; i < weights->count; i++)
    if (weights->items[i].trainable == trainable) count += weights->items[i].elements;
  return count;
}

uint64_t clm__weights_digest(const clm__weights *weights)
{
  uint64_t digest = CLM__HASH_START;
  for (int i = 0; i < weights->count; i++) {
    const clm__weight *weight = &weights->items[i];
    digest =
        clm__hash_bytes(digest, weights->values + weight->offset, weight->elements * sizeof(float));
  }
  return digest;
}
