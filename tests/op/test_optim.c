#include "op/attributes.h"
#include "op/fence.h"
#include "op/optim.h"
#include "op/testdevice.h"
#include "support/npy.h"

#include <stdio.h>
#include <string.h>

extern const clm__optim clm__optim_sgd, clm__optim_adam, clm__optim_adamw, clm__optim_rmsprop;

#define TOLERANCE 2e-7
#define STEPS 5
#define VARIABLES 2
#define ELEMENTS 16 /* of the flat arrays: 7 and 6 are used, the rest is padding */

static clm__device *device;
static test_options options;

typedef struct optim_case {
  const char *name; /* folder of tests/golden/optim */
  const clm__optim *optim;
  double learning_rate, weight_decay;
  const char *attributes;
} optim_case;

/* Flat arrays of a model with these two variables. */
typedef struct optim_run {
  clm__optim_instance instance;
  _Alignas(double) char attributes[128];
  float w[ELEMENTS], g[ELEMENTS], slots[CLM__SLOTS_MAX][ELEMENTS];
  int slot_count;
  int64_t iterations;
  float learning_rate;
  float scale;
  int stop;
} optim_run;

static void open_run(optim_run *run, const optim_case *test)
{
  *run = (optim_run){.learning_rate = (float)test->learning_rate, .scale = 1.0F};
  const char *names[CLM__SLOTS_MAX];
  double numbers[2] = {test->learning_rate, test->weight_decay};
  assert_true(test->optim->attribute_bytes <= sizeof run->attributes);
  attributes_read(test->optim->fields, test->attributes, run->attributes);
  memcpy(run->attributes, numbers, sizeof numbers);
  run->slot_count = test->optim->slots(run->attributes, names);
  assert_ok(clm__optim_instance_init(&run->instance, test->optim, run->attributes, device));
}

static void update(optim_run *run)
{
  clm__optim_args args = {.elements = ELEMENTS,
                          .gradient_scale = run->scale,
                          .learning_rate = run->learning_rate,
                          .iterations = run->iterations};
  fences set = {.device = device};
  fences_add_output(&set, "w", &args.w, run->w, run->w, sizeof run->w);
  fences_add_input(&set, "g", &args.g, run->g, sizeof run->g);
  fences_add_input(&set, "stop", &args.stop, &run->stop, sizeof run->stop);
  for (int i = 0; i < run->slot_count; i++)
    fences_add_output(&set, "slot", &args.slots[i], run->slots[i], run->slots[i],
                      sizeof run->slots[i]);
  fences_open(&set);
  assert_ok(run->instance.optim->enqueue(&run->instance, &args));
  fences_close(&set, run->instance.optim->name);
  run->iterations++;
}

static npy read_golden(const char *folder, const char *name, int i)
{
  char path[128];
  (void)snprintf(path, sizeof path, "optim/%s%s%s%d.npy", folder, folder[0] != '\0' ? "/" : "",
                 name, i);
  return npy_read_golden(path);
}

/* Puts row `row` of the recorded arrays of both variables one behind the other. */
static void lay_out(const npy arrays[VARIABLES], int rows, int row, float flat[ELEMENTS])
{
  size_t at = 0;
  for (int i = 0; i < VARIABLES; i++) {
    const size_t count = arrays[i].count / (size_t)rows;
    memcpy(flat + at, arrays[i].f32 + (size_t)row * count, count * sizeof *flat);
    at += count;
  }
}

/* The slots after the last step lie behind iteration and learning rate, in the order of files. */
static void check_slots(const optim_run *run, const optim_case *test)
{
  const int together = test->optim->slots_interleaved ? 2 : 1;
  for (int slot = 0; slot < run->slot_count; slot++) {
    const int first = slot / together * together * VARIABLES + slot % together;
    const int step = slot < together ? together : 1;
    float expected[ELEMENTS] = {0};
    npy arrays[VARIABLES];
    for (int i = 0; i < VARIABLES; i++)
      arrays[i] = read_golden(test->name, "variable", 2 + first + i * step);
    lay_out(arrays, 1, 0, expected);
    assert_floats_near("slot", run->slots[slot], expected, ELEMENTS, TOLERANCE);
    for (int i = 0; i < VARIABLES; i++) npy_free(&arrays[i]);
  }
}

static void check_golden(void **state)
{
  const optim_case *test = *state;
  optim_run run;
  npy initial[VARIABLES], gradients[VARIABLES], weights[VARIABLES];
  for (int i = 0; i < VARIABLES; i++) {
    initial[i] = read_golden("", "initial", i);
    gradients[i] = read_golden("", "gradients", i);
    weights[i] = read_golden(test->name, "weights", i);
  }
  open_run(&run, test);
  lay_out(initial, 1, 0, run.w);
  for (int step = 0; step < STEPS; step++) {
    float expected[ELEMENTS] = {0};
    char what[64];
    lay_out(gradients, STEPS, step, run.g);
    lay_out(weights, STEPS, step, expected);
    update(&run);
    (void)snprintf(what, sizeof what, "%s, step %d", test->name, step + 1);
    assert_floats_near(what, run.w, expected, ELEMENTS, TOLERANCE);
  }
  check_slots(&run, test);
  clm__optim_instance_fini(&run.instance);
  for (int i = 0; i < VARIABLES; i++) {
    npy_free(&initial[i]);
    npy_free(&gradients[i]);
    npy_free(&weights[i]);
  }
}

static optim_case golden[] = {
    {"sgd", &clm__optim_sgd, 0.1, 0, NULL},
    {"sgd_momentum", &clm__optim_sgd, 0.1, 0, "momentum=0.9"},
    {"sgd_nesterov", &clm__optim_sgd, 0.1, 0, "momentum=0.9 nesterov=true"},
    {"sgd_weight_decay", &clm__optim_sgd, 0.1, 0.01, NULL},
    {"adam", &clm__optim_adam, 0.001, 0, NULL},
    {"adam_lr01", &clm__optim_adam, 0.1, 0, NULL},
    {"adam_epsilon", &clm__optim_adam, 0.01, 0, "beta_1=0.8 beta_2=0.95 epsilon=0.001"},
    {"adam_amsgrad", &clm__optim_adam, 0.01, 0, "amsgrad=true"},
    {"adam_weight_decay", &clm__optim_adam, 0.01, 0.01, NULL},
    {"adamw", &clm__optim_adamw, 0.01, 0.004, NULL},
    {"adamw_decay01", &clm__optim_adamw, 0.01, 0.1, NULL},
    {"rmsprop", &clm__optim_rmsprop, 0.01, 0, NULL},
    {"rmsprop_momentum", &clm__optim_rmsprop, 0.01, 0, "momentum=0.9"},
    {"rmsprop_centered", &clm__optim_rmsprop, 0.01, 0, "centered=true"},
    {"rmsprop_centered_momentum", &clm__optim_rmsprop, 0.01, 0,
     "rho=0.8 momentum=0.5 centered=true"},
};
#define GOLDEN_COUNT (sizeof golden / sizeof golden[0])

/* Arrays of a made-up step. */
static void fill_run(optim_run *run)
{
  for (size_t i = 0; i < ELEMENTS; i++) {
    run->w[i] = test_random(1, i, -1.0, 1.0);
    run->g[i] = test_random(2, i, -1.0, 1.0);
  }
}

static void test_stop_leaves_everything(void **state)
{
  (void)state;
  for (size_t k = 0; k < GOLDEN_COUNT; k++) {
    optim_run run;
    float before[ELEMENTS];
    const float zeros[CLM__SLOTS_MAX][ELEMENTS] = {{0}};
    open_run(&run, &golden[k]);
    fill_run(&run);
    memcpy(before, run.w, sizeof before);
    run.stop = 1;
    update(&run);
    assert_memory_equal(run.w, before, sizeof before);
    assert_memory_equal(run.slots, zeros, sizeof zeros);
    clm__optim_instance_fini(&run.instance);
  }
}

/* Sums with a scale of a half are the step of half the sums. */
static void test_gradient_scale(void **state)
{
  (void)state;
  for (size_t k = 0; k < GOLDEN_COUNT; k++) {
    optim_run whole, half;
    open_run(&whole, &golden[k]);
    open_run(&half, &golden[k]);
    fill_run(&whole);
    fill_run(&half);
    for (size_t i = 0; i < ELEMENTS; i++) half.g[i] *= 2.0F;
    half.scale = 0.5F;
    update(&whole);
    update(&half);
    assert_memory_equal(whole.w, half.w, sizeof whole.w);
    assert_memory_equal(whole.slots, half.slots, sizeof whole.slots);
    clm__optim_instance_fini(&whole.instance);
    clm__optim_instance_fini(&half.instance);
  }
}

/* Devices of other vector widths make the same bits; GPUs read four floats an item. */
static void test_width_changes_nothing(void **state)
{
  (void)state;
  const clm__device_info kept = device->info;
  device->info.vector_width = 16;
  for (size_t k = 0; k < GOLDEN_COUNT; k++) {
    optim_run narrow, wide;
    device->info.kind = CLM__DEVICE_GPU;
    open_run(&narrow, &golden[k]);
    device->info.kind = CLM__DEVICE_CPU;
    open_run(&wide, &golden[k]);
    assert_int_equal(narrow.instance.width, 4);
    assert_int_equal(wide.instance.width, 16);
    fill_run(&narrow);
    fill_run(&wide);
    for (int step = 0; step < 3; step++) {
      update(&narrow);
      update(&wide);
    }
    assert_memory_equal(narrow.w, wide.w, sizeof narrow.w);
    assert_memory_equal(narrow.slots, wide.slots, sizeof narrow.slots);
    clm__optim_instance_fini(&narrow.instance);
    clm__optim_instance_fini(&wide.instance);
  }
  device->info = kept;
}

static void test_defaults(void **state)
{
  (void)state;
  const char *names[CLM__SLOTS_MAX];
  _Alignas(double) char attributes[128] = {0};
  attributes_read(clm__optim_sgd.fields, NULL, attributes);
  assert_int_equal(clm__optim_sgd.slots(attributes, names), 0);
  memset(attributes, 0, sizeof attributes);
  attributes_read(clm__optim_adam.fields, "amsgrad=true", attributes);
  assert_int_equal(clm__optim_adam.slots(attributes, names), 3);
  assert_string_equal(names[2], "velocity_hat");
  memset(attributes, 0, sizeof attributes);
  attributes_read(clm__optim_rmsprop.fields, "centered=true", attributes);
  assert_int_equal(clm__optim_rmsprop.slots(attributes, names), 2);
  assert_string_equal(names[1], "average_gradient");
  assert_true(clm__optim_adamw.weight_decay == 0.004);
}

static int run_on(int group_max)
{
  struct CMUnitTest tests[GOLDEN_COUNT + 4];
  size_t count = 0;
  for (size_t i = 0; i < GOLDEN_COUNT; i++)
    tests[count++] = (struct CMUnitTest){
        .name = golden[i].name, .test_func = check_golden, .initial_state = &golden[i]};
  tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_stop_leaves_everything);
  tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_gradient_scale);
  tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_width_changes_nothing);
  tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_defaults);
  device = test_device_open(&options, group_max);
  const int failed = _cmocka_run_group_tests("optimizers", tests, count, NULL, NULL);
  clm__device_close(device);
  return failed;
}

int main(int argc, char **argv)
{
  options = test_options_read(argc, argv);
  const int failed = run_on(0);
  return failed + (options.tiny ? 0 : run_on(1));
}
