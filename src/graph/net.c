#include "graph/net.h"

#include "base/mem.h"
#include "base/str.h"
#include "graph/net_build.h"

clm_status clm__net_mark_gradients(clm__net *net)
{
  const int count = net->node_count;
  /* wanted: a gradient of this value is wanted; written: some consumer has written it. */
  bool *wanted = NULL;
  CLM_TRY(clm__mem_alloc(2 * ((size_t)count + 1), sizeof *wanted, &wanted));
  bool *written = wanted + count + 1;
  for (int k = 0; k < count; k++) {
    clm__node *node = &net->nodes[k];
    for (int i = 0; i < node->spec.param_count; i++)
      node->need_dw |= !node->frozen && node->spec.params[i].trainable;
    for (int i = 0; i < node->input_count; i++)
      if (wanted[node->inputs[i]]) node->need_dx |= 1U << i;
    node->has_backward = node->need_dw || node->need_dx != 0;
    wanted[k + 1] = node->has_backward;
  }
  for (int k = count - 1; k >= 0; k--) {
    clm__node *node = &net->nodes[k];
    if (node->op->is_view) continue;
    for (int i = 0; i < node->input_count; i++) {
      const int root = clm__net_root_value(net, node->inputs[i]);
      if ((node->need_dx >> i & 1U) == 0) continue;
      if (written[root]) node->adds_dx |= 1U << i;
      written[root] = true;
    }
  }
  clm__mem_free(wanted);
  return CLM_OK;
}

clm_status clm__net_create(const clm__graph *graph, const clm__weights *weights,
                           const clm__net_options *options, clm__net **net)
{
  clm__net *made = NULL;
  CLM_TRY(clm__mem_alloc(1, sizeof *made, &made));
  made->graph = graph;
  made->training = options->training;
  clm_status status = CLM_OK;
  CLM_TRY_TO(failed, status, clm__net_lower(made, weights, options));
  CLM_TRY_TO(failed, status, clm__net_fuse(made, options));
  if (options->training) CLM_TRY_TO(failed, status, clm__net_mark_gradients(made));
  *net = made;
  return CLM_OK;
failed:
  clm__net_destroy(made);
  return status;
}

void clm__net_destroy(clm__net *net)
{
  if (net == NULL) return;
  for (int k = 0; k < net->node_count; k++) clm__net_fini_node(&net->nodes[k]);
  clm__mem_free(net->nodes);
  clm__mem_free(net->value_shapes);
  clm__mem_free(net);
}

int clm__net_root_value(const clm__net *net, int value)
{
  while (value > 0 && net->nodes[value - 1].op->is_view) value = net->nodes[value - 1].inputs[0];
  return value;
}

static clm_status describe_node(const clm__net *net, int k, clm__str *text)
{
  const clm__node *node = &net->nodes[k];
  char shape[CLM__SHAPE_TEXT_SIZE];
  CLM_TRY(clm__str_add(text, "%d %s %s (", k + 1, node->op->name,
                       net->graph->layers[node->layer].name));
  for (int i = 0; i < node->input_count; i++)
    CLM_TRY(clm__str_add(text, "%s%d", i > 0 ? "," : "", node->inputs[i]));
  CLM_TRY(clm__str_add(text, ") %s", clm__shape_text(&node->spec.output, shape)));
  for (int i = 0; i < node->input_count; i++)
    if ((node->need_dx >> i & 1U) != 0)
      CLM_TRY(clm__str_add(text, " dx%d%s", i, (node->adds_dx >> i & 1U) != 0 ? "+" : ""));
  return clm__str_add(text, "%s%s\n", node->need_dw ? " dw" : "", node->frozen ? " frozen" : "");
}

clm_status clm__net_describe(const clm__net *net, char **text)
{
  clm__str built = {0};
  clm_status status = CLM_OK;
  for (int k = 0; k < net->node_count && status == CLM_OK; k++)
    status = describe_node(net, k, &built);
  if (status == CLM_OK) status = clm__str_take(&built, text);
  clm__str_fini(&built);
  return status;
}
