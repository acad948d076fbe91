#include "bench/passes.h"

#include "base/mem.h"
#include "bench/samples.h"
#include "exec/replica_private.h"
#include "op/conv2d.h"
#include "op/registry.h"

#include <string.h>

/* A pass of a node ready to run. */
typedef struct step_pass {
  clm__instance instance;
  clm__op_args args;
  bool is_made;
} step_pass;

typedef struct step_node {
  clm__problem problem;
  step_pass passes[CLM__PASS_COUNT];
  cl_mem saved;
  cl_mem partials[CLM__INPUTS_MAX];
} step_node;

/* A step's nodes and buffers. */
typedef struct step {
  bench_trainee *trainee;
  clm__replica *replica;
  clm__device *device;
  const clm__net *net;
  step_node *nodes;
  cl_mem *values;    /* [node_count + 1]; views share their root's */
  cl_mem *gradients; /* the same */
  cl_mem workspace;
  clm__kernel accumulate;
  bool adds;
} step;

/* ---- what a pass needs at least ---- */

static double floats_of(const clm__shape *shape) { return (double)clm__shape_elements(shape); }

static double weights_of(const clm__problem *problem)
{
  double sum = 0;
  for (int i = 0; i < problem->spec.param_count; i++)
    sum += floats_of(&problem->spec.params[i].shape);
  return sum;
}

/* Products of one image. Behind a fused pool only the winner of a window has a gradient. */
static double products_of(const clm__problem *problem, clm__pass pass)
{
  const double kernel =
      problem->spec.param_count > 0 ? floats_of(&problem->spec.params[0].shape) : 0;
  if (strcmp(problem->op->name, "dense") == 0) return kernel;
  const bool pooled = problem->op == &clm__op_conv2d_max_pool;
  if (problem->op != &clm__op_conv2d && !pooled) return 0;
  clm__conv2d_geometry geometry;
  clm__conv2d_geometry_of(problem, &geometry);
  if (pooled && pass != CLM__FORWARD) return kernel * geometry.yh * geometry.yw;
  return kernel * geometry.oh * geometry.ow;
}

static double bytes_of(const clm__problem *problem, clm__pass pass, int batch)
{
  double inputs = 0, read_inputs = 0, written = 0;
  const double output = floats_of(&problem->spec.output);
  const double saved =
      (double)problem->spec.saved_bytes_per_image + (double)problem->spec.saved_bytes / batch;
  for (int i = 0; i < problem->input_count; i++) inputs += floats_of(&problem->inputs[i]);
  for (int i = 0; i < problem->input_count; i++)
    if ((problem->need_dx >> i & 1U) != 0) written += floats_of(&problem->inputs[i]);
  if (problem->spec.backward_reads_x) read_inputs = inputs;
  if (problem->spec.backward_reads_y) read_inputs += output;
  const double weights = weights_of(problem) * 4;
  if (pass == CLM__FORWARD) return batch * (4 * (inputs + output) + saved) + weights;
  if (pass == CLM__BACKWARD_W) return batch * (4 * (read_inputs + output) + saved) + weights;
  if (problem->spec.param_count > 0 && problem->spec.saved_bytes == 0) read_inputs = 0;
  return batch * (4 * (read_inputs + output + written) + saved) + weights;
}

/* ---- making ---- */

static clm_status make_problem(step *s, int index)
{
  const clm__node *node = &s->net->nodes[index];
  clm__problem *problem = &s->nodes[index].problem;
  *problem = (clm__problem){.op = node->op,
                            .attributes = node->attributes,
                            .input_count = node->input_count,
                            .spec = node->spec,
                            .batch_max = s->trainee->batch,
                            .training = true,
                            .frozen = node->frozen,
                            .need_dx = node->need_dx,
                            .node = (uint32_t)index};
  for (int i = 0; i < node->input_count; i++)
    problem->inputs[i] = s->net->value_shapes[node->inputs[i]];
  const size_t saved_bytes =
      node->spec.saved_bytes + node->spec.saved_bytes_per_image * (size_t)s->trainee->batch;
  if (saved_bytes == 0) return CLM_OK;
  return clm__buffer_create(s->device, saved_bytes, &s->nodes[index].saved);
}

static size_t value_bytes(const step *s, int value)
{
  return clm__shape_elements(&s->net->value_shapes[value]) * sizeof(float) *
         (size_t)s->trainee->batch;
}

static clm_status make_values(step *s)
{
  for (int v = 0; v <= s->net->node_count; v++) {
    const int root = clm__net_root_value(s->net, v);
    if (root == v) {
      CLM_TRY(clm__buffer_create(s->device, value_bytes(s, v), &s->values[v]));
      CLM_TRY(clm__buffer_create(s->device, value_bytes(s, v), &s->gradients[v]));
    } else {
      s->values[v] = s->values[root];
      s->gradients[v] = s->gradients[root];
    }
  }
  return CLM_OK;
}

static bool wants_pass(const clm__node *node, clm__pass pass)
{
  if (node->op->is_view) return false;
  if (pass == CLM__FORWARD) return true;
  if (!node->has_backward) return false;
  return pass == CLM__BACKWARD_W ? node->need_dw : node->need_dx != 0;
}

static clm_status make_args(step *s, int index, clm__op_args *args)
{
  const clm__node *node = &s->net->nodes[index];
  step_node *made = &s->nodes[index];
  *args = (clm__op_args){.batch = s->trainee->batch,
                         .y = s->values[index + 1],
                         .dy = s->gradients[index + 1],
                         .saved = made->saved,
                         .image_ids = s->replica->image_ids,
                         .seed = 1};
  for (int i = 0; i < node->input_count; i++) {
    args->x[i] = s->values[node->inputs[i]];
    if ((node->need_dx >> i & 1U) == 0) continue;
    args->dx[i] = s->gradients[node->inputs[i]];
    if ((node->adds_dx >> i & 1U) == 0) continue;
    if (made->partials[i] == NULL)
      CLM_TRY(clm__buffer_create(s->device, value_bytes(s, node->inputs[i]), &made->partials[i]));
    args->dx[i] = made->partials[i];
    s->adds = true;
  }
  for (int i = 0; i < node->spec.param_count; i++) {
    args->w[i] = s->replica->params.w[node->weights[i]];
    args->dw[i] = s->replica->params.dw[node->weights[i]];
  }
  return CLM_OK;
}

static clm_status make_pass(step *s, int index, clm__pass pass)
{
  step_node *node = &s->nodes[index];
  step_pass *made = &node->passes[pass];
  char name[CLM__CHOICE_NAME_SIZE];
  if (!wants_pass(&s->net->nodes[index], pass)) return CLM_OK;
  const char *forced =
      clm__choice_find(s->replica->config.variant, &node->problem, pass, &s->device->info, name);
  CLM_TRY(clm__instance_init(&made->instance, &node->problem, pass, s->device,
                             s->replica->config.tune, forced));
  made->is_made = true;
  return make_args(s, index, &made->args);
}

static clm_status make_workspace(step *s)
{
  size_t largest = 0;
  for (int i = 0; i < s->net->node_count; i++)
    for (int p = 0; p < CLM__PASS_COUNT; p++)
      if (s->nodes[i].passes[p].instance.workspace_bytes > largest)
        largest = s->nodes[i].passes[p].instance.workspace_bytes;
  if (largest == 0) return CLM_OK;
  CLM_TRY(clm__buffer_create(s->device, largest, &s->workspace));
  for (int i = 0; i < s->net->node_count; i++)
    for (int p = 0; p < CLM__PASS_COUNT; p++) s->nodes[i].passes[p].args.workspace = s->workspace;
  return CLM_OK;
}

static clm_status make_accumulate(step *s)
{
  clm__program *program = NULL;
  if (!s->adds) return CLM_OK;
  CLM_TRY(clm__program_get(s->device, "accumulate.cl", "", &program));
  return clm__kernel_init(program, "accumulate", &s->accumulate);
}

static clm_status make_step(step *s)
{
  const size_t count = (size_t)s->net->node_count;
  CLM_TRY(clm__mem_alloc(count, sizeof *s->nodes, &s->nodes));
  CLM_TRY(clm__mem_alloc(count + 1, sizeof *s->values, &s->values));
  CLM_TRY(clm__mem_alloc(count + 1, sizeof *s->gradients, &s->gradients));
  CLM_TRY(make_values(s));
  for (int i = 0; i < s->net->node_count; i++) {
    CLM_TRY(make_problem(s, i));
    for (int p = 0; p < CLM__PASS_COUNT; p++) CLM_TRY(make_pass(s, i, (clm__pass)p));
  }
  CLM_TRY(make_workspace(s));
  return make_accumulate(s);
}

static void free_step(step *s)
{
  for (int i = 0; s->nodes != NULL && i < s->net->node_count; i++) {
    for (int p = 0; p < CLM__PASS_COUNT; p++)
      if (s->nodes[i].passes[p].is_made) clm__instance_fini(&s->nodes[i].passes[p].instance);
    clm__buffer_release(&s->nodes[i].saved);
    for (int k = 0; k < CLM__INPUTS_MAX; k++) clm__buffer_release(&s->nodes[i].partials[k]);
  }
  for (int v = 0; s->gradients != NULL && v <= s->net->node_count; v++) {
    if (clm__net_root_value(s->net, v) != v) continue;
    clm__buffer_release(&s->values[v]);
    clm__buffer_release(&s->gradients[v]);
  }
  clm__buffer_release(&s->workspace);
  clm__kernel_fini(&s->accumulate);
  clm__mem_free(s->gradients);
  clm__mem_free(s->values);
  clm__mem_free(s->nodes);
}

/* ---- running ---- */

/* What was timed so far: rows are made in the first step, seconds of all steps kept. */
typedef struct ledger {
  timed_passes *passes;
  double *seconds; /* [row * repeats + repeat] */
  double *busy;    /* the same */
  int repeats;
  int repeat;
  size_t row;
  size_t capacity;
  samples_time begin;
} ledger;

static void note_begin(ledger *l) { l->begin = samples_now(); }

static clm_status note_end(const step *s, ledger *l, const timed_pass *what)
{
  CLM_TRY(clm__device_finish(s->device));
  CLM_REQUIRE(l->row < l->capacity, CLM_INTERNAL, "more passes than rows");
  const samples_time taken = samples_since(l->begin);
  const size_t place = l->row * (size_t)l->repeats + (size_t)l->repeat;
  l->seconds[place] = taken.wall;
  l->busy[place] = taken.busy;
  l->passes->items[l->row] = *what;
  l->row++;
  return CLM_OK;
}

static clm_status run_pass(step *s, ledger *l, int index, clm__pass pass)
{
  step_pass *made = &s->nodes[index].passes[pass];
  const clm__problem *problem = &s->nodes[index].problem;
  if (!made->is_made) return CLM_OK;
  const int batch = s->trainee->batch;
  clm__variant_key key;
  clm__variant_key_of(problem, pass, &key);
  timed_pass what = {.layer = s->net->graph->layers[s->net->nodes[index].layer].name,
                     .op = problem->op->name,
                     .pass = clm__pass_name(pass),
                     .variant = made->instance.variant->name,
                     .gflop = 2e-9 * batch * products_of(problem, pass),
                     .megabytes = 1e-6 * bytes_of(problem, pass, batch)};
  memcpy(what.shape, key.shape, sizeof what.shape);
  note_begin(l);
  CLM_TRY(clm__instance_enqueue(&made->instance, &made->args));
  return note_end(s, l, &what);
}

static clm_status add_partials(step *s, ledger *l, int index)
{
  const clm__node *node = &s->net->nodes[index];
  for (int i = 0; i < node->input_count; i++) {
    if ((node->adds_dx >> i & 1U) == 0) continue;
    const size_t bytes = value_bytes(s, node->inputs[i]);
    const timed_pass what = {.layer = s->net->graph->layers[node->layer].name,
                             .op = "accumulate",
                             .pass = "bwd_x",
                             .variant = "",
                             .megabytes = 3e-6 * (double)bytes};
    note_begin(l);
    clm__launch launch = clm__launch_begin(&s->accumulate);
    clm__launch_buffer(&launch, s->gradients[node->inputs[i]]);
    clm__launch_buffer(&launch, s->nodes[index].partials[i]);
    clm__launch_uint(&launch, (uint32_t)(bytes / sizeof(float)));
    CLM_TRY(clm__launch_run(&launch, 1, (size_t[]){bytes / sizeof(float)}, NULL));
    CLM_TRY(note_end(s, l, &what));
  }
  return CLM_OK;
}

static clm_status run_upload(step *s, ledger *l)
{
  const size_t bytes = value_bytes(s, 0);
  const size_t ids = (size_t)s->trainee->batch * sizeof(int32_t);
  const timed_pass what = {
      .layer = "", .op = "upload", .pass = "", .variant = "", .megabytes = 2e-6 * (double)bytes};
  note_begin(l);
  CLM_TRY(clm__buffer_write(s->device, s->values[0], 0, s->trainee->pixels, bytes, false));
  CLM_TRY(clm__buffer_write(s->device, s->replica->labels, 0, s->trainee->labels, ids, false));
  CLM_TRY(
      clm__buffer_write(s->device, s->replica->image_ids, 0, s->trainee->image_ids, ids, false));
  return note_end(s, l, &what);
}

static clm_status run_loss(step *s, ledger *l)
{
  clm__replica *replica = s->replica;
  const int last = s->net->node_count;
  const clm__loss_args args = {.batch = s->trainee->batch,
                               .x = s->values[last],
                               .labels = replica->labels,
                               .dx = s->gradients[last],
                               .losses = replica->losses,
                               .hits = replica->hits};
  const timed_pass what = {.layer = "", .op = "loss", .pass = "", .variant = ""};
  note_begin(l);
  CLM_TRY(replica->config.loss->enqueue(&replica->loss, &args));
  return note_end(s, l, &what);
}

static clm_status run_check(step *s, ledger *l)
{
  clm__replica *replica = s->replica;
  const size_t elements = replica->config.weights->trainable_elements;
  const timed_pass what = {.layer = "",
                           .op = "gradient_check",
                           .pass = "",
                           .variant = "",
                           .megabytes = 4e-6 * (double)elements};
  note_begin(l);
  CLM_TRY(clm__gradient_check_enqueue(&replica->check, replica->losses, s->trainee->batch,
                                      replica->params.gradients, elements, replica->stop,
                                      replica->square_sum));
  return note_end(s, l, &what);
}

/* Reads weights, gradients and slots; writes weights and slots. */
static clm_status run_optimizer(step *s, ledger *l)
{
  clm__replica *replica = s->replica;
  const clm__optim_state *state = s->trainee->model.optim_state;
  const int slots = replica->params.slot_count;
  clm__optim_args args = {.elements = replica->config.weights->trainable_elements,
                          .w = replica->params.trained,
                          .g = replica->params.gradients,
                          .stop = replica->stop,
                          .gradient_scale = 1.0F / (float)s->trainee->batch,
                          .learning_rate = state->learning_rate,
                          .iterations = state->iterations + l->repeat};
  for (int i = 0; i < slots; i++) args.slots[i] = replica->params.slots[i];
  const timed_pass what = {.layer = "",
                           .op = state->optim->name,
                           .pass = "",
                           .variant = "",
                           .megabytes = 4e-6 * (double)args.elements * (3 + 2 * slots)};
  note_begin(l);
  CLM_TRY(replica->optim.optim->enqueue(&replica->optim, &args));
  return note_end(s, l, &what);
}

static clm_status run_step(step *s, ledger *l)
{
  l->row = 0;
  CLM_TRY(run_upload(s, l));
  for (int i = 0; i < s->net->node_count; i++) CLM_TRY(run_pass(s, l, i, CLM__FORWARD));
  CLM_TRY(run_loss(s, l));
  for (int i = s->net->node_count; i-- > 0;) {
    CLM_TRY(run_pass(s, l, i, CLM__BACKWARD_W));
    CLM_TRY(run_pass(s, l, i, CLM__BACKWARD_X));
    if (s->nodes[i].passes[CLM__BACKWARD_X].is_made) CLM_TRY(add_partials(s, l, i));
  }
  CLM_TRY(run_check(s, l));
  return run_optimizer(s, l);
}

static clm_status run_all(step *s, ledger *l)
{
  l->capacity = (size_t)s->net->node_count * (CLM__PASS_COUNT + 2) + 4;
  CLM_TRY(clm__mem_alloc(l->capacity, sizeof *l->passes->items, &l->passes->items));
  CLM_TRY(clm__mem_alloc(l->capacity * (size_t)l->repeats, sizeof *l->seconds, &l->seconds));
  CLM_TRY(clm__mem_alloc(l->capacity * (size_t)l->repeats, sizeof *l->busy, &l->busy));
  CLM_TRY(run_step(s, l)); /* warms up; the first repeat overwrites it */
  for (l->repeat = 0; l->repeat < l->repeats; l->repeat++) CLM_TRY(run_step(s, l));
  l->passes->count = l->row;
  for (size_t row = 0; row < l->row; row++) {
    timed_pass *pass = &l->passes->items[row];
    const size_t first = row * (size_t)l->repeats;
    pass->seconds = samples_evaluate(l->seconds + first, (size_t)l->repeats).median;
    pass->busy = samples_evaluate(l->busy + first, (size_t)l->repeats).median;
    l->passes->seconds += pass->seconds;
    l->passes->busy += pass->busy;
  }
  return CLM_OK;
}

clm_status passes_time(bench_trainee *trainee, int repeats, timed_passes *passes)
{
  *passes = (timed_passes){0};
  step s = {.trainee = trainee,
            .replica = trainee->replica,
            .device = trainee->replica->device,
            .net = trainee->replica->train.net};
  ledger l = {.passes = passes, .repeats = repeats};
  clm_status status = make_step(&s);
  if (status == CLM_OK) status = run_all(&s, &l);
  free_step(&s);
  clm__mem_free(l.busy);
  clm__mem_free(l.seconds);
  return status;
}

void passes_fini(timed_passes *passes)
{
  clm__mem_free(passes->items);
  *passes = (timed_passes){0};
}
