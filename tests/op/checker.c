#include "op/checker.h"

#include "base/mem.h"
#include "op/bench.h"
#include "op/fence.h"
#include "support/npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOLERANCE 2e-6
#define DEVICES 3 /* as it is, and with groups limited */

static const int group_limits[DEVICES] = {0, 1, 7};

/* Opened once for all cases of a program. */
static clm__device *devices[DEVICES];
static int device_count;

/* One pass of one case with one variant on one device. */
typedef struct pass_run {
  const op_bench *bench;
  clm__instance *instance;
  const char *what; /* for messages */
  int first, count; /* images of the case's batch */
} pass_run;

static const float *image_at(const float *values, size_t elements, int image)
{
  return values + elements * (size_t)image;
}

static size_t bytes_of(size_t elements, int images)
{
  return elements * (size_t)images * sizeof(float);
}

static void add_inputs(fences *set, clm__op_args *args, const pass_run *run)
{
  const op_bench *bench = run->bench;
  for (int i = 0; i < bench->problem.input_count; i++) {
    const size_t elements = bench_input_elements(bench, i);
    fences_add_input(set, "x", &args->x[i], image_at(bench->x[i], elements, run->first),
                     bytes_of(elements, run->count));
  }
}

static void add_common(fences *set, clm__op_args *args, const pass_run *run)
{
  const op_bench *bench = run->bench;
  fences_add_input(set, "image_ids", &args->image_ids, bench->image_ids + run->first,
                   (size_t)run->count * sizeof(uint32_t));
  if (run->instance->workspace_bytes > 0)
    fences_add_output(set, "workspace", &args->workspace, NULL, NULL,
                      run->instance->workspace_bytes);
}

/* Enqueues between open fences, and judges what enqueuing itself may do. */
static void enqueue(fences *set, const clm__op_args *args, const pass_run *run)
{
  clm__device_counts *counts = &set->device->counts;
  const uint64_t buffers = atomic_load(&counts->buffers_created);
  const uint64_t programs = atomic_load(&counts->programs_built);
  const uint64_t finishes = atomic_load(&counts->finishes);
  const uint64_t allocations = clm__mem_get_counts().allocations;
  if (clm__instance_enqueue(run->instance, args) != CLM_OK)
    fail_msg("%s: %s", run->what, clm_error_last()->message);
  if (buffers != atomic_load(&counts->buffers_created)) fail_msg("%s made a buffer", run->what);
  if (programs != atomic_load(&counts->programs_built)) fail_msg("%s built a program", run->what);
  if (finishes != atomic_load(&counts->finishes)) fail_msg("%s waited", run->what);
  if (allocations != clm__mem_get_counts().allocations) fail_msg("%s took memory", run->what);
}

static clm__op_args make_args(const pass_run *run)
{
  return (clm__op_args){.batch = run->count, .seed = BENCH_SEED, .epoch = BENCH_EPOCH};
}

/* Runs forward over some images. results->saved is filled in training. */
static void run_forward(const pass_run *run, op_results *results)
{
  const op_bench *bench = run->bench;
  const clm__problem *problem = run->instance->problem;
  const clm__op_spec *spec = &problem->spec;
  clm__op_args args = make_args(run);
  fences set = {.device = run->instance->device};
  add_inputs(&set, &args, run);
  add_common(&set, &args, run);
  fences_add_output(&set, "y", &args.y, NULL, results->y,
                    bytes_of(bench_output_elements(bench), run->count));
  for (int i = 0; i < spec->param_count; i++) {
    const size_t size = bytes_of(bench_param_elements(bench, i), 1);
    memcpy(results->w[i], bench->w[i], size);
    if (spec->params[i].trainable || !problem->training || problem->frozen)
      fences_add_input(&set, spec->params[i].name, &args.w[i], bench->w[i], size);
    else
      fences_add_output(&set, spec->params[i].name, &args.w[i], bench->w[i], results->w[i], size);
  }
  const size_t saved = bench_saved_bytes(bench, run->count);
  if (problem->training && saved > 0)
    fences_add_output(&set, "saved", &args.saved, NULL, results->saved, saved);
  fences_open(&set);
  enqueue(&set, &args, run);
  fences_close(&set, run->what);
}

/* Runs a backward pass behind `forward`, the results of the same images. */
static void run_backward(const pass_run *run, const op_results *forward, op_results *results)
{
  const op_bench *bench = run->bench;
  const clm__op_spec *spec = &bench->problem.spec;
  const size_t y_elements = bench_output_elements(bench);
  clm__op_args args = make_args(run);
  fences set = {.device = run->instance->device};
  if (spec->backward_reads_x) add_inputs(&set, &args, run);
  add_common(&set, &args, run);
  if (spec->backward_reads_y)
    fences_add_input(&set, "y", &args.y, forward->y, bytes_of(y_elements, run->count));
  fences_add_input(&set, "dy", &args.dy, image_at(bench->dy, y_elements, run->first),
                   bytes_of(y_elements, run->count));
  fences_add_input(&set, "saved", &args.saved, forward->saved,
                   bench_saved_bytes(bench, run->count));
  for (int i = 0; i < spec->param_count; i++) {
    const size_t size = bytes_of(bench_param_elements(bench, i), 1);
    fences_add_input(&set, spec->params[i].name, &args.w[i], bench->w[i], size);
    if (run->instance->pass == CLM__BACKWARD_W && bench_is_trained(bench, i))
      fences_add_output(&set, "dw", &args.dw[i], NULL, results->dw[i], size);
  }
  for (int i = 0; run->instance->pass == CLM__BACKWARD_X && i < bench->problem.input_count; i++)
    if (bench_needs_dx(bench, i))
      fences_add_output(&set, "dx", &args.dx[i], NULL, results->dx[i],
                        bytes_of(bench_input_elements(bench, i), run->count));
  fences_open(&set);
  enqueue(&set, &args, run);
  fences_close(&set, run->what);
}

/* One array of results with all it is judged by. */
typedef struct verdict {
  const char *name;
  const float *actual;
  const float *expected;
  const float *golden; /* NULL: none */
  const bool *judged;  /* NULL: all */
  size_t count;
  double tolerance;
} verdict;

static void judge_array(const pass_run *run, const verdict *one)
{
  char what[256];
  (void)snprintf(what, sizeof what, "%s: %s", run->what, one->name);
  float *expected = malloc(one->count * sizeof *expected + 1);
  assert_non_null(expected);
  for (size_t i = 0; i < one->count; i++)
    expected[i] = one->judged == NULL || one->judged[i] ? one->expected[i] : one->actual[i];
  assert_floats_near(what, one->actual, expected, one->count, one->tolerance);
  free(expected);
  if (one->golden == NULL) return;
  (void)snprintf(what, sizeof what, "%s: %s against the recorded one", run->what, one->name);
  assert_floats_near(what, one->actual, one->golden, one->count, one->tolerance);
}

static double for_variant(const pass_run *run, double tolerance)
{
  const double in_tiles =
      run->instance->variant->rounds_in_tiles ? run->bench->test->tile_tolerance : 0.0;
  return in_tiles > tolerance ? in_tiles : tolerance;
}

static double tolerance_of(const op_case *test)
{
  return test->tolerance > 0.0 ? test->tolerance : TOLERANCE;
}

static double w_tolerance_of(const op_case *test)
{
  return test->w_tolerance > 0.0 ? test->w_tolerance : tolerance_of(test);
}

static void judge_y(const pass_run *run, const op_results *results)
{
  const op_bench *bench = run->bench;
  judge_array(run, &(verdict){.name = "y",
                              .actual = results->y,
                              .expected = bench->expected.y,
                              .golden = bench->golden.y,
                              .count = bench_output_elements(bench) * (size_t)bench->batch,
                              .tolerance = for_variant(run, tolerance_of(bench->test))});
}

static void judge_w(const pass_run *run, const op_results *results)
{
  const op_bench *bench = run->bench;
  for (int i = 0; i < bench->problem.spec.param_count; i++)
    judge_array(run, &(verdict){.name = bench->problem.spec.params[i].name,
                                .actual = results->w[i],
                                .expected = bench->expected.w[i],
                                .golden = bench->golden.w[i],
                                .count = bench_param_elements(bench, i),
                                .tolerance = for_variant(run, w_tolerance_of(bench->test))});
}

static void judge_dx(const pass_run *run, const op_results *results)
{
  const op_bench *bench = run->bench;
  for (int i = 0; i < bench->problem.input_count; i++) {
    if (!bench_needs_dx(bench, i)) continue;
    judge_array(run, &(verdict){.name = "dx",
                                .actual = results->dx[i],
                                .expected = bench->expected.dx[i],
                                .golden = bench->golden.dx[i],
                                .judged = bench->judged_dx[i],
                                .count = bench_input_elements(bench, i) * (size_t)bench->batch,
                                .tolerance = for_variant(run, tolerance_of(bench->test))});
  }
}

static void judge_dw(const pass_run *run, const op_results *results)
{
  const op_bench *bench = run->bench;
  for (int i = 0; i < bench->problem.spec.param_count; i++) {
    if (!bench_is_trained(bench, i)) continue;
    judge_array(run, &(verdict){.name = "dw",
                                .actual = results->dw[i],
                                .expected = bench->expected.dw[i],
                                .golden = bench->golden.dw[i],
                                .judged = bench->judged_dw[i],
                                .count = bench_param_elements(bench, i),
                                .tolerance = for_variant(run, w_tolerance_of(bench->test))});
  }
}

static void judge(const pass_run *run, const op_results *results)
{
  const clm__pass pass = run->instance->pass;
  if (pass == CLM__FORWARD) judge_y(run, results);
  if (pass == CLM__FORWARD && run->instance->problem->training) judge_w(run, results);
  if (pass == CLM__BACKWARD_X) judge_dx(run, results);
  if (pass == CLM__BACKWARD_W) judge_dw(run, results);
}

static void judge_bits(const pass_run *run, const char *name, const void *a, const void *b,
                       size_t size_bytes)
{
  if (memcmp(a, b, size_bytes) != 0)
    fail_msg("%s: a second run gives other bits in %s", run->what, name);
}

static void judge_same(const pass_run *run, const op_results *a, const op_results *b)
{
  const op_bench *bench = run->bench;
  const int count = run->count;
  judge_bits(run, "y", a->y, b->y, bytes_of(bench_output_elements(bench), count));
  judge_bits(run, "saved", a->saved, b->saved, bench_saved_bytes(bench, count));
  for (int i = 0; i < bench->problem.input_count; i++)
    judge_bits(run, "dx", a->dx[i], b->dx[i], bytes_of(bench_input_elements(bench, i), count));
  for (int i = 0; i < bench->problem.spec.param_count; i++) {
    const size_t size = bytes_of(bench_param_elements(bench, i), 1);
    judge_bits(run, "w", a->w[i], b->w[i], size);
    judge_bits(run, "dw", a->dw[i], b->dw[i], size);
  }
}

/* A pass over a part of the batch; backward runs the given forward on that part before. */
static void run_part(const pass_run *run, const pass_run *forward_run, op_results *results)
{
  if (run->instance->pass == CLM__FORWARD) {
    run_forward(run, results);
    return;
  }
  pass_run before = *forward_run;
  op_results forward;
  before.first = run->first;
  before.count = run->count;
  results_init(&forward, run->bench, run->count);
  run_forward(&before, &forward);
  run_backward(run, &forward, results);
  results_fini(&forward);
}

/* Puts the results of images [first, first + count) in their place among those of all images, and
 * adds the sums. */
static void merge_part(const pass_run *run, const op_results *part, op_results *all)
{
  const op_bench *bench = run->bench;
  const size_t elements = bench_output_elements(bench);
  memcpy(all->y + elements * (size_t)run->first, part->y, bytes_of(elements, run->count));
  for (int i = 0; i < bench->problem.input_count; i++) {
    const size_t size = bench_input_elements(bench, i);
    memcpy(all->dx[i] + size * (size_t)run->first, part->dx[i], bytes_of(size, run->count));
  }
  for (int i = 0; i < bench->problem.spec.param_count; i++) {
    const size_t size = bench_param_elements(bench, i);
    memcpy(all->w[i], part->w[i], bytes_of(size, 1));
    for (size_t k = 0; k < size; k++) all->dw[i][k] += part->dw[i][k];
  }
}

static void judge_halves(const pass_run *run, const pass_run *forward_run)
{
  const op_bench *bench = run->bench;
  if (bench->batch < 2 || bench->test->no_halves) return;
  const int half = bench->batch / 2;
  op_results all;
  results_init(&all, bench, bench->batch);
  for (int k = 0; k < 2; k++) {
    char half_what[256];
    (void)snprintf(half_what, sizeof half_what, "%s, %s half", run->what,
                   k == 0 ? "first" : "second");
    pass_run part = *run;
    op_results results;
    part.what = half_what;
    part.first = k == 0 ? 0 : half;
    part.count = k == 0 ? half : bench->batch - half;
    results_init(&results, bench, part.count);
    run_part(&part, forward_run, &results);
    merge_part(&part, &results, &all);
    results_fini(&results);
  }
  char what[256];
  (void)snprintf(what, sizeof what, "%s, in two halves", run->what);
  pass_run both = *run;
  both.what = what;
  judge(&both, &all);
  results_fini(&all);
}

static char *describe(const op_bench *bench, const clm__instance *instance, char text[192])
{
  const clm__device_info *info = &instance->device->info;
  (void)snprintf(text, 192, "case %s, %s %s%s on %s in groups up to %zu", bench->test->name,
                 clm__pass_name(instance->pass), instance->variant->name,
                 instance->problem->training ? "" : " of inference", info->id, info->group_max);
  return text;
}

/* Variants for GPUs take CPUs long to compile. */
static bool is_tried(const op_bench *bench, const clm__variant *variant, const clm__device *device)
{
  return !variant->for_gpus || device->info.kind != CLM__DEVICE_CPU || bench->test->gpu;
}

/* Makes the named variant ready for a pass; false where it does not serve it here. */
static bool open_instance(clm__instance *instance, const clm__problem *problem, clm__pass pass,
                          clm__device *device, const clm__variant *variant)
{
  if (!clm__variant_is_usable(variant, problem, pass, &device->info)) return false;
  assert_ok(clm__instance_init(instance, problem, pass, device, NULL, variant->name));
  assert_ptr_equal(instance->variant, variant);
  return true;
}

static void check_backward_pass(const pass_run *forward_run, const op_results *forward,
                                clm__pass pass)
{
  const op_bench *bench = forward_run->bench;
  int served = 0;
  if (!clm__problem_has_pass(&bench->problem, pass)) return;
  const clm__variant *const *variant = bench->suite->op->variants;
  for (; *variant != NULL; variant++) {
    clm__instance instance;
    op_results results, again;
    char what[192];
    clm__device *device = forward_run->instance->device;
    if (!is_tried(bench, *variant, device)) continue;
    if (!open_instance(&instance, &bench->problem, pass, device, *variant)) continue;
    const pass_run run = {bench, &instance, describe(bench, &instance, what), 0, bench->batch};
    results_init(&results, bench, bench->batch);
    results_init(&again, bench, bench->batch);
    run_backward(&run, forward, &results);
    judge(&run, &results);
    run_backward(&run, forward, &again);
    judge_same(&run, &results, &again);
    judge_halves(&run, forward_run);
    results_fini(&results);
    results_fini(&again);
    clm__instance_fini(&instance);
    served++;
  }
  if (served == 0)
    fail_msg("case %s: no variant serves %s", bench->test->name, clm__pass_name(pass));
}

static void check_forward_variant(const op_bench *bench, clm__instance *instance)
{
  char what[192];
  op_results results, again;
  const pass_run run = {bench, instance, describe(bench, instance, what), 0, bench->batch};
  results_init(&results, bench, bench->batch);
  results_init(&again, bench, bench->batch);
  run_forward(&run, &results);
  judge(&run, &results);
  run_forward(&run, &again);
  judge_same(&run, &results, &again);
  judge_halves(&run, &run);
  if (instance->problem->training && !bench->test->specials) {
    check_backward_pass(&run, &results, CLM__BACKWARD_X);
    check_backward_pass(&run, &results, CLM__BACKWARD_W);
  }
  results_fini(&results);
  results_fini(&again);
}

/* Forward of every variant with `problem`, which is the case's or that in inference. */
static void check_variants(const op_bench *bench, const clm__problem *problem, clm__device *device)
{
  int served = 0;
  const clm__variant *const *variant = bench->suite->op->variants;
  for (; *variant != NULL; variant++) {
    clm__instance instance;
    if (!is_tried(bench, *variant, device)) continue;
    if (!open_instance(&instance, problem, CLM__FORWARD, device, *variant)) continue;
    check_forward_variant(bench, &instance);
    clm__instance_fini(&instance);
    served++;
  }
  if (served == 0) fail_msg("case %s: no variant serves fwd", bench->test->name);
}

static void check_view(const op_bench *bench)
{
  const size_t count = bench_output_elements(bench);
  assert_int_equal(count, bench_input_elements(bench, 0));
  if (bench->golden.y != NULL)
    assert_floats_near(bench->test->name, bench->x[0], bench->golden.y,
                       count * (size_t)bench->batch, 0.0);
}

static void check_on_devices(op_bench *bench)
{
  const clm__op *op = bench->suite->op;
  clm__problem inference = bench->problem;
  inference.training = false;
  bench_expect(bench);
  for (int d = 0; d < device_count; d++) {
    check_variants(bench, &bench->problem, devices[d]);
    if (bench->problem.training && !op->trains_apart && !op->only_training)
      check_variants(bench, &inference, devices[d]);
  }
}

/* What a test of cmocka gets as its state. */
typedef struct case_state {
  const op_suite *suite;
  const op_case *test;
} case_state;

static void check_case(void **state)
{
  const case_state *given = *state;
  op_bench bench;
  bench_init(&bench, given->suite, given->test);
  if (given->test->refused == CLM_OK && given->suite->op->is_view) check_view(&bench);
  if (given->test->refused == CLM_OK && !given->suite->op->is_view) check_on_devices(&bench);
  bench_fini(&bench);
}

/* The race check is for our kernels, and CLBlast's take it hours: no matrix products there. */
static void open_devices(const test_options *options)
{
  device_count = options->tiny ? 1 : DEVICES;
  for (int d = 0; d < device_count; d++) {
    devices[d] = test_device_open(options, group_limits[d]);
    if (options->tiny) devices[d]->info.has_wrong_products = true;
  }
}

static void close_devices(void)
{
  for (int d = 0; d < device_count; d++) clm__device_close(devices[d]);
}

int check_op(const op_suite *suite, int argc, char **argv)
{
  const test_options options = test_options_read(argc, argv);
  struct CMUnitTest *tests = calloc(suite->case_count + suite->more_count + 1, sizeof *tests);
  case_state *states = calloc(suite->case_count + 1, sizeof *states);
  size_t count = 0;
  if (tests == NULL || states == NULL) return 1;
  for (size_t i = 0; i < suite->case_count; i++) {
    if (options.tiny && !suite->cases[i].tiny) continue;
    states[i] = (case_state){suite, &suite->cases[i]};
    tests[count++] = (struct CMUnitTest){
        .name = suite->cases[i].name, .test_func = check_case, .initial_state = &states[i]};
  }
  for (size_t i = 0; i < suite->more_count && !options.tiny; i++) tests[count++] = suite->more[i];
  open_devices(&options);
  const int failed = _cmocka_run_group_tests(suite->op->name, tests, count, NULL, NULL);
  close_devices();
  free(tests);
  free(states);
  return failed;
}
