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

static clm_status measure_case(bench_run *bench, const start_case *c)
{
  double seconds[RUNS_MAX];
  for (int i = 0; i < c->runs; i++) {
    child_figures figures;
    CLM_TRY(child_run(&c->child, &figures));
    seconds[i] = figures.seconds;
  }
  const samples_figures f = samples_evaluate(seconds, (size_t)c->runs);
  bench_say(bench, "%-44s %9.1f ms %15.1f-%.1f", c->title, f.median * 1e3, f.low * 1e3,
            f.high * 1e3);
  clm__json_begin_object(&bench->json, c->key);
  clm__json_put_number(&bench->json, "median_ms", f.median * 1e3);
  clm__json_put_number(&bench->json, "low_ms", f.low * 1e3);
  clm__json_put_number(&bench->json, "high_ms", f.high * 1e3);
  clm__json_end_object(&bench->json);
  return CLM_OK;
}

/* Fresh folders for our kernel cache and PoCL's. */
static clm_status measure_cold(bench_run *bench, const start_case *warm, int run)
{
  char name[32];
  char *ours = NULL, *pocl = NULL;
  (void)snprintf(name, sizeof name, "kernels-%d", run);
  CLM_TRY(clm__file_join(bench->scratch, name, &ours));
  clm_status status = clm__file_join(ours, "pocl", &pocl);
  if (status == CLM_OK) status = clm__file_make_folder(pocl);
  const char *const variables[] = {"CLEMATIS_CACHE", ours, "POCL_CACHE_DIR", pocl, NULL};
  start_case cold = *warm;
  cold.key = "first_step_cold";
  cold.title = "first step, no kernel built before";
  cold.child.variables = variables;
  cold.runs = 1;
  if (status == CLM_OK) status = measure_case(bench, &cold);
  clm__mem_free(ours);
  clm__mem_free(pocl);
  return status;
}

static clm_status measure_ours(bench_run *bench)
{
  const char *const help[] = {bench->program, "--help", NULL};
  const char *const first[] = {bench->self, "--first-step", bench->photos, bench->scratch, NULL};
  const start_case start_help = {"help", "clematis --help", {.arguments = help}, RUNS_MAX};
  const start_case warm = {
      "first_step_warm", "first step, kernels built before", {.arguments = first}, 5};
  child_figures unused;
  CLM_TRY(measure_case(bench, &start_help));
  CLM_TRY(measure_cold(bench, &warm, 0));
  CLM_TRY(child_run(&warm.child, &unused)); /* fills the user's cache */
  return measure_case(bench, &warm);
}

clm_status section_start(bench_run *bench)
{
  char *script = NULL;
  CLM_TRY(clm__file_join(bench->scripts, "keras_flowers.py", &script));
  bench_say(bench, "\n%-44s %12s %19s", "from the start of the program", "median",
            "half of them within");
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
