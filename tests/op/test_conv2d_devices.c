/* What the convolutions' variants make of other devices than the one at hand: shorter vectors, more
 * cores, smaller buffers. Each is judged by the plain variant. */
#include "op/conv2d.h"
#include "op/testdevice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOLERANCE 2e-5F

static clm__device *device;

/* One array on both sides. */
typedef struct array {
  cl_mem buffer;
  float *values;
  size_t count;
} array;

typedef struct run {
  clm__problem problem;
  clm__conv2d_max_pool_attributes attributes;
  int batch;
  array x, y, dx, dy, w, db, dw, bias, saved;
} run;

static void fill(array *made, size_t count, uint32_t stream)
{
  made->count = count;
  made->values = calloc(count, sizeof(float));
  assert_non_null(made->values);
  for (size_t i = 0; i < count; i++) made->values[i] = test_random(stream, i, -1, 1);
  assert_ok(clm__buffer_create(device, count * sizeof(float), &made->buffer));
  assert_ok(clm__buffer_write(device, made->buffer, 0, made->values, count * sizeof(float), true));
}

static void drop(array *made)
{
  clm__buffer_release(&made->buffer);
  free(made->values);
}

static void open_run(run *made, bool pool, clm__shape input, const clm__conv2d_attributes *conv,
                     int batch)
{
  *made = (run){.attributes = {.conv = *conv}, .batch = batch};
  made->problem = (clm__problem){.op = pool ? &clm__op_conv2d_max_pool : &clm__op_conv2d,
                                 .attributes = &made->attributes,
                                 .input_count = 1,
                                 .inputs = {input},
                                 .batch_max = batch,
                                 .training = true,
                                 .need_dx = 1};
  clm__op_spec *const spec = &made->problem.spec;
  assert_ok(made->problem.op->infer(&made->attributes, &input, 1, spec));
  const size_t n = (size_t)batch, outputs = n * clm__shape_elements(&spec->output);
  fill(&made->x, n * clm__shape_elements(&input), 1);
  fill(&made->dx, made->x.count, 2);
  fill(&made->y, outputs, 3);
  fill(&made->dy, outputs, 4);
  fill(&made->w, clm__shape_elements(&spec->params[0].shape), 5);
  fill(&made->dw, made->w.count, 6);
  fill(&made->bias, (size_t)conv->filters, 7);
  fill(&made->db, (size_t)conv->filters, 8);
  fill(&made->saved, outputs, 9);
}

static void close_run(run *made)
{
  array *const all[] = {&made->x,  &made->y,    &made->dx, &made->dy,   &made->w,
                        &made->dw, &made->bias, &made->db, &made->saved};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) drop(all[i]);
}

static void enqueue(const run *made, clm__pass pass, const char *variant)
{
  clm__instance instance;
  clm__op_args args = {.batch = made->batch,
                       .x = {made->x.buffer},
                       .y = made->y.buffer,
                       .dx = {made->dx.buffer},
                       .dy = made->dy.buffer,
                       .w = {made->w.buffer, made->bias.buffer},
                       .dw = {made->dw.buffer, made->db.buffer},
                       .saved = made->saved.buffer};
  assert_ok(clm__instance_init(&instance, &made->problem, pass, device, NULL, variant));
  if (instance.workspace_bytes > 0)
    assert_ok(clm__buffer_create(device, instance.workspace_bytes, &args.workspace));
  assert_ok(clm__instance_enqueue(&instance, &args));
  assert_ok(clm__device_finish(device));
  clm__buffer_release(&args.workspace);
  clm__instance_fini(&instance);
}

/* Keeps what a variant wrote, or compares it with what is kept. */
static void look(array *result, bool keep, const char *variant, const char *name)
{
  float *read = calloc(result->count, sizeof *read);
  assert_non_null(read);
  assert_ok(clm__buffer_read(device, result->buffer, 0, read, result->count * sizeof *read, true));
  for (size_t i = 0; i < result->count; i++) {
    const float expected = keep ? read[i] : result->values[i];
    if (!(fabsf(read[i] - expected) <= TOLERANCE * fmaxf(1.0F, fabsf(expected))))
      fail_msg("%s, %s[%zu]: %g is not %g", variant, name, i, (double)read[i], (double)expected);
    result->values[i] = expected;
  }
  free(read);
}

static void look_at_all(run *made, bool keep, const char *variant)
{
  for (int pass = 0; pass < CLM__PASS_COUNT; pass++) enqueue(made, (clm__pass)pass, variant);
  look(&made->y, keep, variant, "y");
  look(&made->dx, keep, variant, "dx");
  look(&made->dw, keep, variant, "dw");
  if (made->attributes.conv.use_bias) look(&made->db, keep, variant, "db");
}

static const clm__conv2d_attributes convs[] = {{.filters = 27,
                                                .kernel_size = {3, 3},
                                                .strides = {1, 1},
                                                .padding = CLM__CONV2D_SAME,
                                                .dilation_rate = {1, 1},
                                                .groups = 1,
                                                .use_bias = true,
                                                .epilogue = CLM__RELU},
                                               {.filters = 32,
                                                .kernel_size = {3, 2},
                                                .strides = {2, 1},
                                                .padding = CLM__CONV2D_SAME,
                                                .dilation_rate = {1, 1},
                                                .groups = 1,
                                                .epilogue = CLM__ELU}};

/* The same with another device's numbers, which `change` writes. */
static void compare_on(void (*change)(clm__device_info *info), const char *variant)
{
  const clm__device_info real = device->info;
  for (int i = 0; i < 3; i++) {
    run made;
    const bool pool = i == 2;
    if (pool && device->info.kind != CLM__DEVICE_CPU) continue;
    open_run(&made, pool, clm__shape3(13, 11, 20), &convs[i % 2], 5);
    look_at_all(&made, true, "plain");
    change(&device->info);
    if (!pool || strcmp(variant, "gemm") != 0) look_at_all(&made, false, variant);
    device->info = real;
    close_run(&made);
  }
}

static void be_narrow(clm__device_info *info) { info->vector_width = 8; }
static void be_narrower(clm__device_info *info) { info->vector_width = 4; }
static void be_wide(clm__device_info *info) { info->vector_width = 16; }
static void have_many_cores(clm__device_info *info) { info->compute_units = 61; }

/* Room for the unfolded values of two images of five. */
static void have_small_buffers(clm__device_info *info)
{
  info->buffer_max_bytes = 4 * 2 * 13 * 11 * (20 * 9 + 27) * sizeof(float);
}

/* A small GPU's groups, and compute units for which sums are cut into many parts. */
static void be_a_gpu(clm__device_info *info)
{
  info->group_max = 64;
  info->compute_units = 97;
}

static void cpu_variant_is_right_for_any_width(void **state)
{
  (void)state;
  if (device->info.kind != CLM__DEVICE_CPU) skip();
  compare_on(be_wide, "cpu");
  compare_on(be_narrow, "cpu");
  compare_on(be_narrower, "cpu");
}

static void cpu_variant_is_right_for_many_cores(void **state)
{
  (void)state;
  if (device->info.kind != CLM__DEVICE_CPU) skip();
  compare_on(have_many_cores, "cpu");
}

static void gemm_variant_takes_images_in_chunks(void **state)
{
  (void)state;
  if (device->info.has_wrong_products) skip();
  compare_on(have_small_buffers, "gemm");
}

static void gpu_variant_is_right_in_small_groups(void **state)
{
  (void)state;
  if (device->info.group_max < 64) skip();
  compare_on(be_a_gpu, "gpu");
}

/* Tiles that only tuning chooses. */
static void gpu_variant_is_right_with_large_tiles(void **state)
{
  (void)state;
  if (device->info.group_max < 256) skip();
  static const clm__tune_values values[] = {
      {"gpu", "TILE_M=128 TILE_N=128 TILE_K=8 ITEM_M=8 ITEM_N=8"},
      {"gpu", "TILE_M=128 TILE_N=32 TILE_K=16 ITEM_M=8 ITEM_N=4"}};
  run made;
  open_run(&made, true, clm__shape3(13, 11, 20), &convs[0], 3);
  enqueue(&made, CLM__FORWARD, "plain");
  look(&made.y, true, "plain", "y");
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    clm__instance instance;
    const clm__op_args args = {.batch = made.batch,
                               .x = {made.x.buffer},
                               .y = made.y.buffer,
                               .w = {made.w.buffer, made.bias.buffer},
                               .saved = made.saved.buffer};
    assert_ok(clm__instance_init_with(&instance, &made.problem, CLM__FORWARD, device, &values[i]));
    assert_ok(clm__instance_enqueue(&instance, &args));
    assert_ok(clm__device_finish(device));
    clm__instance_fini(&instance);
    look(&made.y, false, values[i].defines, "y");
  }
  close_run(&made);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(cpu_variant_is_right_for_any_width),
                                     cmocka_unit_test(cpu_variant_is_right_for_many_cores),
                                     cmocka_unit_test(gemm_variant_takes_images_in_chunks),
                                     cmocka_unit_test(gpu_variant_is_right_in_small_groups),
                                     cmocka_unit_test(gpu_variant_is_right_with_large_tiles)};
  const test_options options = test_options_read(argc, argv);
  device = test_device_open(&options, 0);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  clm__device_close(device);
  return failed;
}
