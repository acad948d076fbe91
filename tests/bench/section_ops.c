/* Every pass of a training step, beside the limits of the machine, and matrix products beside
 * CLBlast's. */
#include "bench/bench.h"
#include "bench/passes.h"
#include "bench/rivals.h"

#define BATCH 32

/* The least time that arithmetic and memory allow, as measured on this device in this run. */
static double limit_seconds(const bench_run *bench, const timed_pass *pass)
{
  const double arithmetic = pass->gflop / bench->measured.gflops;
  const double memory = pass->megabytes * 1e-3 / bench->measured.gbytes;
  return arithmetic > memory ? arithmetic : memory;
}

static void write_pass(bench_run *bench, const timed_pass *pass)
{
  clm__json_writer *json = &bench->json;
  clm__json_begin_object(json, NULL);
  clm__json_put_text(json, "layer", pass->layer);
  clm__json_put_text(json, "op", pass->op);
  clm__json_put_text(json, "pass", pass->pass);
  clm__json_put_text(json, "variant", pass->variant);
  clm__json_put_number(json, "ms", pass->seconds * 1e3);
  clm__json_put_number(json, "busy_ms", pass->busy * 1e3);
  clm__json_put_number(json, "gflop", pass->gflop);
  clm__json_put_number(json, "megabytes", pass->megabytes);
  clm__json_put_number(json, "share_of_peak", pass->gflop / pass->seconds / bench->measured.gflops);
  clm__json_put_number(json, "share_of_bandwidth",
                       pass->megabytes * 1e-3 / pass->seconds / bench->measured.gbytes);
  clm__json_end_object(json);
}

static void say_pass(const bench_run *bench, const timed_pass *pass, double all_seconds)
{
  const double gflops = pass->gflop / pass->seconds;
  const double gbytes = pass->megabytes * 1e-3 / pass->seconds;
  bench_say(bench, "%-26s %-24s %-6s %-6s %8.2f %4.0f%% %8.2f %7.0f %4.0f%% %8.1f %4.0f%% %6.2f",
            pass->layer, pass->op, pass->pass, pass->variant, pass->seconds * 1e3,
            100 * pass->seconds / all_seconds, pass->busy * 1e3, gflops,
            100 * gflops / bench->measured.gflops, pass->megabytes,
            100 * gbytes / bench->measured.gbytes, limit_seconds(bench, pass) * 1e3);
}

static void tell(bench_run *bench, const char *net, const timed_passes *passes)
{
  double limit = 0, gflop = 0;
  bench_say(bench, "\n%s, batch %d: the passes of a training step", net, BATCH);
  bench_say(bench, "%-26s %-24s %-6s %-6s %8s %5s %8s %7s %5s %8s %5s %6s", "layer", "op", "pass",
            "by", "ms", "", "busy", "GFLOP/s", "peak", "MB", "band", "limit");
  clm__json_begin_object(&bench->json, net);
  clm__json_put_int(&bench->json, "batch", BATCH);
  clm__json_begin_list(&bench->json, "passes");
  for (size_t i = 0; i < passes->count; i++) {
    const timed_pass *pass = &passes->items[i];
    limit += limit_seconds(bench, pass);
    gflop += pass->gflop;
    say_pass(bench, pass, passes->seconds);
    write_pass(bench, pass);
  }
  clm__json_end_list(&bench->json);
  clm__json_put_number(&bench->json, "ms", passes->seconds * 1e3);
  clm__json_put_number(&bench->json, "busy_ms", passes->busy * 1e3);
  clm__json_put_number(&bench->json, "limit_ms", limit * 1e3);
  bench_say(
      bench, "sum %.1f ms (busy %.1f ms), of which the limit is %.1f ms (%.0f %%); %.1f GFLOP",
      passes->seconds * 1e3, passes->busy * 1e3, limit * 1e3, 100 * limit / passes->seconds, gflop);
}

static clm_status measure(bench_run *bench, const char *net, timed_passes *passes)
{
  bench_trainee trainee;
  const trainee_config config = {.device = bench->device,
                                 .tune = bench->tune,
                                 .variant = bench->variant,
                                 .net = net,
                                 .batch = BATCH,
                                 .use = TRAINEE_TRAINS};
  clm_status status = trainee_open(&trainee, &config);
  for (int i = 0; i < 2 && status == CLM_OK; i++) status = trainee_step(&trainee);
  if (status == CLM_OK) status = passes_time(&trainee, bench->quick ? 5 : 15, passes);
  if (status == CLM_OK) tell(bench, net, passes);
  passes_fini(passes);
  trainee_close(&trainee);
  if (status == CLM_OK) status = rivals_measure(bench, net, BATCH);
  if (status == CLM_OK) clm__json_end_object(&bench->json);
  return status;
}

clm_status section_ops(bench_run *bench)
{
  timed_passes passes = {0};
  clm__json_begin_object(&bench->json, "ops");
  CLM_TRY(measure(bench, "flowers", &passes));
  CLM_TRY(measure(bench, "residual", &passes));
  clm__json_end_object(&bench->json);
  return CLM_OK;
}
