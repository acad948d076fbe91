#include "train/selftest_case.h"

#include "base/mem.h"
#include "io/keras_field.h"
#include "op/registry.h"

#include <string.h>

/* An op with its attributes on the way through a chain. */
typedef struct chain_link {
  const clm__op *op;
  void *attributes;
} chain_link;

static clm_status read_layer(const char *class_name, const char *config, chain_link *layer)
{
  CLM_TRY(clm__registry_find_op(class_name, &layer->op));
  CLM_TRY(clm__mem_alloc(1, layer->op->attribute_bytes, &layer->attributes));
  clm__json *json = NULL;
  CLM_TRY(clm__json_parse(config, strlen(config), class_name, &json));
  const clm__json_at root = clm__json_root(json);
  const clm_status status = clm__keras_read_fields(&root, layer->op->fields, layer->attributes);
  clm__json_free(json);
  return status;
}

static const clm__fusion *find_fusion(const clm__op *op, const char *producer, const char *consumer)
{
  for (const clm__fusion *at = op->fusions; at != NULL && at->producer != NULL; at++)
    if (strcmp(at->producer, producer) == 0 && strcmp(at->consumer, consumer) == 0) return at;
  return NULL;
}

/* Replaces the head by the op that is both: the head is a layer's own, or fused already. */
static clm_status fuse(chain_link *head, const chain_link *next, const clm__shape *inputs)
{
  for (const clm__op *const *op = clm__registry_ops(); *op != NULL; op++) {
    const clm__fusion *fusion = find_fusion(*op, head->op->name, next->op->name);
    if (fusion == NULL) continue;
    void *fused = NULL;
    CLM_TRY(clm__mem_alloc(1, (*op)->attribute_bytes, &fused));
    if (fusion->merge(head->attributes, next->attributes, inputs, fused)) {
      clm__mem_free(head->attributes);
      *head = (chain_link){.op = *op, .attributes = fused};
      return CLM_OK;
    }
    clm__mem_free(fused);
  }
  CLM_FAIL(CLM_INTERNAL, "self-test: %s and %s do not fuse", head->op->name, next->op->name);
}

static clm_status build_chain(const clm__ref_trial *trial, chain_link *head)
{
  CLM_TRY(read_layer(trial->classes[0], trial->configs[0], head));
  for (int i = 1; i < CLM__REF_LAYERS_MAX && trial->classes[i] != NULL; i++) {
    chain_link next = {0};
    clm_status status = read_layer(trial->classes[i], trial->configs[i], &next);
    /* Completes attributes, such as the strides of a pool; the sizes do not matter for that. */
    clm__op_spec unused;
    if (status == CLM_OK) status = next.op->infer(next.attributes, trial->inputs, 1, &unused);
    if (status == CLM_OK) status = fuse(head, &next, trial->inputs);
    clm__mem_free(next.attributes);
    CLM_TRY(status);
  }
  return CLM_OK;
}

static clm_status fill_problem(const clm__ref_trial *trial, int batch, const chain_link *head,
                               clm__problem *problem)
{
  *problem = (clm__problem){.op = head->op,
                            .attributes = head->attributes,
                            .batch_max = batch,
                            .training = !trial->inference,
                            .node = 3};
  while (problem->input_count < CLM__INPUTS_MAX && trial->inputs[problem->input_count].rank > 0) {
    problem->inputs[problem->input_count] = trial->inputs[problem->input_count];
    problem->need_dx |= trial->inference ? 0U : 1U << problem->input_count;
    problem->input_count++;
  }
  return head->op->infer(head->attributes, problem->inputs, problem->input_count, &problem->spec);
}

clm_status clm__selftest_make_problem(const clm__ref_trial *trial, int batch, clm__problem *problem,
                                      void **attributes)
{
  chain_link head = {0};
  clm_status status = build_chain(trial, &head);
  if (status == CLM_OK) status = fill_problem(trial, batch, &head, problem);
  if (status != CLM_OK) {
    clm__mem_free(head.attributes);
    return status;
  }
  *attributes = head.attributes;
  return CLM_OK;
}
