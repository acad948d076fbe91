#include "train/selftest_run.h"

#include "base/mem.h"
#include "base/num.h"
#include "base/rng.h"
#include "ref/ref.h"

#include <math.h>
#include <string.h>

#define SEED UINT64_C(0x5e1f7e57)

/* One array on host and device: what goes in as float, what should come out as double. */
typedef struct tensor {
  size_t elements;
  float *values;    /* input, and what the device gave */
  double *expected; /* the same numbers for the reference, and its results */
  cl_mem buffer;
} tensor;

typedef struct bench {
  clm__device *device;
  const clm__problem *problem;
  int batch;
  tensor x[CLM__INPUTS_MAX];
  tensor dx[CLM__INPUTS_MAX];
  tensor y;
  tensor dy;
  tensor w[CLM__PARAMS_MAX];
  tensor dw[CLM__PARAMS_MAX];
  cl_mem saved;
  cl_mem image_ids;
  uint32_t ids[8];
} bench;

/* ---- arrays ---- */

/* A fixed sequence a stream, in [least, least + 1). */
static void fill(tensor *made, uint32_t stream, float least)
{
  for (size_t i = 0; i < made->elements; i++) {
    uint32_t bits[4];
    clm__rng_block(SEED, CLM__RNG_TEST, stream, i, bits);
    made->values[i] = clm__rng_unit(bits[0]) + least;
    made->expected[i] = (double)made->values[i];
  }
}

static clm_status make_tensor(clm__device *device, size_t elements, tensor *made)
{
  made->elements = elements;
  CLM_TRY(clm__mem_alloc(elements, sizeof *made->values, &made->values));
  CLM_TRY(clm__mem_alloc(elements, sizeof *made->expected, &made->expected));
  return clm__buffer_create(device, elements * sizeof(float), &made->buffer);
}

static void free_tensor(tensor *made)
{
  clm__mem_free(made->values);
  clm__mem_free(made->expected);
  clm__buffer_release(&made->buffer);
}

static clm_status upload(clm__device *device, const tensor *source)
{
  return clm__buffer_write(device, source->buffer, 0, source->values,
                           source->elements * sizeof(float), true);
}

/* Reads a result and widens the error by its worst element; NaN is the worst there is. */
static clm_status compare(clm__device *device, const tensor *result, double *error)
{
  CLM_TRY(clm__buffer_read(device, result->buffer, 0, result->values,
                           result->elements * sizeof(float), true));
  for (size_t i = 0; i < result->elements; i++) {
    const double expected = result->expected[i];
    const double off = fabs((double)result->values[i] - expected) / fmax(1.0, fabs(expected));
    if (!(off <= *error)) *error = isnan(off) ? INFINITY : off;
  }
  return CLM_OK;
}

static bool is_variance(const char *name)
{
  return strstr(name, "variance") != NULL || strstr(name, "gamma") != NULL;
}

static bool needs_dx(const clm__problem *problem, int input)
{
  return (problem->need_dx >> input & 1U) != 0;
}

static clm_status make_inputs(bench *b)
{
  const clm__problem *problem = b->problem;
  const size_t batch = (size_t)b->batch;
  for (int i = 0; i < problem->input_count; i++) {
    const size_t elements = clm__shape_elements(&problem->inputs[i]) * batch;
    CLM_TRY(make_tensor(b->device, elements, &b->x[i]));
    CLM_TRY(make_tensor(b->device, elements, &b->dx[i]));
    fill(&b->x[i], (uint32_t)i, -0.5F);
    CLM_TRY(upload(b->device, &b->x[i]));
  }
  for (int i = 0; i < problem->spec.param_count; i++) {
    const clm__param_spec *param = &problem->spec.params[i];
    const size_t elements = clm__shape_elements(&param->shape);
    CLM_TRY(make_tensor(b->device, elements, &b->w[i]));
    CLM_TRY(make_tensor(b->device, elements, &b->dw[i]));
    fill(&b->w[i], 20 + (uint32_t)i, is_variance(param->name) ? 0.5F : -0.5F);
  }
  return CLM_OK;
}

static clm_status make_bench(bench *b)
{
  const clm__op_spec *spec = &b->problem->spec;
  const size_t elements = clm__shape_elements(&spec->output) * (size_t)b->batch;
  CLM_TRY(make_inputs(b));
  CLM_TRY(make_tensor(b->device, elements, &b->y));
  CLM_TRY(make_tensor(b->device, elements, &b->dy));
  fill(&b->dy, 40, -0.5F);
  CLM_TRY(upload(b->device, &b->dy));
  const size_t saved = spec->saved_bytes + spec->saved_bytes_per_image * (size_t)b->batch;
  if (saved > 0 && b->problem->training) CLM_TRY(clm__buffer_create(b->device, saved, &b->saved));
  for (uint32_t i = 0; i < (uint32_t)b->batch; i++) b->ids[i] = 100 + 7 * i;
  CLM_TRY(clm__buffer_create(b->device, sizeof b->ids, &b->image_ids));
  return clm__buffer_write(b->device, b->image_ids, 0, b->ids, sizeof b->ids, true);
}

static void free_bench(bench *b)
{
  for (int i = 0; i < CLM__INPUTS_MAX; i++) {
    free_tensor(&b->x[i]);
    free_tensor(&b->dx[i]);
  }
  for (int i = 0; i < CLM__PARAMS_MAX; i++) {
    free_tensor(&b->w[i]);
    free_tensor(&b->dw[i]);
  }
  free_tensor(&b->y);
  free_tensor(&b->dy);
  clm__buffer_release(&b->saved);
  clm__buffer_release(&b->image_ids);
}

/* ---- the reference ---- */

static void run_reference(bench *b)
{
  clm__ref_function forward = NULL;
  clm__ref_function backward = NULL;
  clm__ref_find(b->problem->op, &forward, &backward);
  clm__ref_call call = {.problem = b->problem,
                        .batch = b->batch,
                        .y = b->y.expected,
                        .dy = b->dy.expected,
                        .image_ids = b->ids,
                        .seed = SEED};
  for (int i = 0; i < b->problem->input_count; i++) {
    call.x[i] = b->x[i].expected;
    call.dx[i] = b->dx[i].expected;
  }
  for (int i = 0; i < b->problem->spec.param_count; i++) {
    call.w[i] = b->w[i].expected;
    call.dw[i] = b->dw[i].expected;
  }
  forward(&call);
  if (b->problem->training) backward(&call);
}

/* ---- the device ---- */

static clm_status enqueue(bench *b, clm__instance *instance)
{
  clm__op_args args = {.batch = b->batch,
                       .y = b->y.buffer,
                       .dy = b->dy.buffer,
                       .saved = b->saved,
                       .image_ids = b->image_ids,
                       .seed = SEED};
  for (int i = 0; i < b->problem->input_count; i++) {
    args.x[i] = b->x[i].buffer;
    if (needs_dx(b->problem, i)) args.dx[i] = b->dx[i].buffer;
  }
  for (int i = 0; i < b->problem->spec.param_count; i++) {
    args.w[i] = b->w[i].buffer;
    args.dw[i] = b->dw[i].buffer;
  }
  if (instance->workspace_bytes > 0)
    CLM_TRY(clm__buffer_create(b->device, instance->workspace_bytes, &args.workspace));
  clm_status status = clm__instance_enqueue(instance, &args);
  if (status == CLM_OK) status = clm__device_finish(b->device);
  clm__buffer_release(&args.workspace);
  return status;
}

static clm_status compare_pass(bench *b, clm__pass pass, double *error)
{
  const clm__op_spec *spec = &b->problem->spec;
  if (pass == CLM__FORWARD) CLM_TRY(compare(b->device, &b->y, error));
  for (int i = 0; pass == CLM__BACKWARD_X && i < b->problem->input_count; i++)
    if (needs_dx(b->problem, i)) CLM_TRY(compare(b->device, &b->dx[i], error));
  for (int i = 0; i < spec->param_count; i++) {
    if (pass == CLM__FORWARD && !spec->params[i].trainable)
      CLM_TRY(compare(b->device, &b->w[i], error));
    if (pass == CLM__BACKWARD_W && spec->params[i].trainable)
      CLM_TRY(compare(b->device, &b->dw[i], error));
  }
  return CLM_OK;
}

/* Weights as they were before forward changed the untrained ones. */
static clm_status reset_weights(bench *b)
{
  for (int i = 0; i < b->problem->spec.param_count; i++) {
    const clm__param_spec *param = &b->problem->spec.params[i];
    tensor fresh = {.elements = b->w[i].elements, .values = b->w[i].values};
    CLM_TRY(clm__mem_alloc(fresh.elements, sizeof *fresh.expected, &fresh.expected));
    fill(&fresh, 20 + (uint32_t)i, is_variance(param->name) ? 0.5F : -0.5F);
    clm__mem_free(fresh.expected);
    CLM_TRY(upload(b->device, &b->w[i]));
  }
  return CLM_OK;
}

/* What the last variant wrote must not pass for the work of this one. */
static clm_status spoil(const bench *b, const tensor *result)
{
  for (size_t i = 0; i < result->elements; i++) result->values[i] = NAN;
  return upload(b->device, result);
}

static clm_status spoil_results(const bench *b, clm__pass pass)
{
  if (pass == CLM__FORWARD) return spoil(b, &b->y);
  for (int i = 0; pass == CLM__BACKWARD_X && i < b->problem->input_count; i++)
    CLM_TRY(spoil(b, &b->dx[i]));
  for (int i = 0; pass == CLM__BACKWARD_W && i < b->problem->spec.param_count; i++)
    CLM_TRY(spoil(b, &b->dw[i]));
  return CLM_OK;
}

static clm_status run_variant(bench *b, clm__pass pass, const char *variant, double *error)
{
  clm__instance instance;
  CLM_TRY(clm__instance_init(&instance, b->problem, pass, b->device, NULL, variant));
  clm_status status = spoil_results(b, pass);
  if (status == CLM_OK && pass == CLM__FORWARD) status = reset_weights(b);
  if (status == CLM_OK) status = enqueue(b, &instance);
  if (status == CLM_OK) status = compare_pass(b, pass, error);
  clm__instance_fini(&instance);
  return status;
}

static clm_status run_pass(bench *b, clm__pass pass,
                           void (*tell)(void *user, const clm__selftest_outcome *outcome),
                           void *user)
{
  if (!clm__problem_has_pass(b->problem, pass)) return CLM_OK;
  if (pass != CLM__FORWARD && !b->problem->training) return CLM_OK;
  for (const clm__variant *const *at = b->problem->op->variants; *at != NULL; at++) {
    if (!clm__variant_is_usable(*at, b->problem, pass, &b->device->info)) continue;
    clm__selftest_outcome outcome = {.problem = b->problem, .pass = pass, .variant = (*at)->name};
    CLM_TRY(run_variant(b, pass, (*at)->name, &outcome.error));
    tell(user, &outcome);
  }
  return CLM_OK;
}

static clm_status run_all(bench *b, void (*tell)(void *user, const clm__selftest_outcome *outcome),
                          void *user)
{
  CLM_TRY(make_bench(b));
  run_reference(b);
  /* The runner's order: weights first, since a gradient of inputs may use their sums. */
  CLM_TRY(run_pass(b, CLM__FORWARD, tell, user));
  CLM_TRY(run_pass(b, CLM__BACKWARD_W, tell, user));
  return run_pass(b, CLM__BACKWARD_X, tell, user);
}

clm_status clm__selftest_run(clm__device *device, const clm__problem *problem,
                             void (*tell)(void *user, const clm__selftest_outcome *outcome),
                             void *user)
{
  bench b = {.device = device, .problem = problem, .batch = problem->batch_max};
  CLM_ASSERT((size_t)b.batch <= sizeof b.ids / sizeof b.ids[0]);
  const clm_status status = run_all(&b, tell, user);
  free_bench(&b);
  return status;
}
