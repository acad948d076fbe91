#include "graph/net_build.h"

#include "base/mem.h"
#include "op/registry.h"

#include <string.h>

/* What one search for a pair works with. */
typedef struct pair_fuser {
  clm__net *net;
  const clm__net_options *options;
  int *consumers; /* [node_count + 1] how many inputs read each value */
} pair_fuser;

static int count_params(const clm__node *node) { return node->spec.param_count; }

/* Whether the two nodes may become one at all, whatever their ops. */
static bool is_pair(const pair_fuser *fuser, const clm__node *producer, const clm__node *consumer)
{
  if (consumer->op == NULL || consumer->input_count != 1) return false;
  if (fuser->consumers[consumer->inputs[0]] != 1) return false;
  const bool both_own = count_params(producer) > 0 && count_params(consumer) > 0;
  return !both_own || producer->frozen == consumer->frozen;
}

/* The fused node takes over the params of both, the producer's in front. */
static clm_status take_params(clm__node *fused, const clm__node *producer,
                              const clm__node *consumer)
{
  const clm__node *owner = count_params(producer) > 0 ? producer : consumer;
  fused->layer = owner->layer;
  fused->frozen = owner->frozen;
  CLM_REQUIRE(fused->spec.param_count == count_params(producer) + count_params(consumer),
              CLM_INTERNAL, "the fused op %s has %d params, not those of %s and %s",
              fused->op->name, fused->spec.param_count, producer->op->name, consumer->op->name);
  for (int i = 0; i < CLM__PARAMS_MAX; i++) fused->weights[i] = -1;
  for (int i = 0; i < count_params(producer); i++) fused->weights[i] = producer->weights[i];
  for (int i = 0; i < count_params(consumer); i++)
    fused->weights[count_params(producer) + i] = consumer->weights[i];
  return CLM_OK;
}

/* Fills `fused`, whose attributes are allocated; *fits false where the pair does not fit. */
static clm_status build(const pair_fuser *fuser, const clm__fusion *fusion, clm__node *fused,
                        const clm__node *producer, const clm__node *consumer, bool *fits)
{
  clm__shape inputs[CLM__INPUTS_MAX] = {{0}};
  for (int i = 0; i < producer->input_count; i++)
    inputs[i] = fuser->net->value_shapes[producer->inputs[i]];
  *fits = fusion->merge(producer->attributes, consumer->attributes, inputs, fused->attributes);
  if (!*fits) return CLM_OK;
  const clm__net_options *options = fuser->options;
  *fits = options->accepts == NULL ||
          options->accepts(options->accepts_user, fused->op, fused->attributes, inputs);
  if (!*fits) return CLM_OK;
  memcpy(fused->inputs, producer->inputs, sizeof fused->inputs);
  fused->input_count = producer->input_count;
  CLM_TRY(fused->op->infer(fused->attributes, inputs, fused->input_count, &fused->spec));
  CLM_REQUIRE(clm__shape_equal(&fused->spec.output, &consumer->spec.output), CLM_INTERNAL,
              "the fused op %s has another output than %s", fused->op->name, consumer->op->name);
  return take_params(fused, producer, consumer);
}

/* Tries one rule on one consumer; where it fits, the consumer becomes the fused node and the
 * producer is emptied. */
static clm_status try_rule(const pair_fuser *fuser, const clm__op *op, const clm__fusion *fusion,
                           clm__node *consumer, bool *fused)
{
  if (strcmp(fusion->consumer, consumer->op->name) != 0) return CLM_OK;
  if (consumer->inputs[0] == 0) return CLM_OK;
  clm__node *producer = &fuser->net->nodes[consumer->inputs[0] - 1];
  if (strcmp(fusion->producer, producer->op->name) != 0) return CLM_OK;
  if (!is_pair(fuser, producer, consumer)) return CLM_OK;
  clm__node node = {.op = op};
  CLM_TRY(clm__mem_alloc(1, op->attribute_bytes, &node.attributes));
  const clm_status status = build(fuser, fusion, &node, producer, consumer, fused);
  if (status != CLM_OK || !*fused) {
    clm__net_fini_node(&node);
    return status;
  }
  clm__net_fini_node(producer);
  clm__net_fini_node(consumer);
  *consumer = node;
  return CLM_OK;
}

/* Goes through all rules for one consumer until one fits. */
static clm_status try_consumer(const pair_fuser *fuser, clm__node *consumer, bool *fused)
{
  for (const clm__op *const *op = clm__registry_ops(); *op != NULL; op++)
    for (const clm__fusion *fusion = (*op)->fusions; fusion != NULL && fusion->producer != NULL;
         fusion++) {
      CLM_TRY(try_rule(fuser, *op, fusion, consumer, fused));
      if (*fused) return CLM_OK;
    }
  return CLM_OK;
}

static clm_status fuse_until_stable(const pair_fuser *fuser)
{
  const clm__net *net = fuser->net;
  bool changed = true;
  while (changed) {
    changed = false;
    for (int k = 0; k < net->node_count; k++) {
      clm__node *node = &net->nodes[k];
      bool fused = false;
      if (node->op != NULL) CLM_TRY(try_consumer(fuser, node, &fused));
      changed = changed || fused;
    }
  }
  return CLM_OK;
}

clm_status clm__net_fuse(clm__net *net, const clm__net_options *options)
{
  if (options->plain) return CLM_OK;
  pair_fuser fuser = {.net = net, .options = options};
  CLM_TRY(clm__mem_alloc((size_t)net->node_count + 1, sizeof *fuser.consumers, &fuser.consumers));
  for (int k = 0; k < net->node_count; k++)
    for (int i = 0; i < net->nodes[k].input_count; i++) fuser.consumers[net->nodes[k].inputs[i]]++;
  const clm_status status = fuse_until_stable(&fuser);
  if (status == CLM_OK) clm__net_compact(net, fuser.consumers);
  clm__mem_free(fuser.consumers);
  return status;
}
