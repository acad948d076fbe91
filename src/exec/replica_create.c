#include "exec/replica_private.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/num.h"
#include "dev/blas_check.h"
#include "exec/problem.h"

#include <stdio.h>

/* ---- nets and runners ---- */

static clm_status make_mode(clm__replica *replica, bool training, bool logits, replica_mode *mode)
{
  const clm__replica_config *config = &replica->config;
  clm__fusion_judge judge = {.info = &replica->device->info, .variant = config->variant};
  const clm__net_options options = {.training = training,
                                    .logits = logits,
                                    .accepts = clm__fusion_judge_accepts,
                                    .accepts_user = &judge};
  CLM_TRY(clm__net_create(config->graph, config->weights, &options, &mode->net));
  const clm__runner_config runner = {.device = replica->device,
                                     .net = mode->net,
                                     .batch_max = config->batch_max,
                                     .tune = config->tune,
                                     .variant = config->variant,
                                     .join = config->join};
  return clm__runner_create(&runner, &mode->runner);
}

static void destroy_modes(clm__replica *replica)
{
  replica_mode *modes[] = {&replica->train, &replica->evaluate, &replica->predict};
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
    clm__runner_destroy(modes[i]->runner);
    clm__net_destroy(modes[i]->net);
    *modes[i] = (replica_mode){0};
  }
}

static clm_status make_modes(clm__replica *replica)
{
  const bool has_loss = replica->config.loss != NULL;
  if (replica->config.optim_state != NULL) CLM_TRY(make_mode(replica, true, true, &replica->train));
  if (has_loss) CLM_TRY(make_mode(replica, false, true, &replica->evaluate));
  if (!has_loss) CLM_TRY(make_mode(replica, false, false, &replica->predict));
  return CLM_OK;
}

/* Some drivers multiply matrices wrongly and tell nothing (CNugteren/CLBlast#542): where the model
 * relies on them, a few products are compared before step 1, and on a mismatch the hand-written
 * kernels take over. */
static clm_status mend_products(clm__replica *replica)
{
  const clm__runner *runners[] = {replica->train.runner, replica->evaluate.runner,
                                  replica->predict.runner};
  bool uses_blas = false;
  for (size_t i = 0; i < sizeof runners / sizeof *runners; i++)
    if (runners[i] != NULL && clm__runner_uses_blas(runners[i])) uses_blas = true;
  if (!uses_blas) return CLM_OK;
  clm__blas_verdict verdict;
  CLM_TRY(clm__blas_prepare(replica->device, replica->config.tune));
  CLM_TRY(clm__blas_check(replica->device, false, &verdict));
  if (verdict.is_right) return CLM_OK;
  clm__log(
      replica->config.log, CLM_LOG_WARNING,
      "%s (%s) multiplies matrices wrongly: a product of %zux%zu by %zux%zu is off by %.3g; its "
      "GEMM is not used",
      replica->device->info.id, replica->device->info.name, verdict.worst.m, verdict.worst.k,
      verdict.worst.k, verdict.worst.n, verdict.worst_error);
  replica->device->info.has_wrong_products = true;
  destroy_modes(replica);
  return make_modes(replica);
}

/* ---- memory ---- */

static int slot_count(const clm__replica *replica)
{
  return replica->config.optim_state != NULL ? replica->config.optim_state->slot_count : -1;
}

static size_t small_bytes(int batch_max) { return (size_t)batch_max * 4 * sizeof(float) + 8; }

/* The device memory that a replica with modes needs. */
static uint64_t needed_bytes(const clm__replica *replica)
{
  const clm__runner *runners[] = {replica->train.runner, replica->evaluate.runner,
                                  replica->predict.runner};
  size_t largest = 0;
  for (size_t i = 0; i < sizeof runners / sizeof *runners; i++)
    if (runners[i] != NULL) largest = clm__max_size(largest, clm__runner_size_bytes(runners[i]));
  return (uint64_t)largest + clm__params_size_bytes(replica->config.weights, slot_count(replica)) +
         small_bytes(replica->config.batch_max);
}

/* Tries a batch size by making everything but programs and memory. */
static bool batch_fits(const clm__replica *replica, int batch_max)
{
  clm__replica trial = {.config = replica->config, .device = replica->device};
  trial.config.batch_max = batch_max;
  const bool fits =
      make_modes(&trial) == CLM_OK && needed_bytes(&trial) <= replica->device->info.memory_bytes;
  destroy_modes(&trial);
  return fits;
}

/* The largest batch that fits, 0 where not even one image does. */
static int find_largest_batch(const clm__replica *replica)
{
  int fits = 0;
  int too_large = replica->config.batch_max;
  while (too_large - fits > 1) {
    const int middle = fits + (too_large - fits) / 2;
    if (batch_fits(replica, middle))
      fits = middle;
    else
      too_large = middle;
  }
  return fits;
}

/* Says what a person can do. needed: "it needs 35.8 MiB, the device has 32.0 MiB". */
static clm_status refuse_memory(const clm__replica *replica, const char *needed)
{
  const clm__device_info *info = &replica->device->info;
  const int largest = find_largest_batch(replica);
  CLM_REQUIRE(largest > 0, CLM_DEVICE_MEMORY,
              "the model does not fit on %s (%s): %s; not even a batch of 1 fits, use a smaller "
              "image or model",
              info->id, info->name, needed);
  CLM_FAIL(CLM_DEVICE_MEMORY,
           "a batch of %d does not fit on %s (%s): %s; the largest batch that fits is %d "
           "(--batch-size %d)",
           replica->config.batch_max, info->id, info->name, needed, largest, largest);
}

static clm_status make_fitting_modes(clm__replica *replica)
{
  clm_status status = make_modes(replica);
  if (status == CLM_OK) status = mend_products(replica);
  if (status == CLM_DEVICE_MEMORY) {
    char needed[CLM_ERROR_MESSAGE_SIZE];
    (void)snprintf(needed, sizeof needed, "%s", clm_error_last()->message);
    return refuse_memory(replica, needed);
  }
  CLM_TRY(status);
  const uint64_t needs = needed_bytes(replica);
  const uint64_t has = replica->device->info.memory_bytes;
  if (needs <= has) return CLM_OK;
  char needed[128];
  (void)snprintf(needed, sizeof needed, "it needs %.1f MiB, the device has %.1f MiB",
                 (double)needs / 1048576.0, (double)has / 1048576.0);
  return refuse_memory(replica, needed);
}

static void widen_arenas(const clm__runner *runner, clm__plan_arenas *arenas)
{
  if (runner == NULL) return;
  const clm__plan_arenas *wanted = clm__runner_arenas(runner);
  arenas->count = clm__max_int(arenas->count, wanted->count);
  for (int i = 0; i < wanted->count; i++)
    arenas->size_bytes[i] = clm__max_size(arenas->size_bytes[i], wanted->size_bytes[i]);
}

static clm_status make_arenas(clm__replica *replica)
{
  clm__plan_arenas arenas = {0};
  widen_arenas(replica->train.runner, &arenas);
  widen_arenas(replica->evaluate.runner, &arenas);
  widen_arenas(replica->predict.runner, &arenas);
  for (int i = 0; i < arenas.count; i++) {
    CLM_TRY(clm__buffer_create(replica->device, arenas.size_bytes[i], &replica->arenas[i]));
    replica->arena_count = i + 1;
    replica->device_bytes += arenas.size_bytes[i];
  }
  return CLM_OK;
}

/* Evaluation beside training is built later: the first step need not wait for it. */
static clm_status build_programs(clm__replica *replica)
{
  const int threads = replica->config.threads;
  if (replica->predict.runner != NULL) return clm__runner_build(replica->predict.runner, threads);
  if (replica->train.runner != NULL) return clm__runner_build(replica->train.runner, threads);
  return clm__replica_build_evaluation(replica);
}

clm_status clm__replica_build_evaluation(clm__replica *replica)
{
  if (replica->has_evaluation) return CLM_OK;
  CLM_TRY(clm__runner_build(replica->evaluate.runner, replica->config.threads));
  replica->has_evaluation = true;
  return CLM_OK;
}

static clm_status make_memory(clm__replica *replica)
{
  CLM_TRY(make_arenas(replica));
  CLM_TRY(clm__params_init(&replica->params, replica->device, replica->config.weights,
                           slot_count(replica), replica->config.gradients));
  replica->device_bytes += clm__params_size_bytes(replica->config.weights, slot_count(replica)) +
                           small_bytes(replica->config.batch_max);
  replica_mode *modes[] = {&replica->train, &replica->evaluate, &replica->predict};
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
    if (modes[i]->runner != NULL)
      CLM_TRY(clm__runner_bind(modes[i]->runner, replica->arenas, &replica->params));
  return CLM_OK;
}

/* ---- loss and optimizer ---- */

static clm__loss_head loss_head(const clm__replica *replica)
{
  const clm__replica_config *config = &replica->config;
  if (config->loss->from_logits(config->loss_attributes)) return CLM__HEAD_LOGITS;
  return replica->evaluate.net->ends_in_softmax ? CLM__HEAD_SOFTMAX : CLM__HEAD_PROBABILITIES;
}

static clm_status make_loss(clm__replica *replica)
{
  const clm__replica_config *config = &replica->config;
  if (config->loss == NULL) return CLM_OK;
  const size_t size_bytes = (size_t)config->batch_max * sizeof(float);
  CLM_TRY(clm__buffer_create(replica->device, size_bytes, &replica->labels));
  CLM_TRY(clm__buffer_create(replica->device, size_bytes, &replica->image_ids));
  CLM_TRY(clm__buffer_create(replica->device, size_bytes, &replica->losses));
  CLM_TRY(clm__buffer_create(replica->device, size_bytes, &replica->hits));
  CLM_TRY(clm__buffer_create(replica->device, sizeof(cl_int), &replica->stop));
  CLM_TRY(clm__buffer_create(replica->device, sizeof(cl_float), &replica->square_sum));
  CLM_TRY(clm__mem_alloc((size_t)config->batch_max, sizeof(float), &replica->host_losses));
  CLM_TRY(clm__mem_alloc((size_t)config->batch_max, sizeof(float), &replica->host_hits));
  return clm__loss_instance_init(&replica->loss, config->loss, config->loss_attributes,
                                 loss_head(replica), replica->classes, replica->device);
}

static clm_status make_optim(clm__replica *replica)
{
  const clm__optim_state *state = replica->config.optim_state;
  if (state == NULL) return CLM_OK;
  CLM_TRY(clm__gradient_check_init(&replica->check, replica->device));
  return clm__optim_instance_init(&replica->optim, state->optim, state->attributes,
                                  replica->device);
}

/* ---- the whole ---- */

static clm_status make_replica(clm__replica *replica)
{
  CLM_TRY(clm__choice_check(replica->config.variant));
  const clm__shape *output = clm__graph_output_shape(replica->config.graph);
  CLM_REQUIRE(output->rank == 1, CLM_BAD_DATA,
              "the model's output has %d dimensions besides the batch: a classifier ends in one "
              "number a class",
              output->rank);
  replica->classes = output->dims[0];
  CLM_TRY(make_fitting_modes(replica));
  CLM_TRY(build_programs(replica));
  CLM_TRY(make_memory(replica));
  CLM_TRY(make_loss(replica));
  CLM_TRY(make_optim(replica));
  CLM_TRY(clm__replica_parts_init(replica));
  return clm__device_finish(replica->device);
}

clm_status clm__replica_create(const clm__replica_config *config, clm__replica **replica)
{
  CLM_ASSERT(config->optim_state == NULL || config->loss != NULL);
  CLM_REQUIRE(config->batch_max >= 1, CLM_USAGE, "the batch size must be at least 1");
  clm__replica *made = NULL;
  CLM_TRY(clm__mem_alloc(1, sizeof *made, &made));
  made->config = *config;
  made->device = config->device;
  const clm_status status = make_replica(made);
  if (status != CLM_OK) {
    clm__replica_destroy(made);
    return status;
  }
  *replica = made;
  return CLM_OK;
}

void clm__replica_destroy(clm__replica *replica)
{
  if (replica == NULL) return;
  clm__replica_parts_fini(replica);
  clm__optim_instance_fini(&replica->optim);
  clm__gradient_check_fini(&replica->check);
  clm__loss_instance_fini(&replica->loss);
  destroy_modes(replica);
  clm__params_fini(&replica->params);
  clm__buffer_release(&replica->labels);
  clm__buffer_release(&replica->image_ids);
  clm__buffer_release(&replica->losses);
  clm__buffer_release(&replica->hits);
  clm__buffer_release(&replica->stop);
  clm__buffer_release(&replica->square_sum);
  for (int i = 0; i < replica->arena_count; i++) clm__buffer_release(&replica->arenas[i]);
  clm__mem_free(replica->host_losses);
  clm__mem_free(replica->host_hits);
  clm__mem_free(replica);
}
