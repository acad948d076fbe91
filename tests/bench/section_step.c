/* Training steps on a batch in memory. */
#include "bench/bench.h"
#include "bench/peers.h"
#include "bench/trainee.h"

#include <stdio.h>

typedef struct step_setting {
  const char *net;
  int batch;
} step_setting;

static const step_setting settings[] = {
    {"flowers", 32}, {"flowers", 1}, {"flowers", 8}, {"flowers", 128}, {"residual", 32}};

#define SETTING_COUNT (sizeof settings / sizeof *settings)

static clm_status run_ours(void *user) { return trainee_step(user); }

/* What one step asks of the driver. */
static clm_status tell_counts(bench_run *bench, bench_trainee *trainee)
{
  const clm__device_counts *counts = &bench->device->counts;
  const uint64_t before[] = {counts->kernels_enqueued, counts->finishes, counts->bytes_to_device,
                             counts->bytes_from_device, counts->buffers_created};
  CLM_TRY(trainee_step(trainee));
  const uint64_t now[] = {counts->kernels_enqueued, counts->finishes, counts->bytes_to_device,
                          counts->bytes_from_device, counts->buffers_created};
  bench_say(bench,
            "a step: %llu kernels, %llu waits, %.1f MB to the device, %.1f kB from it, %llu new "
            "buffers; device memory %.0f MB",
            (unsigned long long)(now[0] - before[0]), (unsigned long long)(now[1] - before[1]),
            1e-6 * (double)(now[2] - before[2]), 1e-3 * (double)(now[3] - before[3]),
            (unsigned long long)(now[4] - before[4]),
            1e-6 * (double)clm__replica_device_bytes(trainee->replica));
  return CLM_OK;
}

static clm_status compete(bench_run *bench, const bench_peers *peers, const step_setting *setting,
                          bench_contest *contest)
{
  char title[96], key[48], task[CONTEST_TASK_SIZE];
  bench_trainee trainee;
  const trainee_config config = {.device = bench->device,
                                 .tune = bench->tune,
                                 .variant = bench->variant,
                                 .net = setting->net,
                                 .batch = setting->batch,
                                 .use = TRAINEE_TRAINS};
  const contest_rules rules = {.rounds = bench->quick ? 3 : 9, .turn_seconds = 0.6};
  clm_status status = trainee_open(&trainee, &config);
  contest_add(contest, "Clematis", setting->batch, run_ours, &trainee);
  if (status == CLM_OK) status = trainee_write_pixels(&trainee, bench->pixels_file);
  if (status == CLM_OK) {
    (void)snprintf(task, sizeof task, "step\t%s\t%d\t%s", setting->net, setting->batch,
                   bench->pixels_file);
    for (size_t i = 0; i < peers->count; i++)
      contest_add_peer(contest, &peers->items[i], peers->items[i].name, setting->batch, task);
    status = contest_run(contest, &rules);
  }
  if (status == CLM_OK) {
    (void)snprintf(title, sizeof title, "training step, %s, batch %d", setting->net,
                   setting->batch);
    (void)snprintf(key, sizeof key, "%s_%d", setting->net, setting->batch);
    contest_tell(bench, contest, key, title);
    status = tell_counts(bench, &trainee);
  }
  trainee_close(&trainee);
  return status;
}

clm_status section_step(bench_run *bench)
{
  bench_peers peers;
  clm_status status = peers_open(&peers, bench, PEER_STEP);
  clm__json_begin_object(&bench->json, "step");
  for (size_t i = 0; i < SETTING_COUNT && status == CLM_OK; i++) {
    bench_contest contest = {0};
    status = compete(bench, &peers, &settings[i], &contest);
    contest_fini(&contest);
  }
  clm__json_end_object(&bench->json);
  peers_close(&peers);
  return status;
}
