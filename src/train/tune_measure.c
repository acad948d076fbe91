#include "train/tune_measure.h"

#include "base/mem.h"
#include "base/num.h"
#include "base/testswitch.h"
#include "dev/blas_check.h"
#include "sys/clock.h"
#include "train/tune_bench.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS 9
#define ROUNDS_LEAST 3       /* before a candidate may be dropped */
#define HOPELESS 1.4         /* times the fastest */
#define SAMPLE_SECONDS 0.001 /* a sample takes at least, by repeating calls */
#define CALLS_MOST 100
#define PRODUCT_SECONDS 0.25 /* a pass that multiplies longer than that is not weighed */

/* A candidate on the bench. */
typedef struct runner {
  clm__instance instance;
  bool is_made;
  bool is_hopeless;
  int calls;
  int sample_count;
  double samples[ROUNDS];
} runner;

/* One problem of a task under measurement. */
typedef struct match {
  const clm__tune_bounds *bounds;
  const clm__problem *problem;
  clm__pass pass;
  clm__tune_candidates *list;
  clm__tune_bench bench;
  runner *runners; /* [list->count] */
} match;

static bool is_late(const clm__tune_bounds *bounds)
{
  return clm__clock_seconds() > bounds->deadline;
}

static void announce(const clm__tune_bounds *bounds, const char *name)
{
  bounds->on_try(bounds->user, name);
  if (name[0] == '\0') return;
  if (clm__testswitch_is("CLEMATIS_TEST_TUNE_CRASH", name)) (void)raise(SIGKILL);
  if (clm__testswitch_is("CLEMATIS_TEST_TUNE_HANG", name)) (void)pause();
}

static void refuse(clm__tune_candidate *item, const char *why)
{
  item->verdict = CLM_TUNE_REFUSED;
  (void)snprintf(item->note, sizeof item->note, "%.*s", (int)strcspn(why, "\n"), why);
}

/* ---- making and comparing ---- */

static bool is_usable_here(const match *m, const clm__tune_candidate *item)
{
  for (const clm__variant *const *at = m->problem->op->variants; *at != NULL; at++)
    if (strcmp((*at)->name, item->values.variant) == 0)
      return clm__variant_is_usable(*at, m->problem, m->pass, &m->bounds->device->info);
  return false;
}

static void make_runners(match *m)
{
  for (size_t i = 0; i < m->list->count && !is_late(m->bounds); i++) {
    clm__tune_candidate *item = &m->list->items[i];
    if (item->verdict != CLM_TUNE_GOOD || !is_usable_here(m, item)) continue;
    announce(m->bounds, item->name);
    runner *made = &m->runners[i];
    const clm_status status = clm__instance_init_with(&made->instance, m->problem, m->pass,
                                                      m->bounds->device, &item->values);
    made->is_made = status == CLM_OK;
    if (status != CLM_OK) refuse(item, clm_error_last()->message);
  }
}

static bool is_running(const match *m, size_t i)
{
  return m->runners[i].is_made && m->list->items[i].verdict == CLM_TUNE_GOOD;
}

static clm_status compare_all(match *m)
{
  for (size_t i = 0; i < m->list->count && !is_late(m->bounds); i++) {
    clm__tune_candidate *item = &m->list->items[i];
    if (!is_running(m, i)) continue;
    announce(m->bounds, item->name);
    const bool is_spoiled = clm__testswitch_is("CLEMATIS_TEST_TUNE_WRONG", item->name);
    CLM_TRY(clm__tune_bench_check(&m->bench, &m->runners[i].instance, is_spoiled, &item->error));
    item->allowed = CLM__TUNE_TOLERANCE;
    if (item->error > CLM__TUNE_TOLERANCE) item->verdict = CLM_TUNE_WRONG;
  }
  return CLM_OK;
}

/* ---- timing ---- */

static int compare_doubles(const void *a, const void *b)
{
  const double left = *(const double *)a, right = *(const double *)b;
  return (left > right) - (left < right);
}

static double median(const runner *at)
{
  double sorted[ROUNDS];
  memcpy(sorted, at->samples, sizeof sorted);
  qsort(sorted, (size_t)at->sample_count, sizeof sorted[0], compare_doubles);
  return sorted[at->sample_count / 2];
}

static clm_status take_sample(match *m, size_t i)
{
  runner *at = &m->runners[i];
  double seconds = 0;
  announce(m->bounds, m->list->items[i].name);
  if (at->calls == 0) {
    CLM_TRY(clm__tune_bench_time(&m->bench, &at->instance, 1, &seconds));
    at->calls = (int)fmin(ceil(SAMPLE_SECONDS / fmax(seconds, 1e-6)), CALLS_MOST);
  }
  return clm__tune_bench_time(&m->bench, &at->instance, at->calls,
                              &at->samples[at->sample_count++]);
}

static void drop_hopeless(match *m)
{
  double best = INFINITY;
  for (size_t i = 0; i < m->list->count; i++)
    if (is_running(m, i)) best = fmin(best, median(&m->runners[i]));
  for (size_t i = 0; i < m->list->count; i++)
    if (is_running(m, i) && median(&m->runners[i]) > HOPELESS * best)
      m->runners[i].is_hopeless = true;
}

/* Candidates take turns, so that a machine that changes its pace does so for all of them. */
static clm_status time_all(match *m)
{
  for (int round = 0; round < ROUNDS; round++) {
    for (size_t i = 0; i < m->list->count; i++) {
      if (is_late(m->bounds)) return CLM_OK;
      if (is_running(m, i) && !m->runners[i].is_hopeless) CLM_TRY(take_sample(m, i));
    }
    if (round + 1 >= ROUNDS_LEAST) drop_hopeless(m);
  }
  return CLM_OK;
}

/* Where a candidate cannot run this problem, the first that can takes its place, as in training. */
static void add_times(match *m)
{
  double first = 0.0;
  for (size_t i = m->list->count; i-- > 0;)
    if (is_running(m, i)) first = median(&m->runners[i]);
  for (size_t i = 0; i < m->list->count; i++) {
    clm__tune_candidate *item = &m->list->items[i];
    if (item->verdict != CLM_TUNE_GOOD) continue;
    item->seconds += is_running(m, i) ? median(&m->runners[i]) : first;
  }
}

/* ---- a task ---- */

static clm_status run_match(match *m)
{
  CLM_TRY(clm__mem_alloc(m->list->count, sizeof *m->runners, &m->runners));
  m->bounds->on_try(m->bounds->user, "");
  CLM_TRY(clm__tune_bench_open(&m->bench, m->bounds->device, m->problem, m->pass));
  CLM_TRY(clm__tune_bench_add_plain(&m->bench));
  make_runners(m);
  for (int pattern = 0; pattern < CLM__TUNE_PATTERNS && !is_late(m->bounds); pattern++) {
    m->bounds->on_try(m->bounds->user, "");
    CLM_TRY(clm__tune_bench_fill(&m->bench, (clm__tune_pattern)pattern));
    CLM_TRY(compare_all(m));
  }
  CLM_TRY(time_all(m));
  if (!is_late(m->bounds)) add_times(m);
  return CLM_OK;
}

static clm_status measure_problem(const clm__tune_bounds *bounds, const clm__problem *problem,
                                  clm__pass pass, clm__tune_candidates *list)
{
  match m = {.bounds = bounds, .problem = problem, .pass = pass, .list = list};
  const clm_status status = run_match(&m);
  for (size_t i = 0; m.runners != NULL && i < list->count; i++)
    if (m.runners[i].is_made) clm__instance_fini(&m.runners[i].instance);
  clm__mem_free(m.runners);
  clm__tune_bench_close(&m.bench);
  return status;
}

clm_status clm__tune_measure(const clm__tune_bounds *bounds, const clm__tune_task *task,
                             clm__tune_candidates *list, bool *is_over)
{
  for (int i = 0; i < task->problem_count && !is_late(bounds); i++)
    CLM_TRY(measure_problem(bounds, task->problems[i], task->pass, list));
  *is_over = is_late(bounds);
  return CLM_OK;
}

/* ---- CLBlast ---- */

static const clm__variant *find_blas_variant(const clm__tune_task *task,
                                             const clm__device_info *info)
{
  for (const clm__variant *const *at = task->problems[0]->op->variants; *at != NULL; at++)
    if ((*at)->uses_blas && clm__variant_is_usable(*at, task->problems[0], task->pass, info))
      return *at;
  return NULL;
}

/* *seconds is the median, or that of the second call where it is hopeless; the first one
 * compiles. */
static clm_status time_instance(clm__tune_bench *bench, const clm__variant *variant,
                                double *seconds)
{
  runner at = {0};
  clm__tune_values values = {0};
  (void)snprintf(values.variant, sizeof values.variant, "%s", variant->name);
  CLM_TRY(
      clm__instance_init_with(&at.instance, bench->problem, bench->pass, bench->device, &values));
  clm_status status = clm__tune_bench_time(bench, &at.instance, 1, seconds);
  if (status == CLM_OK) status = clm__tune_bench_time(bench, &at.instance, 1, seconds);
  const int wanted = *seconds < PRODUCT_SECONDS ? ROUNDS_LEAST : 0;
  while (status == CLM_OK && at.sample_count < wanted)
    status = clm__tune_bench_time(bench, &at.instance, 1, &at.samples[at.sample_count++]);
  if (status == CLM_OK && wanted > 0) *seconds = median(&at);
  clm__instance_fini(&at.instance);
  return status;
}

static clm_status time_task(const clm__tune_bounds *bounds, const clm__tune_task *task,
                            const clm__variant *variant, double *seconds)
{
  clm__tune_bench bench;
  clm_status status = clm__tune_bench_open(&bench, bounds->device, task->problems[0], task->pass);
  if (status == CLM_OK) status = clm__tune_bench_fill(&bench, CLM__TUNE_RANDOM);
  if (status == CLM_OK) status = time_instance(&bench, variant, seconds);
  clm__tune_bench_close(&bench);
  return status;
}

/* Adds the times of the passes in `taken`. The first parameters decide which these are: products so
 * slow that nobody will use them would outweigh all others. */
static clm_status time_plan(const clm__tune_bounds *bounds, const clm__tune_plan *plan,
                            bool is_first, bool *taken, double *sum)
{
  for (size_t i = 0; i < plan->count; i++) {
    const clm__variant *variant = find_blas_variant(&plan->tasks[i], &bounds->device->info);
    double seconds = 0.0;
    if (variant == NULL || (!is_first && !taken[i])) continue;
    CLM_TRY(time_task(bounds, &plan->tasks[i], variant, &seconds));
    if (is_first) taken[i] = seconds < PRODUCT_SECONDS;
    if (taken[i]) *sum += seconds;
  }
  return CLM_OK;
}

static clm_status measure_parameters(const clm__tune_bounds *bounds, const clm__tune_plan *plan,
                                     clm__tune_candidate *item, bool is_first, bool *taken)
{
  clm__blas_verdict verdict;
  announce(bounds, item->name);
  CLM_TRY(clm__blas_use(bounds->device, item->values.defines));
  CLM_TRY(clm__blas_check(bounds->device, false, &verdict));
  item->error = verdict.worst_error;
  item->allowed = CLM__BLAS_TOLERANCE;
  if (clm__testswitch_is("CLEMATIS_TEST_TUNE_WRONG", item->name)) item->error = 1.0;
  if (item->error > item->allowed) item->verdict = CLM_TUNE_WRONG;
  if (item->verdict != CLM_TUNE_GOOD) return CLM_OK;
  return time_plan(bounds, plan, is_first, taken, &item->seconds);
}

static clm_status measure_all(const clm__tune_bounds *bounds, const clm__tune_plan *plan,
                              clm__tune_candidates *list, bool *taken)
{
  bool is_first = true;
  for (size_t i = 0; i < list->count; i++) {
    clm__tune_candidate *item = &list->items[i];
    if (item->verdict == CLM_TUNE_GOOD && is_late(bounds)) refuse(item, "there was no time for it");
    if (item->verdict != CLM_TUNE_GOOD) continue;
    CLM_TRY(measure_parameters(bounds, plan, item, is_first, taken));
    is_first = is_first && item->verdict != CLM_TUNE_GOOD;
  }
  return CLM_OK;
}

clm_status clm__tune_measure_blas(const clm__tune_bounds *bounds, const clm__tune_plan *plan,
                                  clm__tune_candidates *list)
{
  bool *taken = NULL;
  CLM_TRY(clm__mem_alloc(plan->count, sizeof *taken, &taken));
  const clm_status status = measure_all(bounds, plan, list, taken);
  clm__mem_free(taken);
  return status;
}
