/* Inference on a batch in memory. */
#include "bench/bench.h"
#include "bench/peers.h"
#include "bench/trainee.h"

#include <stdio.h>
#include <string.h>

#define NET "flowers"
#define PREDICTED_BATCHES 8 /* of engine_keras.predict */

static const int batches[] = {32, 1, 128};

#define BATCH_COUNT (sizeof batches / sizeof *batches)

static clm_status run_ours(void *user) { return trainee_predict(user); }

static void add_peers(bench_contest *contest, const bench_peers *peers, const bench_run *bench,
                      int batch)
{
  char task[CONTEST_TASK_SIZE], name[sizeof contest->items[0].name];
  for (size_t i = 0; i < peers->count; i++) {
    const bench_peer *peer = &peers->items[i];
    (void)snprintf(task, sizeof task, "infer\t%s\t%d\t%s", NET, batch, bench->pixels_file);
    contest_add_peer(contest, peer, peer->name, batch, task);
    if (strcmp(peer->engine, "keras") != 0) continue;
    (void)snprintf(task, sizeof task, "predict\t%s\t%d\t%s", NET, batch, bench->pixels_file);
    (void)snprintf(name, sizeof name, "its predict(), %d batches", PREDICTED_BATCHES);
    contest_add_peer(contest, peer, name, batch * PREDICTED_BATCHES, task);
  }
}

static clm_status compete(bench_run *bench, const bench_peers *peers, int batch,
                          bench_contest *contest)
{
  char title[96], key[48];
  bench_trainee trainee;
  const trainee_config config = {.device = bench->device,
                                 .tune = bench->tune,
                                 .variant = bench->variant,
                                 .net = NET,
                                 .batch = batch,
                                 .use = TRAINEE_PREDICTS};
  const contest_rules rules = {.rounds = bench->quick ? 3 : 9, .turn_seconds = 0.4};
  clm_status status = trainee_open(&trainee, &config);
  contest_add(contest, "Clematis", batch, run_ours, &trainee);
  if (status == CLM_OK) status = trainee_write_pixels(&trainee, bench->pixels_file);
  if (status == CLM_OK) {
    add_peers(contest, peers, bench, batch);
    status = contest_run(contest, &rules);
  }
  if (status == CLM_OK) {
    (void)snprintf(title, sizeof title, "inference, %s, batch %d", NET, batch);
    (void)snprintf(key, sizeof key, "%s_%d", NET, batch);
    contest_tell(bench, contest, key, title);
  }
  trainee_close(&trainee);
  return status;
}

clm_status section_infer(bench_run *bench)
{
  bench_peers peers;
  clm_status status = peers_open(&peers, bench, PEER_INFER);
  clm__json_begin_object(&bench->json, "infer");
  for (size_t i = 0; i < BATCH_COUNT && status == CLM_OK; i++) {
    bench_contest contest = {0};
    status = compete(bench, &peers, batches[i], &contest);
    contest_fini(&contest);
  }
  clm__json_end_object(&bench->json);
  peers_close(&peers);
  return status;
}
