#include "graph/weights.h"

#include "base/hash.h"
#include "base/mem.h"

#include <string.h>

static clm_status fill(clm__optim_state *state, const void *attributes)
{
  const clm__optim *optim = state->optim;
  CLM_ASSERT(optim->attribute_bytes >= sizeof(double));
  CLM_TRY(clm__mem_alloc(1, optim->attribute_bytes, &state->attributes));
  memcpy(state->attributes, attributes, optim->attribute_bytes);
  double learning_rate = 0.0;
  memcpy(&learning_rate, attributes, sizeof learning_rate);
  state->learning_rate = (float)learning_rate;
  state->slot_count = optim->slots(attributes, state->slot_names);
  for (int i = 0; i < state->slot_count; i++)
    CLM_TRY(clm__mem_alloc_aligned(state->elements * sizeof(float), &state->slots[i]));
  return CLM_OK;
}

clm_status clm__optim_state_create(const clm__optim *optim, const void *attributes,
                                   const clm__weights *weights, clm__optim_state **state)
{
  clm__optim_state *made = NULL;
  CLM_TRY(clm__mem_alloc(1, sizeof *made, &made));
  made->optim = optim;
  made->elements = weights->trainable_elements;
  const clm_status status = fill(made, attributes);
  if (status != CLM_OK) {
    clm__optim_state_destroy(made);
    return status;
  }
  *state = made;
  return CLM_OK;
}

void clm__optim_state_destroy(clm__optim_state *state)
{
  if (state == NULL) return;
  for (int i = 0; i < CLM__SLOTS_MAX; i++) clm__mem_free(state->slots[i]);
  clm__mem_free(state->attributes);
  clm__mem_free(state);
}

uint64_t clm__optim_state_digest(const clm__optim_state *state, const clm__weights *weights)
{
  uint64_t digest = clm__hash_text(CLM__HASH_START, state->optim->name);
  digest = clm__hash_bytes(digest, &state->iterations, sizeof state->iterations);
  digest = clm__hash_bytes(digest, &state->learning_rate, sizeof state->learning_rate);
  for (int slot = 0; slot < state->slot_count; slot++)
    for (int i = 0; i < weights->count; i++) {
      const clm__weight *weight = &weights->items[i];
      if (!weight->trainable) continue;
      digest = clm__hash_bytes(digest, state->slots[slot] + weight->offset,
                               weight->elements * sizeof(float));
    }
  return digest;
}
