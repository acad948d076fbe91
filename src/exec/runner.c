#include "exec/runner.h"

#include "base/mem.h"
#include "base/num.h"
#include "base/str.h"
#include "dev/profile.h"
#include "exec/parallel_build.h"
#include "exec/problem.h"

/* A node's problem, its passes and where its blocks lie. */
typedef struct runner_node {
  clm__problem problem;
  clm__instance passes[CLM__PASS_COUNT];
  bool has_pass[CLM__PASS_COUNT];
  int joints[CLM__PASS_COUNT]; /* number of the pass' joint, where it has one */
  cl_mem saved;
  cl_mem partials[CLM__INPUTS_MAX];
} runner_node;

struct clm__runner {
  clm__device *device;
  const clm__net *net;
  int batch_max;
  runner_node *nodes;
  clm__net_plan *plan;
  size_t workspace_bytes;
  cl_mem *values;    /* [node_count + 1] */
  cl_mem *gradients; /* [node_count + 1] */
  cl_mem workspace;
  clm__params *params;
  clm__kernel accumulate;
  const clm__joint **joints; /* [joint_count] in the order of a step */
  int joint_count;
  float *figures; /* of this replica in a joint */
};

/* ---- making ready ---- */

static clm_status choose_pass(clm__runner *runner, const clm__runner_config *config, int index,
                              clm__pass pass)
{
  runner_node *node = &runner->nodes[index];
  if (!clm__node_wants_pass(runner->net, index, pass)) return CLM_OK;
  char name[CLM__CHOICE_NAME_SIZE];
  const char *forced =
      clm__choice_find(config->variant, &node->problem, pass, &runner->device->info, name);
  CLM_TRY(clm__instance_choose(&node->passes[pass], &node->problem, pass, runner->device,
                               config->tune, forced));
  node->has_pass[pass] = true;
  return CLM_OK;
}

/* Whether the statistics of a node are those of all replicas. A layer that is frozen has none. */
static bool joins(clm__join_wish wish, const clm__problem *problem)
{
  const clm__op *op = problem->op;
  if (wish == CLM__JOIN_NOTHING || op->is_synchronized == NULL) return false;
  if (!problem->training || problem->frozen) return false;
  return wish == CLM__JOIN_ALL || op->is_synchronized(problem->attributes);
}

static clm_status choose_node(clm__runner *runner, const clm__runner_config *config, int index)
{
  clm__problem *problem = &runner->nodes[index].problem;
  clm__problem_of_node(runner->net, index, runner->batch_max, problem);
  problem->joins = joins(config->join, problem);
  for (int pass = 0; pass < CLM__PASS_COUNT; pass++)
    CLM_TRY(choose_pass(runner, config, index, (clm__pass)pass));
  return CLM_OK;
}

static bool adds_gradients(const clm__net *net)
{
  for (int i = 0; i < net->node_count; i++)
    if (net->nodes[i].adds_dx != 0) return true;
  return false;
}

static clm_status build_accumulate(clm__runner *runner)
{
  if (!runner->net->training || !adds_gradients(runner->net)) return CLM_OK;
  clm__program *program = NULL;
  CLM_TRY(clm__program_get(runner->device, "accumulate.cl", "", &program));
  return clm__kernel_init(program, "accumulate", &runner->accumulate);
}

static size_t largest_workspace(const clm__runner *runner)
{
  size_t largest = 0;
  for (int i = 0; i < runner->net->node_count; i++)
    for (int pass = 0; pass < CLM__PASS_COUNT; pass++)
      largest = clm__max_size(largest, runner->nodes[i].passes[pass].workspace_bytes);
  return largest;
}

static clm__plan_limits plan_limits(const clm__runner *runner)
{
  return (clm__plan_limits){.align_bytes = clm__max_size(runner->device->info.base_align_bytes, 64),
                            .arena_max_bytes = (size_t)runner->device->info.buffer_max_bytes};
}

static void note_joint(clm__runner *runner, int index, clm__pass pass)
{
  runner_node *node = &runner->nodes[index];
  if (node->passes[pass].joint.kind == CLM__JOINT_NONE) return;
  node->joints[pass] = runner->joint_count;
  runner->joints[runner->joint_count++] = &node->passes[pass].joint;
}

static clm_status make_joints(clm__runner *runner)
{
  const int node_count = runner->net->node_count;
  const size_t most = 2 * (size_t)node_count;
  CLM_TRY(clm__mem_alloc(most, sizeof *runner->joints, &runner->joints));
  for (int i = 0; i < node_count; i++) note_joint(runner, i, CLM__FORWARD);
  for (int i = node_count; i-- > 0;) note_joint(runner, i, CLM__BACKWARD_X);
  size_t channels = 0;
  for (int i = 0; i < runner->joint_count; i++)
    channels = clm__max_size(channels, runner->joints[i]->channels);
  return clm__mem_alloc(2 * channels, sizeof *runner->figures, &runner->figures);
}

static clm_status make_ready(clm__runner *runner, const clm__runner_config *config)
{
  const size_t node_count = (size_t)runner->net->node_count;
  CLM_TRY(clm__mem_alloc(node_count, sizeof *runner->nodes, &runner->nodes));
  CLM_TRY(clm__mem_alloc(node_count + 1, sizeof *runner->values, &runner->values));
  CLM_TRY(clm__mem_alloc(node_count + 1, sizeof *runner->gradients, &runner->gradients));
  for (int i = 0; i < runner->net->node_count; i++) CLM_TRY(choose_node(runner, config, i));
  CLM_TRY(make_joints(runner));
  runner->workspace_bytes = largest_workspace(runner);
  const clm__plan_limits limits = plan_limits(runner);
  return clm__net_plan_create(runner->net, runner->batch_max, runner->workspace_bytes, &limits,
                              &runner->plan);
}

clm_status clm__runner_create(const clm__runner_config *config, clm__runner **runner)
{
  CLM_ASSERT(config->batch_max >= 1);
  clm__runner *made = NULL;
  CLM_TRY(clm__mem_alloc(1, sizeof *made, &made));
  made->device = config->device;
  made->net = config->net;
  made->batch_max = config->batch_max;
  const clm_status status = make_ready(made, config);
  if (status != CLM_OK) {
    clm__runner_destroy(made);
    return status;
  }
  *runner = made;
  return CLM_OK;
}

/* Builds pass `item % CLM__PASS_COUNT` of node `item / CLM__PASS_COUNT`. */
static clm_status build_item(void *user, size_t item)
{
  clm__runner *runner = user;
  runner_node *node = &runner->nodes[item / CLM__PASS_COUNT];
  const size_t pass = item % CLM__PASS_COUNT;
  return node->has_pass[pass] ? clm__instance_build(&node->passes[pass]) : CLM_OK;
}

clm_status clm__runner_build(clm__runner *runner, int threads)
{
  const size_t count = (size_t)runner->net->node_count * CLM__PASS_COUNT;
  for (size_t item = count; threads == 0 && item-- > 0;) CLM_TRY(build_item(runner, item));
  if (threads > 0) CLM_TRY(clm__parallel_build(count, threads, build_item, runner));
  return build_accumulate(runner);
}

static void destroy_node(runner_node *node)
{
  for (int pass = 0; pass < CLM__PASS_COUNT; pass++)
    if (node->has_pass[pass]) clm__instance_fini(&node->passes[pass]);
  clm__buffer_release(&node->saved);
  for (int i = 0; i < CLM__INPUTS_MAX; i++) clm__buffer_release(&node->partials[i]);
}

void clm__runner_destroy(clm__runner *runner)
{
  if (runner == NULL) return;
  const int node_count = runner->net->node_count;
  for (int i = 0; i < node_count && runner->nodes != NULL; i++) destroy_node(&runner->nodes[i]);
  for (int v = 0; v <= node_count; v++) {
    if (runner->values != NULL) clm__buffer_release(&runner->values[v]);
    if (runner->gradients != NULL) clm__buffer_release(&runner->gradients[v]);
  }
  clm__buffer_release(&runner->workspace);
  clm__kernel_fini(&runner->accumulate);
  clm__net_plan_destroy(runner->plan);
  clm__mem_free(runner->figures);
  clm__mem_free(runner->joints);
  clm__mem_free(runner->gradients);
  clm__mem_free(runner->values);
  clm__mem_free(runner->nodes);
  clm__mem_free(runner);
}

/* ---- memory ---- */

const clm__plan_arenas *clm__runner_arenas(const clm__runner *runner)
{
  return &runner->plan->arenas;
}

bool clm__runner_uses_blas(const clm__runner *runner)
{
  for (int i = 0; i < runner->net->node_count; i++)
    for (int pass = 0; pass < CLM__PASS_COUNT; pass++)
      if (runner->nodes[i].has_pass[pass] && runner->nodes[i].passes[pass].variant->uses_blas)
        return true;
  return false;
}

size_t clm__runner_size_bytes(const clm__runner *runner) { return runner->plan->total_bytes; }

static clm_status bind_block(clm__runner *runner, const cl_mem *arenas,
                             const clm__plan_place *place, size_t size_bytes, cl_mem *view)
{
  if (place->arena == CLM__PLAN_NONE || size_bytes == 0) return CLM_OK;
  return clm__buffer_view(runner->device, arenas[place->arena], place->offset_bytes, size_bytes,
                          view);
}

static size_t value_bytes(const clm__runner *runner, int value)
{
  return clm__shape_elements(&runner->net->value_shapes[value]) * sizeof(float) *
         (size_t)runner->batch_max;
}

static clm_status bind_node(clm__runner *runner, const cl_mem *arenas, int index)
{
  const clm__node *net_node = &runner->net->nodes[index];
  runner_node *node = &runner->nodes[index];
  const size_t saved_bytes =
      net_node->spec.saved_bytes + net_node->spec.saved_bytes_per_image * (size_t)runner->batch_max;
  CLM_TRY(bind_block(runner, arenas, &runner->plan->saved[index], saved_bytes, &node->saved));
  for (int i = 0; i < net_node->input_count; i++)
    CLM_TRY(bind_block(runner, arenas, &runner->plan->partials[index * CLM__INPUTS_MAX + i],
                       value_bytes(runner, net_node->inputs[i]), &node->partials[i]));
  return CLM_OK;
}

clm_status clm__runner_bind(clm__runner *runner, const cl_mem *arenas, clm__params *params)
{
  CLM_ASSERT(runner->params == NULL);
  runner->params = params;
  const clm__net_plan *plan = runner->plan;
  for (int v = 0; v <= runner->net->node_count; v++) {
    const size_t size_bytes = value_bytes(runner, v);
    CLM_TRY(bind_block(runner, arenas, &plan->values[v], size_bytes, &runner->values[v]));
    CLM_TRY(bind_block(runner, arenas, &plan->gradients[v], size_bytes, &runner->gradients[v]));
  }
  CLM_TRY(
      bind_block(runner, arenas, &plan->workspace, runner->workspace_bytes, &runner->workspace));
  for (int i = 0; i < runner->net->node_count; i++) CLM_TRY(bind_node(runner, arenas, i));
  return CLM_OK;
}

cl_mem clm__runner_input(const clm__runner *runner) { return runner->values[0]; }

cl_mem clm__runner_output(const clm__runner *runner)
{
  return runner->values[runner->net->node_count];
}

cl_mem clm__runner_output_gradient(const clm__runner *runner)
{
  return runner->gradients[runner->net->node_count];
}

int clm__runner_joint_count(const clm__runner *runner) { return runner->joint_count; }

const clm__joint *clm__runner_joint(const clm__runner *runner, int joint)
{
  return runner->joints[joint];
}

/* ---- running ---- */

static void fill_args(const clm__runner *runner, int index, const clm__runner_call *call,
                      clm__op_args *args)
{
  const clm__node *net_node = &runner->net->nodes[index];
  const runner_node *node = &runner->nodes[index];
  *args = (clm__op_args){.batch = call->batch,
                         .y = runner->values[index + 1],
                         .dy = runner->gradients[index + 1],
                         .saved = node->saved,
                         .workspace = runner->workspace,
                         .image_ids = call->image_ids,
                         .seed = call->seed,
                         .epoch = call->epoch};
  for (int i = 0; i < net_node->input_count; i++) {
    const bool adds = (net_node->adds_dx >> i & 1U) != 0;
    const bool needed = (net_node->need_dx >> i & 1U) != 0;
    args->x[i] = runner->values[net_node->inputs[i]];
    if (needed) args->dx[i] = adds ? node->partials[i] : runner->gradients[net_node->inputs[i]];
  }
  for (int i = 0; i < net_node->spec.param_count; i++) {
    args->w[i] = runner->params->w[net_node->weights[i]];
    args->dw[i] = runner->params->dw[net_node->weights[i]];
  }
}

/* A trace names the kernels by their layer and pass. */
static void label(const clm__runner *runner, int index, clm__pass pass)
{
  const clm__net *net = runner->net;
  clm__profile_label(runner->device, net->graph->layers[net->nodes[index].layer].name,
                     clm__pass_name(pass));
}

/* Gives this replica's figures for those of all. */
static clm_status join_figures(clm__runner *runner, const clm__runner_call *call, int joint,
                               uint64_t *images)
{
  const clm__joint *place = runner->joints[joint];
  const size_t size_bytes = 2 * place->channels * sizeof(float);
  const bool has_images = call->batch > 0;
  clm__joined joined = {0};
  if (has_images)
    CLM_TRY(clm__buffer_read(runner->device, runner->workspace, place->offset_bytes,
                             runner->figures, size_bytes, true));
  CLM_TRY(call->on_joint(call->user, joint, has_images ? runner->figures : NULL, &joined));
  *images = joined.images;
  if (joined.images == 0) return CLM_OK;
  return clm__buffer_write(runner->device, runner->workspace, place->offset_bytes, joined.figures,
                           size_bytes, false);
}

/* A pass with a joint. Without images only what is not an image's follows the others: forward moves
 * the moving averages. */
static clm_status run_halves(clm__runner *runner, const clm__runner_call *call, int index,
                             clm__pass pass)
{
  runner_node *node = &runner->nodes[index];
  clm__op_args args;
  fill_args(runner, index, call, &args);
  args.half = CLM__FIRST_HALF;
  if (call->batch > 0) CLM_TRY(clm__instance_enqueue(&node->passes[pass], &args));
  CLM_TRY(join_figures(runner, call, node->joints[pass], &args.joint_images));
  if (args.joint_images == 0 || (call->batch == 0 && pass != CLM__FORWARD)) return CLM_OK;
  args.half = CLM__SECOND_HALF;
  return clm__instance_enqueue(&node->passes[pass], &args);
}

static clm_status run_pass(clm__runner *runner, const clm__runner_call *call, int index,
                           clm__pass pass)
{
  runner_node *node = &runner->nodes[index];
  if (!node->has_pass[pass]) return CLM_OK;
  label(runner, index, pass);
  if (node->passes[pass].joint.kind != CLM__JOINT_NONE)
    return run_halves(runner, call, index, pass);
  if (call->batch == 0) return CLM_OK;
  clm__op_args args;
  fill_args(runner, index, call, &args);
  return clm__instance_enqueue(&node->passes[pass], &args);
}

clm_status clm__runner_forward(clm__runner *runner, const clm__runner_call *call)
{
  CLM_ASSERT(call->batch >= 1 || runner->joint_count > 0);
  CLM_ASSERT(call->batch <= runner->batch_max);
  CLM_ASSERT(call->on_joint != NULL || runner->joint_count == 0);
  for (int i = 0; i < runner->net->node_count; i++)
    CLM_TRY(run_pass(runner, call, i, CLM__FORWARD));
  return CLM_OK;
}

/* Adds the gradients that went to temporaries because another consumer had written before. */
static clm_status add_partials(clm__runner *runner, int index, int batch)
{
  const clm__node *net_node = &runner->net->nodes[index];
  for (int i = 0; i < net_node->input_count; i++) {
    if ((net_node->adds_dx >> i & 1U) == 0) continue;
    const int value = net_node->inputs[i];
    const size_t elements = clm__shape_elements(&runner->net->value_shapes[value]) * (size_t)batch;
    clm__launch launch = clm__launch_begin(&runner->accumulate);
    clm__launch_buffer(&launch, runner->gradients[value]);
    clm__launch_buffer(&launch, runner->nodes[index].partials[i]);
    clm__launch_uint(&launch, (uint32_t)elements);
    CLM_TRY(clm__launch_run(&launch, 1, (size_t[]){elements}, NULL));
  }
  return CLM_OK;
}

static clm_status enqueue_backward(clm__runner *runner, int index, const clm__runner_call *call)
{
  CLM_TRY(run_pass(runner, call, index, CLM__BACKWARD_W));
  CLM_TRY(run_pass(runner, call, index, CLM__BACKWARD_X));
  if (!runner->nodes[index].has_pass[CLM__BACKWARD_X] || call->batch == 0) return CLM_OK;
  return add_partials(runner, index, call->batch);
}

clm_status clm__runner_backward(clm__runner *runner, const clm__runner_call *call)
{
  for (int i = runner->net->node_count; i-- > 0;) {
    CLM_TRY(enqueue_backward(runner, i, call));
    if (call->on_backward != NULL) CLM_TRY(call->on_backward(call->user, i));
  }
  return CLM_OK;
}

static clm_status rehearse_pass(clm__runner *runner, int index, clm__pass pass,
                                const clm__runner_call *call)
{
  runner_node *node = &runner->nodes[index];
  if (!node->has_pass[pass]) return CLM_OK;
  clm__op_args args;
  fill_args(runner, index, call, &args);
  return clm__instance_enqueue(&node->passes[pass], &args);
}

clm_status clm__runner_rehearse(clm__runner *runner, const clm__runner_call *call)
{
  for (int i = 0; i < runner->net->node_count; i++) {
    CLM_TRY(rehearse_pass(runner, i, CLM__BACKWARD_X, call));
    CLM_TRY(rehearse_pass(runner, i, CLM__BACKWARD_W, call));
  }
  for (int i = runner->net->node_count; i-- > 0;)
    CLM_TRY(rehearse_pass(runner, i, CLM__FORWARD, call));
  return CLM_OK;
}

/* ---- telling ---- */

static clm_status describe_pass(const clm__instance *instance, const char *layer, clm__str *text)
{
  char input[CLM__SHAPE_TEXT_SIZE];
  char output[CLM__SHAPE_TEXT_SIZE];
  const clm__problem *problem = instance->problem;
  return clm__str_add(text, "%-20s %s.%-5s %s -> %s  %s%s%s\n", layer, problem->op->name,
                      clm__pass_name(instance->pass), clm__shape_text(&problem->inputs[0], input),
                      clm__shape_text(&problem->spec.output, output), instance->variant->name,
                      instance->tuning.defines[0] != '\0' ? " " : "", instance->tuning.defines);
}

clm_status clm__runner_describe(const clm__runner *runner, char **text)
{
  clm__str lines = {0};
  for (int i = 0; i < runner->net->node_count; i++) {
    const char *layer = runner->net->graph->layers[runner->net->nodes[i].layer].name;
    for (int pass = 0; pass < CLM__PASS_COUNT; pass++) {
      if (!runner->nodes[i].has_pass[pass]) continue;
      const clm_status status = describe_pass(&runner->nodes[i].passes[pass], layer, &lines);
      if (status != CLM_OK) {
        clm__str_fini(&lines);
        return status;
      }
    }
  }
  return clm__str_take(&lines, text);
}
