/* How long a person waits: for help, and for the first step of a training. */
#include "bench/bench.h"
#include "bench/child.h"
#include "bench/samples.h"

#include "base/mem.h"
#include "sys/file.h"

#include <stdio.h>

#define RUNS_MAX 15

typedef struct start_case {
  const char *key;
  const char *title;
  child_config child;
  int runs;
} start_case;

static clm_status run_all(const start_case *c, double *wall, double *busy)
{
  for (int i = 0; i < c->runs; i++) {
    child_figures figures;
    CLM_TRY(child_run(&c->child, &figures));
    wall[i] = figures.seconds;
    busy[i] = figures.busy;
  }
  return CLM_OK;
}

static clm_status measure_case(bench_run *bench, const start_case *c)
{
  double wall[RUNS_MAX], busy[RUNS_MAX];
  char spread[32];
  CLM_TRY(run_all(c, wall, busy));
  const samples_figures f = samples_evaluate(wall, (size_t)c->runs);
  const samples_figures b = samples_evaluate(busy, (size_t)c->runs);
  (void)snprintf(spread, sizeof spread, "%.1f-%.1f", f.low * 1e3, f.high * 1e3);
  bench_say(bench, "%-34s %9.1f %15s %9.1f %9.1f", c->title, f.median * 1e3, spread, f.best * 1e3,
            b.median * 1e3);
  clm__json_begin_object(&bench->json, c->key);
  clm__json_put_number(&bench->json, "median_ms", f.median * 1e3);
  clm__json_put_number(&bench->json, "low_ms", f.low * 1e3);
  clm__json_put_number(&bench->json, "high_ms", f.high * 1e3);
  clm__json_put_number(&bench->json, "best_ms", f.best * 1e3);
  clm__json_put_number(&bench->json, "busy_ms", b.median * 1e3);
  clm__json_end_object(&bench->json);
  return CLM_OK;
}

/* Our kernel cache and PoCL's are fresh folders, filled by the first case for the second. */
static clm_status measure_first_steps(bench_run *bench, const char *ours, const char *pocl)
{
  const char *const step[] = {"env",          ours,          pocl,           bench->self,
                              "--first-step", bench->photos, bench->scratch, NULL};
  const char *const fill[] = {"env",           ours,          pocl,           bench->self,
                              "--stopped-run", bench->photos, bench->scratch, NULL};
  const start_case cold = {
      "first_step_cold", "first step, kernels to be built", {.arguments = step}, 1};
  const start_case warm = {
      "first_step_warm", "first step, kernels on disk", {.arguments = step}, 5};
  const child_config filling = {.arguments = fill};
  child_figures unused;
  CLM_TRY(measure_case(bench, &cold));
  CLM_TRY(child_run(&filling, &unused));
  return measure_case(bench, &warm);
}

static clm_status measure_ours(bench_run *bench)
{
  char ours[1200], pocl[1200];
  const char *const arguments[] = {bench->program, "--help", NULL};
  const start_case help = {"help", "clematis --help", {.arguments = arguments}, RUNS_MAX};
  CLM_TRY(measure_case(bench, &help));
  (void)snprintf(pocl, sizeof pocl, "%s/pocl", bench->scratch);
  CLM_TRY(clm__file_make_folder(pocl));
  (void)snprintf(pocl, sizeof pocl, "POCL_CACHE_DIR=%s/pocl", bench->scratch);
  (void)snprintf(ours, sizeof ours, "CLEMATIS_CACHE=%s/cache", bench->scratch);
  return measure_first_steps(bench, ours, pocl);
}

clm_status section_start(bench_run *bench)
{
  char *script = NULL;
  CLM_TRY(clm__file_join(bench->scripts, "keras_flowers.py", &script));
  bench_say(bench, "\n%-34s %9s %15s %9s %9s", "from the start of the program", "median ms",
            "half within", "best ms", "busy ms");
  clm__json_begin_object(&bench->json, "start");
  clm_status status = measure_ours(bench);
  for (size_t i = 0; i < bench->against_count && status == CLM_OK; i++) {
    const char *const arguments[] = {bench->against[i], script, bench->photos, "0", NULL};
    const start_case theirs = {
        "first_step_keras", "first step of the Keras program", {.arguments = arguments}, 3};
    if (measure_case(bench, &theirs) != CLM_OK)
      bench_note("%s does not take part: %s", bench->against[i], clm_error_last()->message);
  }
  clm__json_end_object(&bench->json);
  clm__mem_free(script);
  return status;
}
