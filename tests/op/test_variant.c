#define _XOPEN_SOURCE 700
#include "base/mem.h"
#include "op/testdevice.h"
#include "op/variant.h"
#include "support/folder.h"
#include "sys/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static clm__device *device;

/* ---- an op made up for these tests ---- */

static bool is_large(const clm__problem *problem, clm__pass pass, const clm__device_info *info)
{
  (void)pass;
  (void)info;
  return problem->inputs[0].dims[0] >= 100;
}

static clm_status prepare(clm__instance *instance)
{
  return clm__instance_add_kernel(instance, "rescaling.cl", "-DA=1", "rescaling_plain");
}

static clm_status prepare_badly(clm__instance *instance)
{
  CLM_TRY(prepare(instance));
  return clm__instance_add_kernel(instance, "rescaling.cl", "", "no_such_kernel");
}

static clm_status enqueue(clm__instance *instance, const clm__op_args *args)
{
  (void)instance;
  (void)args;
  return CLM_OK;
}

#define ALL (1U << CLM__FORWARD | 1U << CLM__BACKWARD_X | 1U << CLM__BACKWARD_W)
static const clm__variant fast = {.name = "fast",
                                  .passes = 1U << CLM__FORWARD,
                                  .usable = is_large,
                                  .prepare = prepare,
                                  .enqueue = enqueue};
static const clm__variant bad = {
    .name = "bad", .passes = 1U << CLM__BACKWARD_W, .prepare = prepare_badly, .enqueue = enqueue};
static const clm__variant plain = {
    .name = "plain", .passes = ALL, .prepare = prepare, .enqueue = enqueue};
static const clm__variant gpu = {.name = "gpu",
                                 .passes = 1U << CLM__BACKWARD_X,
                                 .for_gpus = true,
                                 .prepare = prepare,
                                 .enqueue = enqueue};
static const clm__variant *const variants[] = {&fast, &bad, &gpu, &plain, NULL};
static const clm__op op = {.name = "made_up", .variants = variants};

static clm__problem make_problem(int size)
{
  const clm__shape shape = {1, {size}};
  return (clm__problem){
      .op = &op,
      .input_count = 1,
      .inputs = {shape},
      .spec = {.output = shape, .param_count = 1, .params = {{.trainable = true}}},
      .batch_max = 4,
      .training = true,
      .need_dx = 1};
}

static const char *choose(const clm__problem *problem, clm__pass pass, const clm__tune *tune,
                          const char *forced)
{
  clm__instance instance;
  assert_ok(clm__instance_init(&instance, problem, pass, device, tune, forced));
  const char *name = instance.variant->name;
  assert_int_equal(instance.kernel_count, 1);
  clm__instance_fini(&instance);
  assert_int_equal(instance.kernel_count, 0);
  return name;
}

static void test_first_usable_is_chosen(void **state)
{
  (void)state;
  const clm__problem small = make_problem(10), large = make_problem(100);
  assert_string_equal(choose(&small, CLM__FORWARD, NULL, NULL), "plain");
  assert_string_equal(choose(&large, CLM__FORWARD, NULL, NULL), "fast");
  assert_string_equal(choose(&large, CLM__BACKWARD_X, NULL, NULL), "plain");
}

static void test_a_name_is_forced(void **state)
{
  (void)state;
  const clm__problem large = make_problem(100);
  assert_string_equal(choose(&large, CLM__FORWARD, NULL, "plain"), "plain");
}

static void test_names_that_cannot_be_forced(void **state)
{
  (void)state;
  const clm__problem small = make_problem(10);
  clm__instance instance;
  assert_refused(clm__instance_init(&instance, &small, CLM__FORWARD, device, NULL, "fast"),
                 CLM_USAGE, "variant fast cannot be used for made_up.fwd");
  assert_refused(clm__instance_init(&instance, &small, CLM__BACKWARD_W, device, NULL, "slow"),
                 CLM_USAGE, "usable are: bad, plain");
}

static void test_what_was_half_prepared_is_freed(void **state)
{
  (void)state;
  const clm__problem small = make_problem(10);
  clm__instance instance;
  assert_refused(clm__instance_init(&instance, &small, CLM__BACKWARD_W, device, NULL, NULL),
                 CLM_DEVICE_FAILED, "no_such_kernel");
  assert_int_equal(instance.kernel_count, 0);
  assert_null(instance.kernels[0].handle);
}

/* A tuning file in a folder of its own. */
static clm__tune *open_tune(char *folder, const char *text)
{
  char *path = NULL;
  clm__tune *tune = NULL;
  assert_ok(clm__file_join(folder, "tuning.txt", &path));
  assert_ok(clm__file_write(path, text, strlen(text)));
  assert_ok(clm__tune_open(path, &tune));
  clm__mem_free(path);
  return tune;
}

static void test_tuning_values_choose(void **state)
{
  (void)state;
  char *folder = make_folder();
  const clm__problem large = make_problem(100), other = make_problem(200), small = make_problem(9);
  clm__tune *tune = open_tune(folder, "made_up.fwd | 100-100 | * | plain TILE=4 A=9 VEC=8\n"
                                      "made_up.fwd | 9-9 | * | fast\n");
  clm__instance instance;
  assert_ok(clm__instance_init(&instance, &large, CLM__FORWARD, device, tune, NULL));
  assert_string_equal(instance.variant->name, "plain");
  assert_string_equal(instance.tuning.defines, "TILE=4 A=9 VEC=8");
  clm__instance_fini(&instance);
  assert_string_equal(choose(&other, CLM__FORWARD, tune, NULL), "fast");
  assert_string_equal(choose(&small, CLM__FORWARD, tune, NULL), "plain");
  assert_ok(clm__instance_init(&instance, &large, CLM__FORWARD, device, tune, "fast"));
  assert_string_equal(instance.tuning.defines, "");
  clm__instance_fini(&instance);
  clm__tune_close(tune);
  remove_folder(folder);
}

static void test_builds_are_listed(void **state)
{
  (void)state;
  char *folder = make_folder(), *path = NULL, *content = NULL;
  size_t size = 0;
  const clm__problem large = make_problem(100);
  clm__tune *tune = open_tune(folder, "made_up.fwd | * | * | fast  TILE=4  A=9 VEC=8 \n");
  assert_ok(clm__file_join(folder, "kernels", &path));
  assert_int_equal(setenv("CLEMATIS_TEST_LIST_KERNELS", path, 1), 0);
  assert_string_equal(choose(&large, CLM__FORWARD, tune, NULL), "fast");
  assert_string_equal(choose(&large, CLM__BACKWARD_X, NULL, NULL), "plain");
  assert_int_equal(unsetenv("CLEMATIS_TEST_LIST_KERNELS"), 0);
  assert_ok(clm__file_read(path, 4096, &content, &size));
  assert_string_equal(content, "rescaling.cl\t-DA=1 -DTILE=4 -DVEC=8\tfast\n"
                               "rescaling.cl\t-DA=1\tplain\n");
  clm__tune_close(tune);
  clm__mem_free(content);
  clm__mem_free(path);
  remove_folder(folder);
}

static void test_what_is_for_gpus_must_be_named_on_cpus(void **state)
{
  (void)state;
  const clm__problem small = make_problem(10);
  const clm__device_info real = device->info;
  device->info.kind = CLM__DEVICE_CPU;
  assert_true(clm__variant_is_usable(&gpu, &small, CLM__BACKWARD_X, &device->info));
  assert_false(clm__variant_is_offered(&gpu, &small, CLM__BACKWARD_X, &device->info));
  assert_string_equal(choose(&small, CLM__BACKWARD_X, NULL, NULL), "plain");
  assert_string_equal(choose(&small, CLM__BACKWARD_X, NULL, "gpu"), "gpu");
  device->info.kind = CLM__DEVICE_GPU;
  assert_true(clm__variant_is_offered(&gpu, &small, CLM__BACKWARD_X, &device->info));
  assert_false(clm__variant_is_offered(&gpu, &small, CLM__FORWARD, &device->info));
  assert_string_equal(choose(&small, CLM__BACKWARD_X, NULL, NULL), "gpu");
  device->info = real;
}

static void test_values_are_given(void **state)
{
  (void)state;
  const clm__problem small = make_problem(10);
  const clm__tune_values good = {"plain", "TILE=4"}, unknown = {"fast", ""};
  clm__instance instance;
  assert_ok(clm__instance_init_with(&instance, &small, CLM__FORWARD, device, &good));
  assert_string_equal(instance.variant->name, "plain");
  assert_string_equal(instance.tuning.defines, "TILE=4");
  clm__instance_fini(&instance);
  assert_refused(clm__instance_init_with(&instance, &small, CLM__FORWARD, device, &unknown),
                 CLM_USAGE, "variant fast cannot be used");
}

static void test_keys(void **state)
{
  (void)state;
  clm__problem problem = make_problem(10);
  clm__variant_key key;
  clm__variant_key_of(&problem, CLM__BACKWARD_W, &key);
  assert_string_equal(key.op_pass, "made_up.bwd_w");
  assert_string_equal(key.shape, "10-10");
  problem.inputs[0] = clm__shape3(90, 80, 3);
  problem.spec.output = clm__shape3(45, 40, 16);
  problem.spec.params[0].shape = (clm__shape){4, {3, 5, 3, 16}};
  clm__variant_key_of(&problem, CLM__FORWARD, &key);
  assert_string_equal(key.shape, "90x80x3-45x40x16/3x5");
}

static void test_passes(void **state)
{
  (void)state;
  clm__problem problem = make_problem(10);
  assert_true(clm__problem_has_pass(&problem, CLM__FORWARD));
  assert_true(clm__problem_has_pass(&problem, CLM__BACKWARD_X));
  assert_true(clm__problem_has_pass(&problem, CLM__BACKWARD_W));
  problem.frozen = true;
  assert_false(clm__problem_has_pass(&problem, CLM__BACKWARD_W));
  problem.frozen = false;
  problem.spec.params[0].trainable = false;
  assert_false(clm__problem_has_pass(&problem, CLM__BACKWARD_W));
  problem.need_dx = 0;
  assert_false(clm__problem_has_pass(&problem, CLM__BACKWARD_X));
  const clm__op view = {.name = "view", .is_view = true};
  problem.op = &view;
  assert_false(clm__problem_has_pass(&problem, CLM__FORWARD));
  assert_string_equal(clm__pass_name(CLM__BACKWARD_W), "bwd_w");
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_first_usable_is_chosen),
      cmocka_unit_test(test_a_name_is_forced),
      cmocka_unit_test(test_names_that_cannot_be_forced),
      cmocka_unit_test(test_what_was_half_prepared_is_freed),
      cmocka_unit_test(test_tuning_values_choose),
      cmocka_unit_test(test_builds_are_listed),
      cmocka_unit_test(test_what_is_for_gpus_must_be_named_on_cpus),
      cmocka_unit_test(test_values_are_given),
      cmocka_unit_test(test_keys),
      cmocka_unit_test(test_passes),
  };
  const test_options options = test_options_read(argc, argv);
  device = test_device_open(&options, 0);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  clm__device_close(device);
  return failed;
}
