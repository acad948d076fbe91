#include "exec/replica_private.h"

#include "base/mem.h"

#include <string.h>

/* ---- which node completes a part ---- */

static bool has_weight(const clm__gradient_part *part, const clm__weight *weight)
{
  return weight->trainable && weight->offset < part->first + part->count &&
         weight->offset + weight->elements > part->first;
}

static bool writes_part(const clm__replica *replica, const clm__node *node,
                        const clm__gradient_part *part)
{
  if (!node->has_backward || !node->need_dw) return false;
  for (int i = 0; i < node->spec.param_count; i++)
    if (has_weight(part, &replica->config.weights->items[node->weights[i]])) return true;
  return false;
}

/* Backward goes from the last node to the first. A part that no node writes comes first of all. */
static int find_last_writer(const clm__replica *replica, const clm__gradient_part *part)
{
  const clm__net *net = replica->train.net;
  for (int i = 0; i < net->node_count; i++)
    if (writes_part(replica, &net->nodes[i], part)) return i;
  return part->count > 0 ? net->node_count - 1 : 0;
}

clm_status clm__replica_parts_init(clm__replica *replica)
{
  const clm__replica_config *config = &replica->config;
  if (config->parts == NULL) return CLM_OK;
  CLM_ASSERT(config->part_count >= 1 && replica->train.net != NULL);
  const size_t count = (size_t)config->part_count;
  CLM_TRY(clm__mem_alloc(count, sizeof *replica->part_events, &replica->part_events));
  CLM_TRY(clm__mem_alloc(count, sizeof *replica->part_nodes, &replica->part_nodes));
  CLM_TRY(clm__mem_alloc(count, sizeof *replica->part_is_lent, &replica->part_is_lent));
  for (int i = 0; i < config->part_count; i++)
    replica->part_nodes[i] = find_last_writer(replica, &config->parts[i]);
  return CLM_OK;
}

static clm_status give_back(clm__replica *replica, int part)
{
  replica->part_is_lent[part] = false;
  return clm__event_give_back(replica->device, replica->params.gradients,
                              replica->config.parts[part].target);
}

void clm__replica_parts_fini(clm__replica *replica)
{
  bool in_flight = false;
  for (int i = 0; i < replica->config.part_count && replica->part_events != NULL; i++) {
    in_flight = in_flight || replica->part_events[i] != NULL;
    clm__event_release(&replica->part_events[i]);
    if (replica->part_is_lent != NULL && replica->part_is_lent[i] &&
        give_back(replica, i) != CLM_OK)
      clm_error_clear();
  }
  /* The device may still write to host memory that is about to be freed. */
  if (in_flight && clm__device_finish(replica->device) != CLM_OK) clm_error_clear();
  clm__mem_free(replica->part_events);
  clm__mem_free(replica->part_nodes);
  clm__mem_free(replica->part_is_lent);
}

/* ---- a step ---- */

void clm__replica_parts_begin(clm__replica *replica)
{
  if (replica->config.parts == NULL) return;
  for (int i = 0; i < replica->config.part_count; i++) clm__event_release(&replica->part_events[i]);
}

static bool is_lendable(const clm__replica *replica, const clm__gradient_part *part)
{
  const float *memory = replica->config.gradients;
  return memory != NULL && part->count > 0 && part->target == memory + part->first;
}

static clm_status bring(clm__replica *replica, int index)
{
  const clm__gradient_part *part = &replica->config.parts[index];
  const clm__event_read range = {.buffer = replica->params.gradients,
                                 .offset_bytes = part->first * sizeof(float),
                                 .target = part->target,
                                 .size_bytes = part->count * sizeof(float)};
  cl_event *event = &replica->part_events[index];
  if (!is_lendable(replica, part)) return clm__event_enqueue_read(replica->device, &range, event);
  CLM_TRY(clm__event_enqueue_lend(replica->device, &range, event));
  replica->part_is_lent[index] = true;
  return CLM_OK;
}

clm_status clm__replica_parts_follow(void *user, int node)
{
  clm__replica *replica = user;
  for (int i = 0; i < replica->config.part_count; i++) {
    if (replica->part_nodes[i] != node) continue;
    CLM_TRY(bring(replica, i));
    CLM_TRY(clm__event_flush(replica->device));
  }
  return CLM_OK;
}

clm_status clm__replica_parts_lend(clm__replica *replica)
{
  for (int i = 0; i < replica->config.part_count; i++)
    if (is_lendable(replica, &replica->config.parts[i])) CLM_TRY(bring(replica, i));
  return clm__event_flush(replica->device);
}

clm_status clm__replica_ask_part(clm__replica *replica, int part, bool *is_there)
{
  *is_there = replica->count_in_flight == 0;
  if (replica->part_events[part] == NULL) return CLM_OK;
  return clm__event_ask(replica->device, replica->part_events[part], is_there);
}

clm_status clm__replica_wait_part(clm__replica *replica, int part)
{
  if (replica->part_events[part] == NULL) return CLM_OK;
  return clm__event_wait(replica->device, replica->part_events[part]);
}

clm_status clm__replica_write_part(clm__replica *replica, int part, const float *values)
{
  const clm__gradient_part *place = &replica->config.parts[part];
  if (place->count == 0) return CLM_OK;
  if (replica->part_is_lent[part]) {
    if (values != place->target) memcpy(place->target, values, place->count * sizeof(float));
    return give_back(replica, part);
  }
  return clm__buffer_write(replica->device, replica->params.gradients, place->first * sizeof(float),
                           values, place->count * sizeof(float), false);
}
