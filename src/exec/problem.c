#include "exec/problem.h"

#include "base/mem.h"

#include <string.h>

bool clm__fusion_judge_accepts(void *user, const clm__op *fused, const void *attributes,
                               const clm__shape *inputs)
{
  const clm__fusion_judge *judge = user;
  clm__problem problem = {.op = fused, .attributes = attributes, .input_count = 1};
  problem.inputs[0] = inputs[0];
  problem.batch_max = 1;
  /* infer may complete attributes, so it gets a copy. */
  void *copy = NULL;
  if (clm__mem_alloc(1, fused->attribute_bytes, &copy) != CLM_OK) return false;
  memcpy(copy, attributes, fused->attribute_bytes);
  const bool inferred = fused->infer(copy, inputs, 1, &problem.spec) == CLM_OK;
  problem.attributes = copy;
  const bool accepted =
      inferred && (fused->keras_class != NULL ||
                   clm__choice_accepts_fusion(judge->variant, &problem, judge->info));
  clm__mem_free(copy);
  return accepted;
}

void clm__problem_of_node(const clm__net *net, int index, int batch_max, clm__problem *problem)
{
  const clm__node *node = &net->nodes[index];
  *problem = (clm__problem){.op = node->op,
                            .attributes = node->attributes,
                            .input_count = node->input_count,
                            .spec = node->spec,
                            .batch_max = batch_max,
                            .training = net->training,
                            .frozen = node->frozen,
                            .need_dx = node->need_dx,
                            .node = (uint32_t)index};
  for (int i = 0; i < node->input_count; i++)
    problem->inputs[i] = net->value_shapes[node->inputs[i]];
}

bool clm__node_wants_pass(const clm__net *net, int index, clm__pass pass)
{
  const clm__node *node = &net->nodes[index];
  if (node->op->is_view) return false;
  if (pass == CLM__FORWARD) return true;
  if (!net->training || !node->has_backward) return false;
  return pass == CLM__BACKWARD_W ? node->need_dw : node->need_dx != 0;
}
