#include "op/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLES 24                /* elements of an array that finite differences look at */
#define STEP 1e-6                 /* of the differences */
#define DIFFERENCE_TOLERANCE 1e-6 /* of the reference's gradients; everything is double */

static double *make_doubles(size_t count)
{
  double *values = calloc(count, sizeof *values);
  assert_non_null(values);
  return values;
}

static double *widen(const float *from, size_t count)
{
  double *values = make_doubles(count);
  for (size_t i = 0; i < count; i++) values[i] = from[i];
  return values;
}

static float *narrow(const double *from, size_t count)
{
  float *values = calloc(count, sizeof *values);
  assert_non_null(values);
  for (size_t i = 0; i < count; i++) values[i] = (float)from[i];
  return values;
}

static size_t count_x(const op_bench *bench, int i)
{
  return bench_input_elements(bench, i) * (size_t)bench->batch;
}

static size_t count_y(const op_bench *bench)
{
  return bench_output_elements(bench) * (size_t)bench->batch;
}

/* A reference call with memory of its own. `x` of the call points to `inputs`. */
typedef struct reference {
  const op_bench *bench;
  clm__ref_call call;
  double *inputs[CLM__INPUTS_MAX];
  double *dy;
  double *kept_w[CLM__PARAMS_MAX]; /* as they were before forward */
} reference;

static void open_reference(reference *ref, const op_bench *bench)
{
  const clm__problem *problem = &bench->problem;
  *ref = (reference){.bench = bench,
                     .dy = widen(bench->dy, count_y(bench)),
                     .call = {.problem = problem,
                              .batch = bench->batch,
                              .y = make_doubles(count_y(bench)),
                              .image_ids = bench->image_ids,
                              .seed = BENCH_SEED,
                              .epoch = BENCH_EPOCH}};
  ref->call.dy = ref->dy;
  for (int i = 0; i < problem->input_count; i++) {
    ref->inputs[i] = widen(bench->x[i], count_x(bench, i));
    ref->call.x[i] = ref->inputs[i];
    ref->call.dx[i] = make_doubles(count_x(bench, i));
  }
  for (int i = 0; i < problem->spec.param_count; i++) {
    const size_t count = bench_param_elements(bench, i);
    ref->kept_w[i] = widen(bench->w[i], count);
    ref->call.w[i] = widen(bench->w[i], count);
    ref->call.dw[i] = make_doubles(count);
  }
}

static void close_reference(reference *ref)
{
  free(ref->call.y);
  free(ref->dy);
  for (int i = 0; i < CLM__INPUTS_MAX; i++) {
    free(ref->inputs[i]);
    free(ref->call.dx[i]);
  }
  for (int i = 0; i < CLM__PARAMS_MAX; i++) {
    free(ref->kept_w[i]);
    free(ref->call.w[i]);
    free(ref->call.dw[i]);
  }
}

/* Puts the weights back that forward may have changed. */
static void restore_weights(reference *ref)
{
  for (int i = 0; i < ref->bench->problem.spec.param_count; i++)
    memcpy(ref->call.w[i], ref->kept_w[i],
           bench_param_elements(ref->bench, i) * sizeof *ref->kept_w[i]);
}

/* The scalar whose gradients backward gives: sum of y * dy. */
static double run_scalar(reference *ref)
{
  double sum = 0.0;
  restore_weights(ref);
  ref->bench->suite->forward(&ref->call);
  for (size_t i = 0; i < count_y(ref->bench); i++) sum += ref->call.y[i] * ref->dy[i];
  return sum;
}

static double differentiate(reference *ref, double *element)
{
  const double before = *element;
  *element = before + STEP;
  const double above = run_scalar(ref);
  *element = before - STEP;
  const double below = run_scalar(ref);
  *element = before;
  return (above - below) / (2.0 * STEP);
}

/* One array to differentiate by, and where its gradient is known or goes to. */
typedef struct slope {
  const char *name;
  double *values;   /* perturbed */
  double *gradient; /* of the reference, or filled in here */
  bool *judged;     /* filled in where the reference has no backward; else NULL */
  size_t count;
} slope;

static void judge_slope(reference *ref, const slope *one)
{
  const size_t samples = one->count < SAMPLES ? one->count : SAMPLES;
  for (size_t k = 0; k < samples; k++) {
    const size_t i = k * one->count / samples;
    const double difference = differentiate(ref, &one->values[i]);
    if (one->judged != NULL) {
      one->gradient[i] = difference;
      one->judged[i] = true;
      continue;
    }
    const double error = fabs(difference - one->gradient[i]) / fmax(1.0, fabs(difference));
    if (!(error <= DIFFERENCE_TOLERANCE))
      fail_msg("case %s: the reference's %s is %.9g at %zu, finite differences give %.9g",
               ref->bench->test->name, one->name, one->gradient[i], i, difference);
  }
}

static bool *make_mask(const op_bench *bench, size_t count)
{
  if (bench->suite->backward != NULL) return NULL;
  bool *mask = calloc(count, sizeof *mask);
  assert_non_null(mask);
  return mask;
}

static void judge_gradients(op_bench *bench, reference *ref)
{
  for (int i = 0; i < bench->problem.input_count; i++) {
    const size_t count = count_x(bench, i);
    bench->judged_dx[i] = make_mask(bench, count);
    if (!bench_needs_dx(bench, i) || bench->test->no_differences) continue;
    judge_slope(ref, &(slope){"dx", ref->inputs[i], ref->call.dx[i], bench->judged_dx[i], count});
  }
  for (int i = 0; i < bench->problem.spec.param_count; i++) {
    const size_t count = bench_param_elements(bench, i);
    bench->judged_dw[i] = make_mask(bench, count);
    if (!bench_is_trained(bench, i) || bench->test->no_differences) continue;
    judge_slope(ref, &(slope){"dw", ref->kept_w[i], ref->call.dw[i], bench->judged_dw[i], count});
  }
}

void bench_expect(op_bench *bench)
{
  const clm__op_spec *spec = &bench->problem.spec;
  reference ref;
  open_reference(&ref, bench);
  (void)run_scalar(&ref);
  bench->expected.y = narrow(ref.call.y, count_y(bench));
  for (int i = 0; i < spec->param_count; i++)
    bench->expected.w[i] = narrow(ref.call.w[i], bench_param_elements(bench, i));
  if (!bench->test->inference && !bench->test->specials) {
    restore_weights(&ref);
    if (bench->suite->backward != NULL) bench->suite->backward(&ref.call);
    judge_gradients(bench, &ref);
  }
  for (int i = 0; i < bench->problem.input_count; i++)
    bench->expected.dx[i] = narrow(ref.call.dx[i], count_x(bench, i));
  for (int i = 0; i < spec->param_count; i++)
    bench->expected.dw[i] = narrow(ref.call.dw[i], bench_param_elements(bench, i));
  close_reference(&ref);
}
