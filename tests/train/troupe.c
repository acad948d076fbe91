#include "train/troupe.h"

#include "base/mem.h"
#include "io/model_file.h"
#include "op/attributes.h"
#include "op/registry.h"
#include "support/folder.h"
#include "support/golden_batches.h"
#include "train/session_model.h"
#include "train/team_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct stage {
  troupe *all;
  world *ranks; /* NULL: there is one */
  const clm__device_info *info;
  const golden_batch *batches;
  clm__team_result results[WORLD_MAX][TROUPE_STEPS];
  float *weights[WORLD_MAX];
} stage;

/* One rank. */
typedef struct player {
  stage *on;
  int rank;
  clm__device *devices[8];
  clm__model_file model;
  clm__team *team;
  clm__trace *trace; /* NULL: none */
  clm_log log;
} player;

static clm_status open_devices(player *self)
{
  const troupe *all = self->on->all;
  const clm__trace_config traced = {
      .first_step = 1, .last_step = TROUPE_STEPS, .span_max = 1U << 14};
  const int parts = all->ranks * all->devices;
  const bool splits =
      self->on->info->kind == CLM__DEVICE_CPU && self->on->info->compute_units >= parts;
  if (all->traces) CLM_TRY(clm__trace_create(&traced, &self->trace));
  for (int i = 0; i < all->devices; i++) {
    const int place = self->rank * all->devices + i;
    const bool is_whole = !splits || (all->mixed && place == 0);
    const clm__device_choice choice = {.part = is_whole ? 0 : place,
                                       .part_count = is_whole ? 1 : parts};
    const clm__device_options options = {.trace = self->trace};
    CLM_TRY(clm__device_open(self->on->info, &choice, &options, &self->devices[i]));
  }
  return CLM_OK;
}

/* A layer behind the last one; `other` is added to it where it is no layer of attributes. */
static clm_status add_layer(clm__graph *graph, const char *name, const char *text, int other)
{
  const clm__op *op = NULL;
  void *attributes = NULL;
  const int inputs[] = {graph->output_layer, other};
  CLM_TRY(clm__registry_find_op(name, &op));
  CLM_TRY(clm__mem_alloc(1, op->attribute_bytes, &attributes));
  attributes_read(op->fields, text, attributes);
  const clm_status status = clm__graph_add(graph, op, NULL, attributes, inputs, other >= 0 ? 2 : 1);
  clm__mem_free(attributes);
  return status;
}

static clm_status add_normalizing(clm__graph *graph)
{
  CLM_TRY(add_layer(graph, "batch_normalization", NULL, -1));
  CLM_TRY(add_layer(graph, "global_average_pooling2d", NULL, -1));
  return add_layer(graph, "dense", "units=5", -1);
}

/* Nothing in it has a corner that rounding could step over. The gradients of the first Dense fill a
 * part of their own, which is complete before backward comes to a normalization. */
static clm_status add_residual(clm__graph *graph, bool is_marked)
{
  const char *marked = is_marked ? "synchronized=true" : NULL;
  const char *unscaled = is_marked ? "scale=false synchronized=true" : "scale=false";
  CLM_TRY(add_layer(graph, "batch_normalization", marked, -1));
  CLM_TRY(add_layer(graph, "conv2d", "filters=6 kernel_size=3 strides=2 use_bias=false", -1));
  CLM_TRY(add_layer(graph, "batch_normalization", marked, -1));
  CLM_TRY(add_layer(graph, "activation", "activation=tanh", -1));
  const int shortcut = graph->output_layer;
  CLM_TRY(add_layer(graph, "conv2d", "filters=6 kernel_size=3 padding=same use_bias=false", -1));
  CLM_TRY(add_layer(graph, "batch_normalization", marked, -1));
  CLM_TRY(add_layer(graph, "add", NULL, shortcut));
  CLM_TRY(add_layer(graph, "batch_normalization", unscaled, -1));
  CLM_TRY(add_layer(graph, "activation", "activation=sigmoid", -1));
  CLM_TRY(add_layer(graph, "flatten", NULL, -1));
  CLM_TRY(add_layer(graph, "dense", "units=40 activation=tanh", -1));
  return add_layer(graph, "dense", "units=5 activation=softmax", -1);
}

static clm_status make_model(const troupe *all, clm__model_file *model)
{
  clm_train_config training = clm_train_config_default();
  CLM_TRY(clm__graph_create("small", false, "input_layer", clm__shape3(36, 36, 3), &model->graph));
  if (all->is_residual) {
    training.optimizer = "sgd";
    CLM_TRY(add_residual(model->graph, all->is_marked));
  } else {
    CLM_TRY(add_normalizing(model->graph));
  }
  CLM_TRY(clm__weights_create(model->graph, &model->weights));
  clm__weights_initialize(model->weights, 1);
  return clm__session_compile(&training, model);
}

static clm_status open_model(player *self)
{
  const troupe *all = self->on->all;
  if (all->normalizes || all->is_residual) return make_model(all, &self->model);
  char path[1024];
  (void)snprintf(path, sizeof path, "%s/golden/train/init.keras", tests_folder());
  CLM_TRY(clm__model_file_read(path, NULL, &self->model));
  if (self->model.optim_state != NULL) return CLM_OK;
  return clm__optim_state_create(self->model.compile.optim, self->model.compile.optim_attributes,
                                 self->model.weights, &self->model.optim_state);
}

static clm_status open_team(player *self, clm__comm *comm)
{
  const troupe *all = self->on->all;
  CLM_TRY(open_devices(self));
  CLM_TRY(open_model(self));
  const clm__team_config config = {
      .devices = self->devices,
      .device_count = all->devices,
      .comm = comm,
      .replica = {.graph = self->model.graph,
                  .weights = self->model.weights,
                  .loss = self->model.compile.loss,
                  .loss_attributes = self->model.compile.loss_attributes,
                  .optim_state = self->model.optim_state,
                  .join = all->join,
                  .variant = "plain",
                  .threads = 1,
                  .log = &self->log},
      .batch_size = all->batch,
      .largest_batch = (size_t)all->batch,
      .shares = all->shares,
      .share_sets = all->shares != NULL,
      .wire = all->wire,
      .trace = self->trace};
  CLM_TRY(clm__team_create(&config, &self->team));
  return clm__team_write_weights(self->team, self->model.weights->values);
}

/* This rank's part of a global batch. */
static clm__batch part_of(const player *self, int step, int count)
{
  static const uint32_t ids[GOLDEN_BATCH_SIZE];
  const golden_batch *batch = &self->on->batches[step % GOLDEN_BATCHES];
  size_t first = 0, images = 0;
  clm__team_part(self->team, (size_t)count, &first, &images);
  return (clm__batch){.pixels = batch->pixels + first * GOLDEN_IMAGE_FLOATS,
                      .labels = batch->labels + first,
                      .samples = ids,
                      .count = (int)images};
}

static clm_status fail_to_load(void) { CLM_FAIL(CLM_IO, "the disk of the last rank is gone"); }

static clm_status train_step(player *self, int step)
{
  const troupe *all = self->on->all;
  const bool is_last = self->rank == all->ranks - 1;
  const clm__batch batch = part_of(self, step, all->batch);
  clm__team_input input = {.batch = &batch,
                           .is_spoiled = self->rank == 0 && step + 1 == all->nan_step,
                           .wants_stop = is_last && step + 1 == all->stop_step,
                           .wants_save = self->rank == 0 && step + 1 == all->save_step,
                           .learning_rate = all->is_residual ? 0.01F : 0.001F,
                           .iterations = step};
  if (is_last && step + 1 == all->missing_step) {
    input.batch = NULL;
    input.failure = fail_to_load();
  }
  if (is_last && step + 1 == all->broken_step) break_network(self->on->ranks);
  clm__trace_begin_step(self->trace, (uint64_t)step + 1);
  const clm_status status =
      clm__team_train(self->team, &input, &self->on->results[self->rank][step]);
  clm__trace_end_step(self->trace);
  return status;
}

typedef struct counts {
  uint64_t allocations;
  uint64_t buffers;
  uint64_t finishes;
  uint64_t kernels;
} counts;

static counts count_now(const player *self)
{
  counts now = {.allocations = clm__mem_get_counts().allocations};
  for (int i = 0; i < self->on->all->devices; i++) {
    now.buffers += atomic_load(&self->devices[i]->counts.buffers_created);
    now.kernels += atomic_load(&self->devices[i]->counts.kernels_enqueued);
    now.finishes += atomic_load(&self->devices[i]->counts.finishes);
  }
  return now;
}

static uint64_t count_kernel_spans(const clm__trace *trace)
{
  uint64_t count = 0;
  if (trace == NULL) return 0;
  for (size_t i = 0; i < clm__trace_get_counts(trace).spans; i++)
    count += strcmp(clm__trace_get_span(trace, i)->category, "kernel") == 0;
  return count;
}

static clm_status train(player *self)
{
  troupe *all = self->on->all;
  counts before = {0};
  const counts begin = count_now(self);
  for (int step = 0; step < all->steps; step++) {
    if (step == 1) before = count_now(self);
    CLM_TRY(train_step(self, step));
  }
  const counts after = count_now(self);
  if (all->ranks > 1) return CLM_OK;
  all->allocations = after.allocations - before.allocations;
  all->buffers = after.buffers - before.buffers;
  all->finishes = after.finishes - before.finishes;
  all->kernels = after.kernels - begin.kernels;
  all->kernel_spans = count_kernel_spans(self->trace);
  return CLM_OK;
}

static clm_status evaluate(player *self)
{
  troupe *all = self->on->all;
  clm__team_result sums = {0};
  const clm__batch batch = part_of(self, 0, all->evaluate);
  CLM_TRY(clm__team_evaluate(self->team, &batch, &sums));
  CLM_TRY(clm__team_sum(self->team, &sums));
  if (self->rank == 0) all->evaluation = sums;
  return CLM_OK;
}

/* Spoils the weights of the job's last replica. */
static clm_status drift(player *self, float *weights)
{
  const troupe *all = self->on->all;
  if (!all->drifts || self->rank != all->ranks - 1) return CLM_OK;
  clm__replica *last = self->team->members[all->devices - 1].replica;
  CLM_TRY(clm__replica_read_weights(last, weights));
  weights[0] += 1.0F;
  return clm__replica_write_weights(last, weights);
}

/* What this rank's replicas hold at the end, which must be the same. */
static clm_status read_weights(player *self, float *weights, size_t elements)
{
  CLM_TRY(drift(self, weights));
  CLM_TRY(clm__team_read_weights(self->team, weights));
  float *others = calloc(elements, sizeof *others);
  if (others == NULL) exit(1);
  bool are_same = true;
  for (int i = 1; i < self->on->all->devices; i++) {
    CLM_TRY(clm__replica_read_weights(self->team->members[i].replica, others));
    are_same = are_same && memcmp(others, weights, elements * sizeof *others) == 0;
  }
  free(others);
  CLM_REQUIRE(are_same, CLM_INTERNAL, "the replicas of rank %d hold other weights", self->rank);
  return CLM_OK;
}

static clm_status report(player *self)
{
  clm__team_row rows[TROUPE_REPLICAS];
  if (self->on->all->ranks * self->on->all->devices == 1) return CLM_OK;
  CLM_TRY(clm__team_report(self->team, rows));
  if (self->rank == 0) memcpy(self->on->all->rows, rows, sizeof rows);
  return CLM_OK;
}

static clm_status play(player *self, clm__comm *comm)
{
  CLM_TRY(open_team(self, comm));
  CLM_TRY(train(self));
  CLM_TRY(report(self));
  if (self->on->all->evaluate > 0) CLM_TRY(evaluate(self));
  const size_t elements = self->model.weights->elements;
  float *weights = calloc(elements, sizeof *weights);
  if (weights == NULL) exit(1);
  self->on->weights[self->rank] = weights;
  if (self->rank == 0) {
    self->on->all->weight_count = elements;
    self->on->all->trained_count = self->model.weights->trainable_elements;
  }
  return read_weights(self, weights, elements);
}

/* The first rank alone tells of a job. */
static void keep_warning(void *user, clm_log_level level, const char *message)
{
  const player *self = user;
  troupe *all = self->on->all;
  if (level != CLM_LOG_WARNING || self->rank != 0) return;
  (void)snprintf(all->warning, sizeof all->warning, "%s", message);
}

static void keep_buckets(const player *self)
{
  const clm__team *team = self->team;
  clm__bucket **kept = self->on->all->kept[self->rank];
  int count = 0;
  for (int i = 0; i < team->part_count && count < TROUPE_KEPT; i++)
    kept[count++] = team->parts[i].bucket;
  for (int i = 0; i < team->joint_count && count < TROUPE_KEPT; i++)
    kept[count++] = team->joints[i].bucket;
}

static bool run_rank(clm__comm *comm, world *where)
{
  stage *on = where->shared;
  player self = {.on = on, .rank = clm__comm_get_rank(comm)};
  self.log = (clm_log){.receive = keep_warning, .user = &self};
  clm__comm_set_timeout(comm, on->all->broken_step > 0 ? 2000 : 20000);
  if (play(&self, comm) != CLM_OK) on->all->failures[self.rank] = *clm_error_last();
  if (on->all->broken_step > 0 && self.team != NULL) keep_buckets(&self);
  clm__team_destroy(self.team);
  clm__model_file_fini(&self.model);
  for (int i = 0; i < on->all->devices; i++) clm__device_close(self.devices[i]);
  clm__trace_destroy(self.trace);
  return true;
}

static void check_agreement(const troupe *all, const stage *on)
{
  if (all->broken_step > 0) return;
  for (int rank = 1; rank < all->ranks; rank++) {
    assert_int_equal(all->failures[rank].status, all->failures[0].status);
    if (all->failures[0].status != CLM_OK) {
      assert_string_equal(all->failures[rank].message, all->failures[0].message);
      continue;
    }
    assert_memory_equal(on->results[rank], on->results[0],
                        (size_t)all->steps * sizeof on->results[0][0]);
    assert_memory_equal(on->weights[rank], on->weights[0], all->weight_count * sizeof(float));
  }
}

void troupe_run(troupe *all, const test_options *options)
{
  clm__device *device = test_device_open(options, 0);
  static golden_batch batches[GOLDEN_BATCHES];
  golden_batches_read(batches);
  stage on = {.all = all, .info = &device->info, .batches = batches};
  if (all->ranks == 1) {
    world alone = {.size = 1, .shared = &on};
    clm__comm *comm = NULL;
    assert_ok(clm__comm_open_alone(NULL, &comm));
    assert_true(run_rank(comm, &alone));
    clm__comm_close(comm);
  } else {
    world ranks = {.size = all->ranks,
                   .seed = 7,
                   .broken_rank = all->broken_step > 0 ? all->ranks - 1 : -1,
                   .run = run_rank,
                   .shared = &on};
    on.ranks = &ranks;
    assert_true(run_world(&ranks));
  }
  check_agreement(all, &on);
  memcpy(all->results, on.results[0], sizeof all->results);
  all->weights = on.weights[0];
  for (int rank = 1; rank < all->ranks; rank++) free(on.weights[rank]);
  clm__device_close(device);
}

void troupe_free(troupe *all)
{
  free(all->weights);
  all->weights = NULL;
}
