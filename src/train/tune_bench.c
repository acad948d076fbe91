#include "train/tune_bench.h"

#include "base/mem.h"
#include "base/num.h"
#include "base/rng.h"
#include "sys/clock.h"

#include <math.h>
#include <string.h>

#define SEED UINT64_C(0x7117e5)
#define FLIPS_SHARE 1000 /* one of so many gradients behind a pool may go another way */

/* ---- memory ---- */

static clm_status make_array(clm__tune_bench *b, size_t elements, bool is_result,
                             clm__tune_array *array)
{
  array->elements = elements;
  CLM_TRY(clm__buffer_create(b->device, elements * sizeof(float), &array->buffer));
  if (is_result) CLM_TRY(clm__mem_alloc(elements, sizeof(float), &array->expected));
  return CLM_OK;
}

static void free_array(clm__tune_array *array)
{
  clm__buffer_release(&array->buffer);
  clm__mem_free(array->expected);
}

static bool saves(const clm__tune_bench *b) { return b->problem->training && b->saved_bytes > 0; }

/* Gradients of inputs judge what forward saved, so they are made there too. */
static bool judges_saved(const clm__tune_bench *b) { return b->pass == CLM__FORWARD && saves(b); }

static bool has_dx(const clm__tune_bench *b, int input)
{
  return (b->probe.need_dx >> input & 1U) != 0;
}

static clm_status make_params(clm__tune_bench *b)
{
  for (int i = 0; i < b->problem->spec.param_count; i++) {
    const clm__param_spec *param = &b->problem->spec.params[i];
    const size_t elements = clm__shape_elements(&param->shape);
    CLM_TRY(make_array(b, elements, b->pass == CLM__FORWARD && !param->trainable, &b->w[i]));
    CLM_TRY(make_array(b, elements, b->pass == CLM__BACKWARD_W && param->trainable, &b->dw[i]));
  }
  return CLM_OK;
}

static clm_status make_arrays(clm__tune_bench *b)
{
  const size_t batch = (size_t)b->problem->batch_max;
  const size_t outputs = clm__shape_elements(&b->problem->spec.output) * batch;
  size_t largest = outputs;
  for (int i = 0; i < b->problem->input_count; i++) {
    const size_t elements = clm__shape_elements(&b->problem->inputs[i]) * batch;
    largest = clm__max_size(largest, elements);
    CLM_TRY(make_array(b, elements, false, &b->x[i]));
    const bool is_result = b->pass == CLM__BACKWARD_X || judges_saved(b);
    if (has_dx(b, i)) CLM_TRY(make_array(b, elements, is_result, &b->dx[i]));
  }
  CLM_TRY(make_array(b, outputs, b->pass == CLM__FORWARD, &b->y));
  CLM_TRY(make_array(b, outputs, false, &b->dy));
  CLM_TRY(make_params(b));
  for (int i = 0; i < b->problem->spec.param_count; i++)
    largest = clm__max_size(largest, b->w[i].elements);
  if (saves(b)) CLM_TRY(clm__buffer_create(b->device, clm__round_up(b->saved_bytes, 4), &b->saved));
  CLM_TRY(clm__mem_alloc(largest, sizeof *b->host, &b->host));
  return clm__buffer_create(b->device, batch * sizeof(uint32_t), &b->image_ids);
}

clm_status clm__tune_bench_open(clm__tune_bench *b, clm__device *device,
                                const clm__problem *problem, clm__pass pass)
{
  *b = (clm__tune_bench){.device = device, .problem = problem, .pass = pass, .probe = *problem};
  const clm__op_spec *spec = &problem->spec;
  b->saved_bytes = spec->saved_bytes + spec->saved_bytes_per_image * (size_t)problem->batch_max;
  if (judges_saved(b)) b->probe.need_dx = (1U << problem->input_count) - 1;
  return make_arrays(b);
}

clm_status clm__tune_bench_add_plain(clm__tune_bench *b)
{
  const clm__tune_values plain = {.variant = "plain"};
  for (int pass = 0; pass < CLM__PASS_COUNT; pass++) {
    const bool is_backward = pass != CLM__FORWARD;
    if (is_backward && (!b->problem->training || (b->pass == CLM__FORWARD && !saves(b)))) continue;
    if (pass == CLM__BACKWARD_X && b->pass == CLM__BACKWARD_W) continue;
    if (!clm__problem_has_pass(&b->probe, (clm__pass)pass)) continue;
    CLM_TRY(
        clm__instance_init_with(&b->plain[pass], &b->probe, (clm__pass)pass, b->device, &plain));
    b->has_plain[pass] = true;
  }
  return CLM_OK;
}

void clm__tune_bench_close(clm__tune_bench *b)
{
  for (int pass = 0; pass < CLM__PASS_COUNT; pass++)
    if (b->has_plain[pass]) clm__instance_fini(&b->plain[pass]);
  for (int i = 0; i < CLM__INPUTS_MAX; i++) {
    free_array(&b->x[i]);
    free_array(&b->dx[i]);
  }
  for (int i = 0; i < CLM__PARAMS_MAX; i++) {
    free_array(&b->w[i]);
    free_array(&b->dw[i]);
  }
  free_array(&b->y);
  free_array(&b->dy);
  clm__buffer_release(&b->saved);
  clm__buffer_release(&b->image_ids);
  clm__buffer_release(&b->workspace);
  clm__mem_free(b->host);
  *b = (clm__tune_bench){0};
}

/* ---- what goes in ---- */

static float pick_extreme(uint32_t bits)
{
  static const float values[] = {0.0F, -0.0F, 1e-40F, -1e-39F, 1e-20F, -3e-30F, 1e4F, -1e4F};
  const float unit = clm__rng_unit(bits) - 0.5F;
  if (bits % 4 == 0) return unit;
  return values[bits >> 2 & 7U] * (1.0F + unit);
}

static float pick(clm__tune_pattern pattern, uint32_t bits)
{
  switch (pattern) {
  case CLM__TUNE_ZEROS:
    return 0.0F;
  case CLM__TUNE_TIES:
    return 0.5F * (float)(int)(bits % 3) - 0.5F;
  case CLM__TUNE_EXTREMES:
    return pick_extreme(bits);
  default:
    return clm__rng_unit(bits) - 0.5F;
  }
}

/* A fixed sequence a stream, moved up by `least`. */
static clm_status fill(clm__tune_bench *b, const clm__tune_array *array, uint32_t stream,
                       clm__tune_pattern pattern, float least)
{
  uint32_t bits[4];
  for (size_t i = 0; i < array->elements; i++) {
    if (i % 4 == 0) clm__rng_block(SEED, CLM__RNG_TEST, stream, i / 4, bits);
    b->host[i] = pick(pattern, bits[i % 4]) + least;
  }
  return clm__buffer_write(b->device, array->buffer, 0, b->host, array->elements * sizeof(float),
                           true);
}

static bool is_positive(const char *name)
{
  return strstr(name, "variance") != NULL || strstr(name, "gamma") != NULL;
}

static clm_status fill_weights(clm__tune_bench *b)
{
  for (int i = 0; i < b->problem->spec.param_count; i++)
    CLM_TRY(fill(b, &b->w[i], 20 + (uint32_t)i, CLM__TUNE_RANDOM,
                 is_positive(b->problem->spec.params[i].name) ? 1.0F : 0.0F));
  return CLM_OK;
}

static clm_status fill_inputs(clm__tune_bench *b, clm__tune_pattern pattern)
{
  for (int i = 0; i < b->problem->input_count; i++)
    CLM_TRY(fill(b, &b->x[i], (uint32_t)i, pattern, 0.0F));
  CLM_TRY(fill(b, &b->dy, 40, CLM__TUNE_RANDOM, 0.0F));
  return fill_weights(b);
}

/* ---- running ---- */

static void fill_args(const clm__tune_bench *b, clm__op_args *args)
{
  *args = (clm__op_args){.batch = b->problem->batch_max,
                         .y = b->y.buffer,
                         .dy = b->dy.buffer,
                         .saved = b->saved,
                         .workspace = b->workspace,
                         .image_ids = b->image_ids,
                         .seed = SEED};
  for (int i = 0; i < b->problem->input_count; i++) {
    args->x[i] = b->x[i].buffer;
    args->dx[i] = b->dx[i].buffer;
  }
  for (int i = 0; i < b->problem->spec.param_count; i++) {
    args->w[i] = b->w[i].buffer;
    args->dw[i] = b->dw[i].buffer;
  }
}

static clm_status enqueue(clm__tune_bench *b, clm__instance *instance)
{
  clm__op_args args;
  if (instance->workspace_bytes > b->workspace_bytes) {
    clm__buffer_release(&b->workspace);
    b->workspace_bytes = 0;
    CLM_TRY(clm__buffer_create(b->device, instance->workspace_bytes, &b->workspace));
    b->workspace_bytes = instance->workspace_bytes;
  }
  fill_args(b, &args);
  return clm__instance_enqueue(instance, &args);
}

static clm_status run_plain(clm__tune_bench *b, clm__pass pass)
{
  if (!b->has_plain[pass]) return CLM_OK;
  CLM_TRY(enqueue(b, &b->plain[pass]));
  return clm__device_finish(b->device);
}

/* ---- results ---- */

/* What a pass writes; count of the arrays. */
static int list_results(clm__tune_bench *b, clm__tune_array *results[CLM__INPUTS_MAX])
{
  int count = 0;
  if (b->pass == CLM__FORWARD) results[count++] = &b->y;
  for (int i = 0; b->pass == CLM__BACKWARD_X && i < b->problem->input_count; i++)
    if (b->dx[i].expected != NULL) results[count++] = &b->dx[i];
  for (int i = 0; b->pass != CLM__BACKWARD_X && i < b->problem->spec.param_count; i++) {
    if (b->w[i].expected != NULL) results[count++] = &b->w[i];
    if (b->dw[i].expected != NULL) results[count++] = &b->dw[i];
  }
  return count;
}

static clm_status read_array(const clm__tune_bench *b, const clm__tune_array *array, float *values)
{
  return clm__buffer_read(b->device, array->buffer, 0, values, array->elements * sizeof(float),
                          true);
}

static clm_status keep_expected(clm__tune_bench *b)
{
  clm__tune_array *results[CLM__INPUTS_MAX];
  const int count = list_results(b, results);
  for (int i = 0; i < count; i++) CLM_TRY(read_array(b, results[i], results[i]->expected));
  for (int i = 0; judges_saved(b) && i < b->problem->input_count; i++)
    CLM_TRY(read_array(b, &b->dx[i], b->dx[i].expected));
  return CLM_OK;
}

clm_status clm__tune_bench_fill(clm__tune_bench *b, clm__tune_pattern pattern)
{
  CLM_TRY(fill_inputs(b, pattern));
  CLM_TRY(run_plain(b, CLM__FORWARD));
  /* The runner's order: weights first, since a gradient of inputs may use their sums. */
  CLM_TRY(run_plain(b, CLM__BACKWARD_W));
  CLM_TRY(run_plain(b, CLM__BACKWARD_X));
  return keep_expected(b);
}

/* ---- judging ---- */

static double scale_of(const clm__tune_array *array)
{
  double squares = 0;
  size_t finite = 0;
  for (size_t i = 0; i < array->elements; i++) {
    const double value = (double)array->expected[i];
    if (!isfinite(value)) continue;
    squares += value * value;
    finite++;
  }
  return fmax(1.0, finite > 0 ? sqrt(squares / (double)finite) : 0.0);
}

static double off(float value, float expected, double scale)
{
  if (value == expected || (isnan(value) && isnan(expected))) return 0.0;
  const double found = fabs((double)value - (double)expected) / fmax(scale, fabs((double)expected));
  return isnan(found) ? INFINITY : found;
}

/* Widens the error by the worst element; `spared` of the worse ones do not count. */
static clm_status compare(clm__tune_bench *b, const clm__tune_array *array, size_t spared,
                          double *error)
{
  CLM_TRY(read_array(b, array, b->host));
  const double scale = scale_of(array);
  size_t flipped = 0;
  double worst = 0.0, worst_flip = 0.0;
  for (size_t i = 0; i < array->elements; i++) {
    const double found = off(b->host[i], array->expected[i], scale);
    const bool is_flip = spared > 0 && found > 1e-4 && isfinite(found);
    flipped += is_flip;
    if (is_flip)
      worst_flip = fmax(worst_flip, found);
    else
      worst = fmax(worst, found);
  }
  if (flipped > spared) worst = fmax(worst, worst_flip);
  *error = fmax(*error, worst);
  return CLM_OK;
}

static clm_status spoil_array(const clm__tune_bench *b, const clm__tune_array *array)
{
  return clm__buffer_fill(b->device, array->buffer, 0, array->elements * sizeof(float), NAN);
}

/* What plain wrote must not pass for the work of the candidate. */
static clm_status spoil_results(clm__tune_bench *b)
{
  clm__tune_array *results[CLM__INPUTS_MAX];
  const int count = list_results(b, results);
  if (b->pass == CLM__FORWARD) {
    CLM_TRY(fill_weights(b));
    if (saves(b))
      CLM_TRY(clm__buffer_fill(b->device, b->saved, 0, clm__round_up(b->saved_bytes, 4), NAN));
    return spoil_array(b, &b->y);
  }
  for (int i = 0; i < count; i++) CLM_TRY(spoil_array(b, results[i]));
  return CLM_OK;
}

static clm_status compare_saved(clm__tune_bench *b, double *error)
{
  if (!judges_saved(b) || !b->has_plain[CLM__BACKWARD_X]) return CLM_OK;
  CLM_TRY(run_plain(b, CLM__BACKWARD_W));
  CLM_TRY(run_plain(b, CLM__BACKWARD_X));
  for (int i = 0; i < b->problem->input_count; i++)
    CLM_TRY(compare(b, &b->dx[i], b->dx[i].elements / FLIPS_SHARE, error));
  return CLM_OK;
}

clm_status clm__tune_bench_check(clm__tune_bench *b, clm__instance *instance, bool is_spoiled,
                                 double *error)
{
  clm__tune_array *results[CLM__INPUTS_MAX];
  const int count = list_results(b, results);
  CLM_TRY(spoil_results(b));
  CLM_TRY(enqueue(b, instance));
  if (is_spoiled) CLM_TRY(clm__buffer_fill(b->device, results[0]->buffer, 0, sizeof(float), 9.0F));
  CLM_TRY(clm__device_finish(b->device));
  for (int i = 0; i < count; i++) CLM_TRY(compare(b, results[i], 0, error));
  return compare_saved(b, error);
}

clm_status clm__tune_bench_time(clm__tune_bench *b, clm__instance *instance, int calls,
                                double *seconds)
{
  const double begin = clm__clock_seconds();
  for (int i = 0; i < calls; i++) CLM_TRY(enqueue(b, instance));
  CLM_TRY(clm__device_finish(b->device));
  *seconds = (clm__clock_seconds() - begin) / calls;
  return CLM_OK;
}
