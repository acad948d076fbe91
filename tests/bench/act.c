#include "bench/act.h"

#include "base/mem.h"
#include "base/num.h"
#include "bench/samples.h"
#include "dev/device.h"
#include "sys/clock.h"
#include "sys/thread.h"

#include <math.h>
#include <string.h>

/* The buckets of a sum, as large as the largest of a step. */
enum { SUM_BUCKETS_MAX = 16, SUM_BUCKET_FLOATS = 1024 * 1024 };

static clm_status choose_cpu(const clm__device_info *infos, size_t count, size_t *index)
{
  clm__device_choice *chosen = NULL;
  size_t chosen_count = 0;
  CLM_TRY(clm__device_select(infos, count, "cpu", &chosen, &chosen_count));
  *index = chosen[0].index;
  clm__mem_free(chosen);
  return CLM_OK;
}

static clm_status open_device(const act_config *config, int place, clm__device **device)
{
  clm__device_info *infos = NULL;
  size_t count = 0;
  clm__device_choice choice = {.part = config->part + place, .part_count = config->part_count};
  CLM_TRY(clm__device_list(NULL, &infos, &count));
  clm_status status = choose_cpu(infos, count, &choice.index);
  if (status == CLM_OK)
    status = clm__device_open(&infos[choice.index], &choice, &(clm__device_options){0}, device);
  clm__mem_free(infos);
  return status;
}

static clm_status open_team(bench_act *act)
{
  const act_config *config = &act->config;
  const clm__model_file *model = &act->trainee.model;
  const clm__team_config team = {.devices = act->devices,
                                 .device_count = config->device_count,
                                 .comm = config->comm,
                                 .replica = {.graph = model->graph,
                                             .weights = model->weights,
                                             .loss = model->compile.loss,
                                             .loss_attributes = model->compile.loss_attributes,
                                             .optim_state = model->optim_state,
                                             .threads = clm__thread_processors()},
                                 .batch_size = config->batch,
                                 .largest_batch = (size_t)config->batch};
  CLM_TRY(clm__team_create(&team, &act->team));
  CLM_TRY(clm__team_write_weights(act->team, model->weights->values));
  return clm__team_write_slots(act->team, model->optim_state);
}

clm_status act_open(bench_act *act, const act_config *config)
{
  *act = (bench_act){.config = *config};
  for (int i = 0; i < config->device_count; i++) CLM_TRY(open_device(config, i, &act->devices[i]));
  const trainee_config trainee = {
      .device = act->devices[0], .net = "flowers", .batch = config->batch, .use = TRAINEE_FEEDS};
  CLM_TRY(trainee_open(&act->trainee, &trainee));
  return open_team(act);
}

void act_close(bench_act *act)
{
  clm__team_destroy(act->team);
  trainee_close(&act->trainee);
  for (int i = 0; i < ACT_DEVICES_MAX; i++) clm__device_close(act->devices[i]);
  *act = (bench_act){0};
}

static clm_status run_step(bench_act *act, double *seconds, double *waited)
{
  size_t first = 0, count = 0;
  const bench_trainee *images = &act->trainee;
  clm__team_part(act->team, (size_t)act->config.batch, &first, &count);
  const clm__batch batch = {
      .pixels = images->pixels + first * clm__shape_elements(&images->model.graph->input_shape),
      .labels = images->labels + first,
      .samples = images->image_ids + first,
      .count = (int)count};
  const clm__team_input input = {
      .batch = &batch, .learning_rate = 0.001F, .iterations = act->iterations++};
  clm__team_result result;
  const double waited_before = clm__team_get_times(act->team).exposed_seconds;
  const double begin = clm__clock_seconds();
  CLM_TRY(clm__team_train(act->team, &input, &result));
  *seconds = clm__clock_seconds() - begin;
  *waited = clm__team_get_times(act->team).exposed_seconds - waited_before;
  return CLM_OK;
}

/* What a rank tells the others of its steps. */
typedef struct share {
  double busy;
  double waited[ACT_STEPS_MAX];
} share;

/* What each rank waited for becomes the least and the mean of all ranks. */
static void merge_shares(const share *all, int ranks, act_figures *figures)
{
  figures->busy = 0.0;
  for (int rank = 0; rank < ranks; rank++) figures->busy += all[rank].busy;
  for (int i = 0; i < figures->steps; i++) {
    double least = INFINITY, total = 0.0;
    for (int rank = 0; rank < ranks; rank++) {
      least = fmin(least, all[rank].waited[i]);
      total += all[rank].waited[i];
    }
    figures->exposed[i] = least;
    figures->waited[i] = total / ranks;
  }
}

static clm_status share_figures(bench_act *act, act_figures *figures)
{
  clm__comm *comm = act->config.comm;
  const int ranks = clm__comm_get_size(comm);
  share mine = {.busy = figures->busy}, *all = NULL;
  memcpy(mine.waited, figures->waited, sizeof mine.waited);
  CLM_TRY(clm__mem_alloc((size_t)ranks, sizeof *all, &all));
  const clm_status status = clm__comm_gather(comm, &mine, sizeof mine, all);
  if (status == CLM_OK) merge_shares(all, ranks, figures);
  clm__mem_free(all);
  return status;
}

/* ---- sums with nothing beside them ---- */

typedef struct sum_stage {
  clm__window *window;
  clm__bucket *buckets[SUM_BUCKETS_MAX];
  int count;
} sum_stage;

static clm_status make_stage(const bench_act *act, sum_stage *stage)
{
  const size_t floats = act->trainee.model.weights->trainable_elements;
  clm__comm *const comm = act->config.comm;
  CLM_TRY(clm__window_create(comm, floats * sizeof(float), SUM_BUCKETS_MAX, &stage->window));
  float *const values = clm__window_get_bytes(stage->window);
  for (size_t at = 0; at < floats && stage->count < SUM_BUCKETS_MAX; stage->count++) {
    const clm__bucket_config config = {.values = values + at,
                                       .window = stage->window,
                                       .count = clm__min_size(floats - at, SUM_BUCKET_FLOATS)};
    CLM_TRY(clm__bucket_create(comm, &config, &stage->buckets[stage->count]));
    at += config.count;
  }
  return CLM_OK;
}

static clm_status run_sum(const bench_act *act, const sum_stage *stage, double *seconds)
{
  CLM_TRY(clm__comm_barrier(act->config.comm));
  const double begin = clm__clock_seconds();
  for (int i = 0; i < stage->count; i++) CLM_TRY(clm__bucket_start(stage->buckets[i]));
  for (int i = 0; i < stage->count; i++) CLM_TRY(clm__bucket_wait(stage->buckets[i]));
  *seconds = clm__clock_seconds() - begin;
  return CLM_OK;
}

static clm_status run_sums(const bench_act *act, act_figures *figures)
{
  sum_stage stage = {0};
  double unused = 0.0;
  clm_status status = make_stage(act, &stage);
  if (status == CLM_OK) status = run_sum(act, &stage, &unused);
  for (int i = 0; i < figures->sums && status == CLM_OK; i++)
    status = run_sum(act, &stage, &figures->sum[i]);
  for (int i = 0; i < stage.count; i++) clm__bucket_destroy(stage.buckets[i]);
  clm__window_destroy(stage.window);
  return status;
}

/* Several meetings at once: one is shorter than what wakes a rank. */
static clm_status run_meetings(const bench_act *act, act_figures *figures)
{
  enum { MEETINGS = 20 };
  CLM_TRY(clm__comm_barrier(act->config.comm));
  for (int i = 0; i < figures->sums; i++) {
    const double begin = clm__clock_seconds();
    for (int k = 0; k < MEETINGS; k++) CLM_TRY(clm__comm_barrier(act->config.comm));
    figures->meet[i] = (clm__clock_seconds() - begin) / MEETINGS;
  }
  return CLM_OK;
}

clm_status act_turn(bench_act *act, int steps, int sums, act_figures *figures)
{
  double unused = 0.0;
  *figures = (act_figures){.steps = steps, .sums = sums};
  CLM_TRY(run_step(act, &unused, &unused));
  const samples_time begin = samples_now();
  for (int i = 0; i < steps; i++) CLM_TRY(run_step(act, &figures->step[i], &figures->waited[i]));
  figures->busy = samples_since(begin).busy / steps;
  CLM_TRY(share_figures(act, figures));
  if (sums == 0) return CLM_OK;
  CLM_TRY(run_sums(act, figures));
  return run_meetings(act, figures);
}
