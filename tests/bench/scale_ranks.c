/* Whole, halves and ranks take turns of a few steps, so that what else the machine does meets all
 * of them; a ratio is that of neighbouring turns. */
#include "bench/samples.h"
#include "bench/scale.h"
#include "bench/turns.h"

#include "sys/file.h"

#include <stdio.h>
#include <string.h>

enum { ROUNDS_MAX = 16, TURN_STEPS = 5, TURN_SUMS = 4, ALL_MAX = ROUNDS_MAX * ACT_STEPS_MAX };

typedef struct player {
  const char *key;
  const char *title;
  double steps[ALL_MAX];
  size_t count;
  double ratios[ROUNDS_MAX]; /* of its speed to that of one process on all cores */
  double busy[ROUNDS_MAX];   /* processor seconds of a step */
  samples_figures now;       /* the steps of the last turn */
} player;

typedef enum player_id { WHOLE, HALVES, RANKS, PLAYER_COUNT } player_id;

typedef struct stage {
  int batch;
  int rounds;
  clm__comm *comm;
  bench_act acts[RANKS]; /* of WHOLE and HALVES */
  bench_turns job;
  player players[PLAYER_COUNT];
  double sums[ALL_MAX], exposed[ALL_MAX], waited[ALL_MAX]; /* of RANKS */
  size_t sum_count;
  size_t exposed_count;
} stage;

static void append(double *all, size_t *count, const double *some, int some_count)
{
  memcpy(all + *count, some, (size_t)some_count * sizeof *all);
  *count += (size_t)some_count;
}

static clm_status play(stage *on, player_id id, int round)
{
  player *who = &on->players[id];
  act_figures figures;
  const turn_order order = {.steps = TURN_STEPS, .sums = id == RANKS ? TURN_SUMS : 0};
  if (id == RANKS) {
    size_t waited_count = on->exposed_count;
    CLM_TRY(turns_order(&on->job, &order, &figures));
    append(on->sums, &on->sum_count, figures.sum, figures.sums);
    append(on->exposed, &on->exposed_count, figures.exposed, figures.steps);
    append(on->waited, &waited_count, figures.waited, figures.steps);
  } else {
    CLM_TRY(act_turn(&on->acts[id], order.steps, order.sums, &figures));
  }
  append(who->steps, &who->count, figures.step, figures.steps);
  who->busy[round] = figures.busy;
  who->now = samples_evaluate(figures.step, TURN_STEPS);
  return CLM_OK;
}

static clm_status play_all(stage *on)
{
  for (int round = 0; round < on->rounds; round++) {
    for (int id = 0; id < PLAYER_COUNT; id++) CLM_TRY(play(on, (player_id)id, round));
    for (int id = 0; id < PLAYER_COUNT; id++)
      on->players[id].ratios[round] = on->players[WHOLE].now.median / on->players[id].now.median;
  }
  return CLM_OK;
}

static clm_status begin_job(const scale_run *run, stage *on)
{
  char batch[16];
  (void)snprintf(batch, sizeof batch, "%d", on->batch);
  const char *const arguments[] = {"env",
                                   "OMPI_ALLOW_RUN_AS_ROOT=1",
                                   "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                                   "mpirun",
                                   "-n",
                                   "2",
                                   "--oversubscribe",
                                   "--bind-to",
                                   "none",
                                   "--mca",
                                   "btl_vader_single_copy_mechanism",
                                   "none",
                                   run->self,
                                   "--rank",
                                   run->bench.scratch,
                                   batch,
                                   "half",
                                   NULL};
  return turns_begin(&on->job, run->bench.scratch, 2, arguments);
}

static clm_status open_stage(const scale_run *run, stage *on)
{
  act_config config = {.part_count = 1, .device_count = 1, .batch = on->batch};
  CLM_TRY(begin_job(run, on));
  CLM_TRY(clm__comm_open_alone(NULL, &on->comm));
  config.comm = on->comm;
  CLM_TRY(act_open(&on->acts[WHOLE], &config));
  config.part_count = config.device_count = 2;
  return act_open(&on->acts[HALVES], &config);
}

static void close_stage(stage *on)
{
  turns_end(&on->job);
  for (int i = 0; i < RANKS; i++) act_close(&on->acts[i]);
  clm__comm_close(on->comm);
}

static void tell_player(scale_run *run, const stage *on, player *who)
{
  clm__json_writer *json = &run->bench.json;
  double speeds[ALL_MAX];
  for (size_t i = 0; i < who->count; i++) speeds[i] = on->batch / who->steps[i];
  const samples_figures speed = samples_evaluate(speeds, who->count);
  const samples_figures ratio = samples_evaluate(who->ratios, (size_t)on->rounds);
  const samples_figures busy = samples_evaluate(who->busy, (size_t)on->rounds);
  bench_say(&run->bench, "%-32s %7.1f %10.1f-%-7.1f %7.1f %% %8.1f-%-6.1f %8.1f", who->title,
            speed.median, speed.low, speed.high, 100 * ratio.median, 100 * ratio.low,
            100 * ratio.high, 1e3 * busy.median);
  clm__json_begin_object(json, who->key);
  scale_put_samples(run, "images_per_second", speeds, who->count);
  scale_put_samples(run, "ratio", who->ratios, (size_t)on->rounds);
  scale_put_samples(run, "busy_seconds", who->busy, (size_t)on->rounds);
  clm__json_end_object(json);
}

static void tell_sums(scale_run *run, stage *on)
{
  clm__json_writer *json = &run->bench.json;
  const samples_figures sum = samples_evaluate(on->sums, on->sum_count);
  const samples_figures exposed = samples_evaluate(on->exposed, on->exposed_count);
  const samples_figures waited = samples_evaluate(on->waited, on->exposed_count);
  const double hidden = exposed.median < sum.median ? 1.0 - exposed.median / sum.median : 0.0;
  bench_say(&run->bench,
            "sums between the ranks: %.2f ms alone, %.2f ms behind the last gradient of both "
            "(%.2f ms with waiting for the other): %.0f %% hidden",
            1e3 * sum.median, 1e3 * exposed.median, 1e3 * waited.median, 100 * hidden);
  scale_put_samples(run, "sum_seconds", on->sums, on->sum_count);
  scale_put_samples(run, "exposed_seconds", on->exposed, on->exposed_count);
  scale_put_samples(run, "waited_seconds", on->waited, on->exposed_count);
  clm__json_put_number(json, "hidden", hidden);
}

static void tell_stage(scale_run *run, stage *on)
{
  bench_say(&run->bench, "\n%-32s %7s %18s %9s %13s %10s", "", "images/s", "half within",
            "of whole", "half within", "busy ms");
  bench_say(&run->bench, "global batch %d", on->batch);
  clm__json_begin_object(&run->bench.json, NULL);
  clm__json_put_int(&run->bench.json, "batch", on->batch);
  for (int id = 0; id < PLAYER_COUNT; id++) tell_player(run, on, &on->players[id]);
  tell_sums(run, on);
  clm__json_end_object(&run->bench.json);
}

static clm_status measure_batch(scale_run *run, int batch)
{
  static stage on; /* large */
  on =
      (stage){.batch = batch,
              .rounds = run->bench.quick ? 4 : 10,
              .players = {[WHOLE] = {.key = "whole", .title = "one device, all cores"},
                          [HALVES] = {.key = "halves", .title = "two devices, half the cores each"},
                          [RANKS] = {.key = "ranks", .title = "two ranks, half the cores each"}}};
  clm_status status = open_stage(run, &on);
  if (status == CLM_OK) status = play_all(&on);
  if (status == CLM_OK) tell_stage(run, &on);
  close_stage(&on);
  return status;
}

clm_status scale_ranks(scale_run *run)
{
  clm__json_begin_list(&run->bench.json, "ranks");
  clm_status status = measure_batch(run, 32);
  if (status == CLM_OK) status = measure_batch(run, 64);
  clm__json_end_list(&run->bench.json);
  return status;
}
