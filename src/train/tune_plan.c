#include "train/tune_plan.h"

#include "base/mem.h"

#include <string.h>

/* Whether there is more than one way to run a pass. */
static bool has_choice(const clm__problem *problem, clm__pass pass, const clm__device_info *info)
{
  int ways = 0;
  for (const clm__variant *const *at = problem->op->variants; *at != NULL; at++) {
    if (!clm__variant_is_offered(*at, problem, pass, info)) continue;
    const char *const *values = (*at)->candidates[pass];
    ways += values != NULL && values[0] != NULL ? 2 : 1;
  }
  return ways > 1;
}

static bool is_same_problem(const clm__problem *a, const clm__problem *b, clm__pass pass)
{
  return a->op == b->op && a->training == b->training &&
         (pass == CLM__FORWARD || (a->need_dx == b->need_dx && a->frozen == b->frozen)) &&
         memcmp(a->attributes, b->attributes, a->op->attribute_bytes) == 0;
}

static clm_status find_task(clm__tune_plan *plan, const clm__variant_key *key, clm__pass pass,
                            clm__tune_task **task)
{
  for (size_t i = 0; i < plan->count; i++) {
    *task = &plan->tasks[i];
    if (strcmp((*task)->key.op_pass, key->op_pass) == 0 &&
        strcmp((*task)->key.shape, key->shape) == 0)
      return CLM_OK;
  }
  CLM_TRY(clm__mem_resize(plan->count + 1, sizeof *plan->tasks, &plan->tasks));
  *task = &plan->tasks[plan->count++];
  **task = (clm__tune_task){.key = *key, .pass = pass};
  return CLM_OK;
}

/* Beyond CLM__TUNE_PROBLEMS_MAX different problems of one key the first ones decide. */
static clm_status add_pass(clm__tune_plan *plan, const clm__problem *problem, clm__pass pass)
{
  clm__variant_key key;
  clm__tune_task *task = NULL;
  clm__variant_key_of(problem, pass, &key);
  CLM_TRY(find_task(plan, &key, pass, &task));
  for (int i = 0; i < task->problem_count; i++)
    if (is_same_problem(task->problems[i], problem, pass)) return CLM_OK;
  if (task->problem_count < CLM__TUNE_PROBLEMS_MAX) task->problems[task->problem_count++] = problem;
  return CLM_OK;
}

static clm_status add_net(clm__tune_plan *plan, const clm__tune_plan_config *config, int index,
                          const clm__net_options *options)
{
  CLM_TRY(clm__net_create(config->graph, config->weights, options, &plan->nets[index]));
  const clm__net *net = plan->nets[index];
  CLM_TRY(clm__mem_alloc((size_t)net->node_count, sizeof *plan->problems[index],
                         &plan->problems[index]));
  for (int node = 0; node < net->node_count; node++) {
    clm__problem *problem = &plan->problems[index][node];
    clm__problem_of_node(net, node, config->batch, problem);
    for (int pass = 0; pass < CLM__PASS_COUNT; pass++)
      if (clm__node_wants_pass(net, node, (clm__pass)pass) &&
          has_choice(problem, (clm__pass)pass, config->info))
        CLM_TRY(add_pass(plan, problem, (clm__pass)pass));
  }
  return CLM_OK;
}

/* Fuses what Keras has a class for: activations, but no pools. */
static bool accepts_keras(void *user, const clm__op *fused, const void *attributes,
                          const clm__shape *inputs)
{
  (void)user;
  (void)attributes;
  (void)inputs;
  return fused->keras_class != NULL;
}

clm_status clm__tune_plan_init(clm__tune_plan *plan, const clm__tune_plan_config *config)
{
  *plan = (clm__tune_plan){0};
  clm__fusion_judge judge = {.info = config->info};
  clm__net_options options = {.training = true,
                              .logits = true,
                              .accepts = clm__fusion_judge_accepts,
                              .accepts_user = &judge};
  CLM_TRY(add_net(plan, config, 0, &options));
  options.training = false;
  CLM_TRY(add_net(plan, config, 1, &options));
  options.logits = false;
  CLM_TRY(add_net(plan, config, 2, &options));
  options = (clm__net_options){.training = true, .logits = true, .accepts = accepts_keras};
  return add_net(plan, config, 3, &options);
}

void clm__tune_plan_fini(clm__tune_plan *plan)
{
  for (int i = 0; i < CLM__TUNE_NETS; i++) {
    clm__net_destroy(plan->nets[i]);
    clm__mem_free(plan->problems[i]);
  }
  clm__mem_free(plan->tasks);
  *plan = (clm__tune_plan){0};
}
