/* Statistics that replicas join: batch normalization cut in the middle of its passes, over parts of
 * a batch, gives what it gives over the whole batch. */
#include "op/joint.h"

#include "op/batch_normalization.h"
#include "op/testdevice.h"
#include "ref/ref.h"
#include "support/npy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const clm__op clm__op_batch_normalization;

#define IMAGES 11
#define IMAGE_ROWS 20
#define CHANNELS 21
#define IMAGE_FLOATS (IMAGE_ROWS * CHANNELS)
#define FLOATS (IMAGES * IMAGE_FLOATS)
#define PARTS_MAX 3
#define PARAMS 4
#define WORKSPACE_FLOATS (64 * CHANNELS)

static test_options options;

/* A layer, its input, and how the images are dealt out. */
typedef struct setting {
  const char *name;
  clm__batch_normalization_attributes attributes;
  double least, most; /* of x */
  double tolerance;
  double w_tolerance; /* of dw, where larger */
  const char *variant;
} setting;

typedef struct outcome {
  float y[FLOATS];
  float dx[FLOATS];
  float w[PARAMS][CHANNELS];
  float dw[PARAMS][CHANNELS];
} outcome;

/* One replica: its images are [first, first + count). */
typedef struct part {
  int first, count;
  clm__op_args args;
  clm__instance passes[CLM__PASS_COUNT];
} part;

typedef struct bench {
  clm__device *device;
  const setting *of;
  clm__problem problem;
  part parts[PARTS_MAX];
  int part_count;
} bench;

/* ---- numbers ---- */

static float x_at(const setting *of, size_t i) { return test_random(1, i, of->least, of->most); }
static float dy_at(size_t i) { return test_random(2, i, -1.0, 1.0); }

/* Gamma and variances are positive, beta and means may be anything. */
static float w_at(const bench *on, int param, size_t c)
{
  const char *name = on->problem.spec.params[param].name;
  const bool is_positive = strcmp(name, "gamma") == 0 || strcmp(name, "moving_variance") == 0;
  return test_random(10 + (uint32_t)param, c, is_positive ? 0.5 : -0.5, is_positive ? 1.5 : 0.5);
}

/* ---- a part on the device ---- */

static cl_mem make_buffer(const bench *on, const float *values, size_t count)
{
  cl_mem buffer = NULL;
  assert_ok(clm__buffer_create(on->device, count * sizeof(float), &buffer));
  if (values != NULL)
    assert_ok(clm__buffer_write(on->device, buffer, 0, values, count * sizeof(float), true));
  return buffer;
}

static void make_tensors(bench *on, part *one)
{
  static float x[FLOATS], dy[FLOATS];
  const size_t count = (size_t)(one->count > 0 ? one->count : 1) * IMAGE_FLOATS;
  const size_t first = (size_t)one->first * IMAGE_FLOATS;
  for (size_t i = 0; i < count && first + i < FLOATS; i++) {
    x[i] = x_at(on->of, first + i);
    dy[i] = dy_at(first + i);
  }
  one->args.batch = one->count;
  one->args.x[0] = make_buffer(on, x, count);
  one->args.dy = make_buffer(on, dy, count);
  one->args.y = make_buffer(on, NULL, count);
  one->args.dx[0] = make_buffer(on, NULL, count);
  one->args.saved = make_buffer(on, NULL, 2 * CHANNELS);
}

static void make_params(bench *on, part *one)
{
  for (int i = 0; i < on->problem.spec.param_count; i++) {
    float w[CHANNELS];
    for (size_t c = 0; c < CHANNELS; c++) w[c] = w_at(on, i, c);
    one->args.w[i] = make_buffer(on, w, CHANNELS);
    if (on->problem.spec.params[i].trainable) one->args.dw[i] = make_buffer(on, NULL, CHANNELS);
  }
}

static void make_part(bench *on, part *one)
{
  make_tensors(on, one);
  make_params(on, one);
  for (int pass = 0; pass < CLM__PASS_COUNT; pass++) {
    if (!clm__problem_has_pass(&on->problem, (clm__pass)pass)) continue;
    clm__instance *instance = &one->passes[pass];
    assert_ok(clm__instance_init(instance, &on->problem, (clm__pass)pass, on->device, NULL,
                                 on->of->variant));
    assert_true(instance->workspace_bytes <= WORKSPACE_FLOATS * sizeof(float));
  }
  one->args.workspace = make_buffer(on, NULL, WORKSPACE_FLOATS);
}

static void free_part(part *one)
{
  clm__op_args *args = &one->args;
  cl_mem *buffers[] = {&args->x[0], &args->y,     &args->dx[0],
                       &args->dy,   &args->saved, &args->workspace};
  for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++) clm__buffer_release(buffers[i]);
  for (int i = 0; i < PARAMS; i++) {
    clm__buffer_release(&args->w[i]);
    clm__buffer_release(&args->dw[i]);
  }
  for (int pass = 0; pass < CLM__PASS_COUNT; pass++) clm__instance_fini(&one->passes[pass]);
}

static void set_up(bench *on, const setting *of, const int *counts, int part_count, bool joins)
{
  *on = (bench){.device = test_device_open(&options, 0),
                .of = of,
                .problem = {.op = &clm__op_batch_normalization,
                            .attributes = &of->attributes,
                            .input_count = 1,
                            .inputs = {clm__shape3(5, 4, CHANNELS)},
                            .batch_max = IMAGES,
                            .training = true,
                            .joins = joins,
                            .need_dx = 1},
                .part_count = part_count};
  clm__batch_normalization_attributes attributes = of->attributes;
  assert_ok(on->problem.op->infer(&attributes, on->problem.inputs, 1, &on->problem.spec));
  for (int i = 0, first = 0; i < part_count; first += counts[i++]) {
    on->parts[i] = (part){.first = first, .count = counts[i]};
    make_part(on, &on->parts[i]);
  }
}

static void tear_down(bench *on)
{
  for (int i = 0; i < on->part_count; i++) free_part(&on->parts[i]);
  clm__device_close(on->device);
}

/* ---- running ---- */

static void run_half(part *one, clm__pass pass, clm__half half, uint64_t images)
{
  const bool follows = pass == CLM__FORWARD && half == CLM__SECOND_HALF;
  if (one->count == 0 && !follows) return;
  one->args.half = half;
  one->args.joint_images = images;
  assert_ok(clm__instance_enqueue(&one->passes[pass], &one->args));
}

/* The second half finds a workspace with nothing in it but the figures, for it may count on nothing
 * else. Oclgrind takes for unset what is written to a buffer again or behind its beginning. */
static void renew_workspace(const bench *on, part *one, const clm__joint *joint,
                            const clm__joint_total *total)
{
  static float floats[WORKSPACE_FLOATS];
  const size_t first = joint->offset_bytes / sizeof(float);
  assert_true(first + 2 * joint->channels <= WORKSPACE_FLOATS);
  for (size_t i = 0; i < WORKSPACE_FLOATS; i++) floats[i] = NAN;
  clm__joint_store(total, floats + first);
  clm__buffer_release(&one->args.workspace);
  one->args.workspace = make_buffer(on, floats, WORKSPACE_FLOATS);
}

/* What a team does, on one device. */
static void run_joined(bench *on, clm__pass pass)
{
  const clm__joint *joint = &on->parts[0].passes[pass].joint;
  double sums[2 * CHANNELS];
  float figures[2 * CHANNELS];
  clm__joint_total total = {.kind = joint->kind, .channels = joint->channels, .figures = sums};
  assert_int_equal(joint->channels, CHANNELS);
  assert_true(joint->kind != CLM__JOINT_NONE);
  clm__joint_begin(&total);
  for (int i = 0; i < on->part_count; i++) {
    part *one = &on->parts[i];
    run_half(one, pass, CLM__FIRST_HALF, 0);
    assert_ok(clm__buffer_read(on->device, one->args.workspace, joint->offset_bytes, figures,
                               sizeof figures, true));
    clm__joint_add(&total, figures, (uint64_t)one->count);
  }
  assert_int_equal(total.images, IMAGES);
  for (int i = 0; i < on->part_count; i++) {
    renew_workspace(on, &on->parts[i], joint, &total);
    run_half(&on->parts[i], pass, CLM__SECOND_HALF, total.images);
  }
}

static void run_pass(bench *on, clm__pass pass)
{
  if (!clm__problem_has_pass(&on->problem, pass)) return;
  if (on->problem.joins && pass != CLM__BACKWARD_W) {
    run_joined(on, pass);
    return;
  }
  for (int i = 0; i < on->part_count; i++)
    if (on->parts[i].count > 0) run_half(&on->parts[i], pass, CLM__WHOLE, 0);
}

static void read_params(const bench *on, const part *one, outcome *result)
{
  for (int i = 0; i < on->problem.spec.param_count; i++) {
    float values[CHANNELS];
    assert_ok(clm__buffer_read(on->device, one->args.w[i], 0, values, sizeof values, true));
    /* Every replica has the same weights, moving averages counted. */
    if (one->first == 0 && one == &on->parts[0])
      memcpy(result->w[i], values, sizeof values);
    else
      assert_memory_equal(result->w[i], values, sizeof values);
    if (one->args.dw[i] == NULL || one->count == 0) continue;
    assert_ok(clm__buffer_read(on->device, one->args.dw[i], 0, values, sizeof values, true));
    for (size_t c = 0; c < CHANNELS; c++) result->dw[i][c] += values[c];
  }
}

static void run(const setting *of, const int *counts, int part_count, bool joins, outcome *result)
{
  bench on;
  memset(result, 0, sizeof *result);
  set_up(&on, of, counts, part_count, joins);
  run_pass(&on, CLM__FORWARD);
  run_pass(&on, CLM__BACKWARD_W);
  run_pass(&on, CLM__BACKWARD_X);
  for (int i = 0; i < part_count; i++) {
    const part *one = &on.parts[i];
    const size_t first = (size_t)one->first * IMAGE_FLOATS;
    const size_t size_bytes = (size_t)one->count * IMAGE_FLOATS * sizeof(float);
    assert_ok(clm__buffer_read(on.device, one->args.y, 0, result->y + first, size_bytes, true));
    assert_ok(
        clm__buffer_read(on.device, one->args.dx[0], 0, result->dx + first, size_bytes, true));
    read_params(&on, one, result);
  }
  tear_down(&on);
}

/* ---- the reference ---- */

static void run_reference(const setting *of, outcome *result)
{
  static double x[FLOATS], y[FLOATS], dy[FLOATS], dx[FLOATS];
  static double w[PARAMS][CHANNELS], dw[PARAMS][CHANNELS];
  bench on;
  set_up(&on, of, (const int[]){IMAGES}, 1, false);
  clm__ref_call call = {
      .problem = &on.problem, .batch = IMAGES, .x = {x}, .y = y, .dy = dy, .dx = {dx}};
  for (size_t i = 0; i < FLOATS; i++) {
    x[i] = (double)x_at(of, i);
    dy[i] = (double)dy_at(i);
  }
  memset(dw, 0, sizeof dw);
  memset(w, 0, sizeof w);
  for (int i = 0; i < on.problem.spec.param_count; i++) {
    for (size_t c = 0; c < CHANNELS; c++) w[i][c] = (double)w_at(&on, i, c);
    call.w[i] = w[i];
    call.dw[i] = dw[i];
  }
  clm__ref_batch_normalization_forward(&call);
  clm__ref_batch_normalization_backward(&call);
  for (size_t i = 0; i < FLOATS; i++) {
    result->y[i] = (float)y[i];
    result->dx[i] = (float)dx[i];
  }
  for (size_t i = 0; i < PARAMS * CHANNELS; i++) {
    result->w[i / CHANNELS][i % CHANNELS] = (float)w[i / CHANNELS][i % CHANNELS];
    result->dw[i / CHANNELS][i % CHANNELS] = (float)dw[i / CHANNELS][i % CHANNELS];
  }
  tear_down(&on);
}

static outcome is, should;

static void assert_outcome(const setting *of)
{
  const double w_tolerance = of->w_tolerance > 0.0 ? of->w_tolerance : of->tolerance;
  print_message("%s\n", of->name);
  assert_floats_near("y", is.y, should.y, FLOATS, of->tolerance);
  assert_floats_near("dx", is.dx, should.dx, FLOATS, of->tolerance);
  assert_floats_near("w", is.w[0], should.w[0], PARAMS * CHANNELS, of->tolerance);
  assert_floats_near("dw", is.dw[0], should.dw[0], PARAMS * CHANNELS, w_tolerance);
}

/* ---- tests ---- */

#define LAYER(...)                                                                                 \
  {                                                                                                \
    .axis = -1, .momentum = 0.9, .epsilon = 0.001, __VA_ARGS__                                     \
  }

static const setting settings[] = {
    {.name = "chosen",
     .attributes = LAYER(.center = true, .scale = true),
     .least = -1.0,
     .most = 1.0,
     .tolerance = 2e-6},
    {.name = "plain",
     .attributes = LAYER(.center = true, .scale = true, .epilogue = CLM__TANH),
     .least = -1.0,
     .most = 1.0,
     .tolerance = 2e-6,
     .variant = "plain"},
    {.name = "for GPUs",
     .attributes = LAYER(.center = true, .scale = true, .epilogue = CLM__TANH),
     .least = -1.0,
     .most = 1.0,
     .tolerance = 2e-6,
     .variant = "gpu"},
    {.name = "without gamma",
     .attributes = LAYER(.center = true, .epilogue = CLM__TANH),
     .least = -1.0,
     .most = 1.0,
     .tolerance = 2e-6},
    {.name = "neither gamma nor beta",
     .attributes = LAYER(.center = false),
     .least = -1.0,
     .most = 1.0,
     .tolerance = 2e-6},
    /* The tolerance of the layer in one piece there (op/test_batch_normalization.c). For dw half a
     * unit of a mean of 200 counts times the sum of dy, in one piece too. */
    {.name = "far from zero",
     .attributes = LAYER(.center = true, .scale = true),
     .least = 199.0,
     .most = 201.0,
     .tolerance = 1e-4,
     .w_tolerance = 1e-3},
};

enum { SETTINGS = sizeof settings / sizeof settings[0] };

static void one_part_is_the_whole_bit_for_bit(void **state)
{
  (void)state;
  for (int i = 0; i < (options.tiny ? 2 : SETTINGS); i++) {
    run(&settings[i], (const int[]){IMAGES}, 1, false, &should);
    run(&settings[i], (const int[]){IMAGES}, 1, true, &is);
    assert_memory_equal(&is, &should, sizeof is);
  }
}

/* With --tiny, which is for the race check, fewer of both. */
static void parts_equal_the_reference_of_the_whole(void **state)
{
  static const int counts[][PARTS_MAX] = {{1, 3, 7}, {4, 7}, {6, 0, 5}, {0, 11}};
  static const int part_counts[] = {3, 2, 3, 2};
  const size_t cuts = options.tiny ? 1 : sizeof part_counts / sizeof part_counts[0];
  (void)state;
  for (int i = 0; i < (options.tiny ? 2 : SETTINGS); i++) {
    run_reference(&settings[i], &should);
    for (size_t k = 0; k < cuts; k++) {
      run(&settings[i], counts[k], part_counts[k], true, &is);
      assert_outcome(&settings[i]);
    }
  }
}

/* Else the tests above could not fail. */
static void parts_that_do_not_join_give_something_else(void **state)
{
  const int counts[] = {IMAGES - 4};
  (void)state;
  run(&settings[0], (const int[]){IMAGES}, 1, false, &should);
  run(&settings[0], counts, 1, false, &is);
  assert_true(fabsf(is.y[0] - should.y[0]) > 1e-4F);
  assert_true(fabsf(is.dx[0] - should.dx[0]) > 1e-4F);
}

static void a_pass_of_one_piece_has_no_joint(void **state)
{
  bench on;
  (void)state;
  set_up(&on, &settings[0], (const int[]){1}, 1, false);
  for (int pass = 0; pass < CLM__PASS_COUNT; pass++)
    assert_int_equal(on.parts[0].passes[pass].joint.kind, CLM__JOINT_NONE);
  tear_down(&on);
}

/* Two groups far from zero and one without images, against all numbers at once. */
static void moments_of_groups_are_those_of_all(void **state)
{
  static const float numbers[] = {10000.5F, 10001.0F, 9999.25F, 10000.0F, 10003.0F, 9998.0F};
  double scratch[2];
  float joined[2];
  clm__joint_total total = {.kind = CLM__JOINT_MOMENTS, .channels = 1, .figures = scratch};
  (void)state;
  clm__joint_begin(&total);
  clm__joint_store(&total, joined);
  assert_true(joined[0] == 0.0F && joined[1] == 0.0F);
  const int counts[] = {2, 0, 4};
  double all_mean = 0.0, all_variance = 0.0;
  for (int i = 0, at = 0; i < 3; at += counts[i++]) {
    double mean = 0.0, variance = 0.0;
    for (int k = at; k < at + counts[i]; k++) mean += (double)numbers[k] / counts[i];
    for (int k = at; k < at + counts[i]; k++)
      variance += pow((double)numbers[k] - mean, 2.0) / counts[i];
    clm__joint_add(&total, (const float[]){(float)mean, (float)variance}, (uint64_t)counts[i]);
  }
  for (int k = 0; k < 6; k++) all_mean += (double)numbers[k] / 6.0;
  for (int k = 0; k < 6; k++) all_variance += pow((double)numbers[k] - all_mean, 2.0) / 6.0;
  clm__joint_store(&total, joined);
  assert_int_equal(total.images, 6);
  assert_true(fabs((double)joined[0] - all_mean) < 1e-7 * all_mean);
  assert_true(fabs((double)joined[1] - all_variance) < 1e-6 * all_variance);
}

int main(int argc, char **argv)
{
  options = test_options_read(argc, argv);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_part_is_the_whole_bit_for_bit),
      cmocka_unit_test(parts_equal_the_reference_of_the_whole),
      cmocka_unit_test(parts_that_do_not_join_give_something_else),
      cmocka_unit_test(a_pass_of_one_piece_has_no_joint),
      cmocka_unit_test(moments_of_groups_are_those_of_all),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
