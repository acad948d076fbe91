#include "op/bench.h"

#include "op/attributes.h"
#include "support/npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Streams of random numbers. */
enum { STREAM_X = 100, STREAM_DY = 200, STREAM_W = 300 };

size_t bench_input_elements(const op_bench *bench, int i)
{
  return clm__shape_elements(&bench->problem.inputs[i]);
}

size_t bench_output_elements(const op_bench *bench)
{
  return clm__shape_elements(&bench->problem.spec.output);
}

size_t bench_param_elements(const op_bench *bench, int i)
{
  return clm__shape_elements(&bench->problem.spec.params[i].shape);
}

bool bench_is_trained(const op_bench *bench, int i)
{
  return bench->problem.spec.params[i].trainable && !bench->problem.frozen;
}

bool bench_needs_dx(const op_bench *bench, int i)
{
  return (bench->problem.need_dx >> i & 1U) != 0;
}

size_t bench_saved_bytes(const op_bench *bench, int images)
{
  const clm__op_spec *spec = &bench->problem.spec;
  return spec->saved_bytes + spec->saved_bytes_per_image * (size_t)images;
}

static float *make_floats(size_t count)
{
  float *values = calloc(count, sizeof *values);
  assert_non_null(values);
  return values;
}

void results_init(op_results *results, const op_bench *bench, int images)
{
  const clm__op_spec *spec = &bench->problem.spec;
  *results = (op_results){.y = make_floats(bench_output_elements(bench) * (size_t)images)};
  results->saved = calloc(bench_saved_bytes(bench, images) + 1, 1);
  assert_non_null(results->saved);
  for (int i = 0; i < bench->problem.input_count; i++)
    results->dx[i] = make_floats(bench_input_elements(bench, i) * (size_t)images);
  for (int i = 0; i < spec->param_count; i++) {
    results->w[i] = make_floats(bench_param_elements(bench, i));
    results->dw[i] = make_floats(bench_param_elements(bench, i));
  }
}

void results_fini(op_results *results)
{
  free(results->y);
  free(results->saved);
  for (int i = 0; i < CLM__INPUTS_MAX; i++) free(results->dx[i]);
  for (int i = 0; i < CLM__PARAMS_MAX; i++) {
    free(results->w[i]);
    free(results->dw[i]);
  }
  *results = (op_results){0};
}

/* A recorded array that must be there; its dims go to *dims where asked. */
static float *read_golden(const op_bench *bench, const char *key, npy *header)
{
  char path[256];
  (void)snprintf(path, sizeof path, "ops/%s/%s.npy", bench->test->golden, key);
  npy array = npy_read_golden(path);
  assert_string_equal(array.type, "<f4");
  float *values = make_floats(array.count);
  memcpy(values, array.f32, array.count * sizeof *values);
  if (header != NULL) *header = array;
  npy_free(&array);
  return values;
}

static const char *indexed_key(const op_bench *bench, const char *name, int i)
{
  static char key[16];
  if (bench->problem.input_count == 1) return name;
  (void)snprintf(key, sizeof key, "%s%d", name, i);
  return key;
}

static const char *param_key(const op_bench *bench, const char *prefix, int i)
{
  static char key[64];
  (void)snprintf(key, sizeof key, "%s_%s", prefix, bench->problem.spec.params[i].name);
  return key;
}

/* Input i of the recorded case: its shape, without the batch, and its values. */
static void take_golden_input(op_bench *bench, int i)
{
  npy header = {0};
  clm__shape *shape = &bench->problem.inputs[i];
  bench->x[i] = read_golden(bench, indexed_key(bench, "x", i), &header);
  bench->batch = header.dims[0];
  shape->rank = header.rank - 1;
  for (int d = 0; d < shape->rank; d++) shape->dims[d] = header.dims[d + 1];
}

static void make_random(float *values, size_t count, uint32_t stream, const double range[2])
{
  for (size_t i = 0; i < count; i++) values[i] = test_random(stream, i, range[0], range[1]);
}

static void make_inputs(op_bench *bench)
{
  const op_case *test = bench->test;
  const bool is_plain = test->x_least == 0.0 && test->x_most == 0.0;
  const double range[2] = {is_plain ? -1.0 : test->x_least, is_plain ? 1.0 : test->x_most};
  for (int i = 0; i < bench->problem.input_count; i++) {
    const size_t count = bench_input_elements(bench, i) * (size_t)bench->batch;
    if (bench->x[i] == NULL) {
      bench->x[i] = make_floats(count);
      make_random(bench->x[i], count, STREAM_X + (uint32_t)i, range);
    }
    if (!test->specials) continue;
    const float specials[4] = {strtof("nan", NULL), strtof("inf", NULL), strtof("-inf", NULL),
                               0.0F};
    for (size_t k = 0; k < 4 && k < count; k++)
      bench->x[i][(k * count / 4 + (size_t)i) % count] = specials[k];
  }
}

static void make_params(op_bench *bench)
{
  const clm__op_spec *spec = &bench->problem.spec;
  for (int i = 0; i < spec->param_count; i++) {
    const char *name = spec->params[i].name;
    const bool is_positive = strstr(name, "variance") != NULL || strcmp(name, "gamma") == 0;
    const double range[2] = {is_positive ? 0.5 : -0.5, is_positive ? 1.5 : 0.5};
    const size_t count = bench_param_elements(bench, i);
    if (bench->test->golden != NULL) {
      bench->w[i] = read_golden(bench, param_key(bench, "w", i), NULL);
      continue;
    }
    bench->w[i] = make_floats(count);
    make_random(bench->w[i], count, STREAM_W + (uint32_t)i, range);
  }
}

static void make_gradient(op_bench *bench)
{
  const double range[2] = {-1.0, 1.0};
  const size_t count = bench_output_elements(bench) * (size_t)bench->batch;
  if (bench->test->golden != NULL) {
    bench->dy = read_golden(bench, "dy", NULL);
    return;
  }
  bench->dy = make_floats(count);
  make_random(bench->dy, count, STREAM_DY, range);
}

/* The recorded results that this case can be compared with. */
static void take_golden_results(op_bench *bench)
{
  const clm__op_spec *spec = &bench->problem.spec;
  op_results *golden = &bench->golden;
  golden->y = read_golden(bench, "y", NULL);
  if (bench->test->inference) return;
  for (int i = 0; i < bench->problem.input_count; i++)
    golden->dx[i] = read_golden(bench, indexed_key(bench, "dx", i), NULL);
  for (int i = 0; i < spec->param_count; i++) {
    const bool trained = bench_is_trained(bench, i);
    if (trained) golden->dw[i] = read_golden(bench, param_key(bench, "d", i), NULL);
    if (!spec->params[i].trainable && !bench->problem.frozen)
      golden->w[i] = read_golden(bench, param_key(bench, "after", i), NULL);
  }
}

static void count_inputs(op_bench *bench)
{
  const op_case *test = bench->test;
  int count = 0;
  while (count < CLM__INPUTS_MAX && test->inputs[count].rank > 0) count++;
  bench->problem.input_count = count > 0 ? count : 1;
  memcpy(bench->problem.inputs, test->inputs, sizeof test->inputs);
  bench->batch = test->batch;
}

void bench_init(op_bench *bench, const op_suite *suite, const op_case *test)
{
  const clm__op *op = suite->op;
  clm__problem *problem = &bench->problem;
  *bench = (op_bench){.suite = suite, .test = test};
  bench->attributes = calloc(1, op->attribute_bytes + 1);
  assert_non_null(bench->attributes);
  if (test->fused_attributes != NULL)
    memcpy(bench->attributes, test->fused_attributes, op->attribute_bytes);
  else
    attributes_read(op->fields, test->attributes, bench->attributes);
  *problem = (clm__problem){.op = op,
                            .attributes = bench->attributes,
                            .training = !test->inference,
                            .frozen = test->frozen,
                            .node = BENCH_NODE};
  count_inputs(bench);
  if (test->golden != NULL)
    for (int i = 0; i < problem->input_count; i++) take_golden_input(bench, i);
  const clm_status status =
      op->infer(bench->attributes, problem->inputs, problem->input_count, &problem->spec);
  if (test->refused != CLM_OK) {
    assert_refused(status, test->refused, test->message);
    return;
  }
  assert_ok(status);
  problem->batch_max = bench->batch;
  problem->need_dx = test->need_dx != 0 ? test->need_dx : (1U << problem->input_count) - 1;
  make_inputs(bench);
  make_params(bench);
  make_gradient(bench);
  if (test->golden != NULL) take_golden_results(bench);
  bench->image_ids = calloc((size_t)bench->batch, sizeof *bench->image_ids);
  assert_non_null(bench->image_ids);
  for (int n = 0; n < bench->batch; n++) bench->image_ids[n] = 1000U + 7U * (uint32_t)n;
}

void bench_fini(op_bench *bench)
{
  free(bench->attributes);
  free(bench->dy);
  free(bench->image_ids);
  for (int i = 0; i < CLM__INPUTS_MAX; i++) {
    free(bench->x[i]);
    free(bench->judged_dx[i]);
  }
  for (int i = 0; i < CLM__PARAMS_MAX; i++) {
    free(bench->w[i]);
    free(bench->judged_dw[i]);
  }
  results_fini(&bench->expected);
  results_fini(&bench->golden);
  *bench = (op_bench){0};
}
