#include "base/mem.h"
#include "base/num.h"
#include "graph/plan.h"

#include <string.h>

/* Times: node k of n runs forward at k and backward at 2n-1-k; the loss stands between. */

/* The requests of a net, kind by kind in one array, as the places of clm__net_plan are. */
typedef struct net_wishes {
  const clm__net *net;
  size_t batch;
  clm__plan_request *all; /* [count] */
  size_t count;
  clm__plan_request *values;
  clm__plan_request *gradients;
  clm__plan_request *partials;
  clm__plan_request *saved;
  clm__plan_request *workspace;
  bool overflow;
} net_wishes;

static int end_time(const clm__net *net)
{
  return net->training ? 2 * net->node_count - 1 : net->node_count - 1;
}

static int backward_time(const clm__net *net, int node) { return 2 * net->node_count - 1 - node; }

static size_t value_bytes(net_wishes *wishes, int value)
{
  const size_t elements = clm__shape_elements(&wishes->net->value_shapes[value]);
  size_t bytes = 0;
  if (!clm__multiply_size(elements, sizeof(float), &bytes) ||
      !clm__multiply_size(bytes, wishes->batch, &bytes))
    wishes->overflow = true;
  return bytes;
}

static void extend(clm__plan_request *request, int time)
{
  request->first = clm__min_int(request->first, time);
  request->last = clm__max_int(request->last, time);
}

/* Asks for a block at one time, or lets the block that is asked for live then too. */
static void want(clm__plan_request *request, size_t size_bytes, int time)
{
  if (request->size_bytes == 0)
    *request = (clm__plan_request){.size_bytes = size_bytes, .first = time, .last = time};
  else
    extend(request, time);
}

static void wish_values(net_wishes *wishes)
{
  const clm__net *net = wishes->net;
  want(&wishes->values[0], value_bytes(wishes, 0), 0);
  extend(&wishes->values[0], end_time(net));
  for (int k = 0; k < net->node_count; k++) {
    const clm__node *node = &net->nodes[k];
    if (node->op->is_view) continue;
    want(&wishes->values[k + 1], value_bytes(wishes, k + 1), k);
    for (int i = 0; i < node->input_count; i++) {
      clm__plan_request *input = &wishes->values[clm__net_root_value(net, node->inputs[i])];
      extend(input, k);
      if (node->has_backward && node->spec.backward_reads_x) extend(input, backward_time(net, k));
    }
    if (node->has_backward && node->spec.backward_reads_y)
      extend(&wishes->values[k + 1], backward_time(net, k));
  }
  extend(&wishes->values[clm__net_root_value(net, net->node_count)], end_time(net));
}

static void wish_gradients(net_wishes *wishes)
{
  const clm__net *net = wishes->net;
  const int count = net->node_count;
  const int last = clm__net_root_value(net, count);
  if (last > 0 && net->nodes[last - 1].has_backward)
    want(&wishes->gradients[last], value_bytes(wishes, last), count - 1);
  for (int k = count - 1; k >= 0; k--) {
    const clm__node *node = &net->nodes[k];
    if (node->op->is_view || !node->has_backward) continue;
    want(&wishes->gradients[k + 1], value_bytes(wishes, k + 1), backward_time(net, k));
    for (int i = 0; i < node->input_count; i++) {
      if ((node->need_dx >> i & 1U) == 0) continue;
      const int root = clm__net_root_value(net, node->inputs[i]);
      want(&wishes->gradients[root], value_bytes(wishes, root), backward_time(net, k));
      if ((node->adds_dx >> i & 1U) != 0)
        want(&wishes->partials[k * CLM__INPUTS_MAX + i], value_bytes(wishes, root),
             backward_time(net, k));
    }
  }
}

static void wish_saved(net_wishes *wishes)
{
  const clm__net *net = wishes->net;
  for (int k = 0; k < net->node_count; k++) {
    const clm__node *node = &net->nodes[k];
    size_t bytes = 0;
    if (!clm__multiply_size(node->spec.saved_bytes_per_image, wishes->batch, &bytes) ||
        __builtin_add_overflow(bytes, node->spec.saved_bytes, &bytes))
      wishes->overflow = true;
    if (bytes == 0) continue;
    want(&wishes->saved[k], bytes, k);
    if (node->has_backward) extend(&wishes->saved[k], backward_time(net, k));
  }
}

static clm_status wish(net_wishes *wishes, size_t workspace_bytes)
{
  const size_t nodes = (size_t)wishes->net->node_count;
  const size_t values = nodes + 1;
  wishes->count = 2 * values + nodes * CLM__INPUTS_MAX + nodes + 1;
  CLM_TRY(clm__mem_alloc(wishes->count, sizeof *wishes->all, &wishes->all));
  wishes->values = wishes->all;
  wishes->gradients = wishes->values + values;
  wishes->partials = wishes->gradients + values;
  wishes->saved = wishes->partials + nodes * CLM__INPUTS_MAX;
  wishes->workspace = wishes->saved + nodes;
  wish_values(wishes);
  if (wishes->net->training) {
    wish_gradients(wishes);
    wish_saved(wishes);
  }
  want(wishes->workspace, workspace_bytes, 0);
  extend(wishes->workspace, end_time(wishes->net));
  CLM_REQUIRE(!wishes->overflow, CLM_DEVICE_MEMORY,
              "a batch of %zu images needs more memory than there are addresses", wishes->batch);
  return CLM_OK;
}

/* Names the block that no buffer can hold, in words of the model. */
static clm_status check_sizes(const net_wishes *wishes, const clm__plan_limits *limits)
{
  const clm__net *net = wishes->net;
  const size_t most = limits->arena_max_bytes;
  CLM_REQUIRE(wishes->workspace->size_bytes <= most, CLM_DEVICE_MEMORY,
              "the workspace for a batch of %zu images needs %zu bytes, a buffer of the device "
              "holds at most %zu: use a smaller batch",
              wishes->batch, wishes->workspace->size_bytes, most);
  for (int v = 0; v <= net->node_count; v++) {
    const size_t saved = v > 0 ? wishes->saved[v - 1].size_bytes : 0;
    const size_t bytes = clm__max_size(wishes->values[v].size_bytes, saved);
    CLM_REQUIRE(bytes <= most, CLM_DEVICE_MEMORY,
                "layer %s needs %zu bytes for a batch of %zu images, a buffer of the device holds "
                "at most %zu: use a smaller batch",
                net->graph->layers[v > 0 ? net->nodes[v - 1].layer : 0].name, bytes, wishes->batch,
                most);
  }
  return CLM_OK;
}

/* Views lie where their root lies. */
static void share_places(const clm__net *net, clm__net_plan *plan)
{
  for (int v = 1; v <= net->node_count; v++) {
    const int root = clm__net_root_value(net, v);
    plan->values[v] = plan->values[root];
    plan->gradients[v] = plan->gradients[root];
  }
}

static clm_status fill(clm__net_plan *plan, const net_wishes *wishes,
                       const clm__plan_limits *limits)
{
  CLM_TRY(check_sizes(wishes, limits));
  /* `values` is the head of all places, in the order of the wishes. */
  CLM_TRY(clm__mem_alloc(wishes->count, sizeof *plan->values, &plan->values));
  plan->gradients = plan->values + (wishes->gradients - wishes->all);
  plan->partials = plan->values + (wishes->partials - wishes->all);
  plan->saved = plan->values + (wishes->saved - wishes->all);
  CLM_TRY(clm__plan_blocks(wishes->all, wishes->count, limits, plan->values, &plan->arenas));
  plan->workspace = plan->values[wishes->workspace - wishes->all];
  share_places(wishes->net, plan);
  for (int i = 0; i < plan->arenas.count; i++) plan->total_bytes += plan->arenas.size_bytes[i];
  return CLM_OK;
}

clm_status clm__net_plan_create(const clm__net *net, int batch_max, size_t workspace_bytes,
                                const clm__plan_limits *limits, clm__net_plan **plan)
{
  CLM_ASSERT(batch_max >= 1);
  net_wishes wishes = {.net = net, .batch = (size_t)batch_max};
  clm__net_plan *made = NULL;
  clm_status status = CLM_OK;
  CLM_TRY_TO(done, status, wish(&wishes, workspace_bytes));
  CLM_TRY_TO(done, status, clm__mem_alloc(1, sizeof *made, &made));
  CLM_TRY_TO(done, status, fill(made, &wishes, limits));
  *plan = made;
  made = NULL;
done:
  clm__net_plan_destroy(made);
  clm__mem_free(wishes.all);
  return status;
}

void clm__net_plan_destroy(clm__net_plan *plan)
{
  if (plan == NULL) return;
  clm__mem_free(plan->values);
  clm__mem_free(plan);
}
