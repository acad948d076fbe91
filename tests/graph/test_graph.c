#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "invented.h"

static void snake_case_is_keras(void **state)
{
  static const char *const pairs[][2] = {
      {"Conv2D", "conv2d"},
      {"MaxPooling2D", "max_pooling2d"},
      {"GlobalAveragePooling2D", "global_average_pooling2d"},
      {"BatchNormalization", "batch_normalization"},
      {"ReLU", "re_lu"},
      {"PReLU", "p_re_lu"},
      {"ELU", "elu"},
      {"ZeroPadding2D", "zero_padding2d"},
      {"Conv2DTranspose", "conv2d_transpose"},
      {"InputLayer", "input_layer"},
      {"RMSprop", "rm_sprop"},
      {"My Layer!", "my_layer"},
      {"", ""},
  };
  (void)state;
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    char *snake = NULL;
    assert_int_equal(clm__graph_snake_case(pairs[i][0], &snake), CLM_OK);
    assert_string_equal(snake, pairs[i][1]);
    clm__mem_free(snake);
  }
}

static void layers_get_names_and_shapes(void **state)
{
  (void)state;
  clm__graph *graph = new_graph(true, clm__shape3(6, 4, 3));
  const int first = add_mix(graph, NULL, 0, 5, CLM__RELU);
  const int second = add_mix(graph, "mine", first, 7, CLM__LINEAR);
  const int third = add_mix(graph, NULL, second, 2, CLM__LINEAR);
  assert_string_equal(graph->layers[first].name, "mix_up2d");
  assert_string_equal(graph->layers[second].name, "mine");
  assert_string_equal(graph->layers[third].name, "mix_up2d_1");
  assert_int_equal(graph->output_layer, third);
  assert_true(clm__shape_equal(clm__graph_output_shape(graph), &(clm__shape){3, {6, 4, 2}}));
  assert_int_equal(clm__graph_find(graph, "mine"), second);
  assert_int_equal(clm__graph_find(graph, "yours"), -1);
  assert_true(graph->layers[first].trainable);
  clm__graph_destroy(graph);
}

static void expect_failure(clm_status status, const char *words)
{
  assert_int_equal(status, CLM_BAD_DATA);
  if (strstr(clm_error_last()->message, words) == NULL)
    fail_msg("\"%s\" is not in \"%s\"", words, clm_error_last()->message);
}

static void wrong_layers_are_refused(void **state)
{
  (void)state;
  clm__graph *graph = new_graph(false, clm__shape3(6, 4, 3));
  const mix_attributes unlucky = {.units = 13};
  const mix_attributes huge = {.units = INT32_MAX};
  const int zero = 0;
  expect_failure(clm__graph_add(graph, &op_mix, "image", &huge, &zero, 1), "called image");
  expect_failure(clm__graph_add(graph, &op_mix, "m", &unlucky, &zero, 1),
                 "layer m (MixUp2D): 13 units");
  expect_failure(clm__graph_add(graph, &op_mix, "m", &huge, &zero, 1), "too large");
  expect_failure(clm__graph_add(graph, &op_sum, "s", NULL, &zero, 1), "1 inputs, 2 to 8");
  expect_failure(clm__graph_add(graph, &op_flat, "f", NULL, (const int[]){1}, 1), "no layer");
  expect_failure(clm__graph_add(graph, &op_flat, "f", NULL, (const int[]){-1}, 1), "no layer");
  assert_int_equal(graph->layer_count, 1);
  const int mixed = add_mix(graph, "mixed", 0, 4, CLM__LINEAR);
  expect_failure(clm__graph_add(graph, &op_sum, "s", NULL, (const int[]){0, mixed}, 2),
                 "layer s (Sum): the inputs differ");
  clm__graph_destroy(graph);
  graph = NULL;
  expect_failure(clm__graph_create("m", true, "i", clm__shape3(0, 4, 3), &graph), "below 1");
  expect_failure(clm__graph_create("m", true, "i", clm__shape3(65536, 65536, 1), &graph),
                 "too large");
  expect_failure(clm__graph_create("m", true, "i", (clm__shape){0}, &graph), "no dimensions");
  assert_null(graph);
  clm__graph_destroy(NULL);
}

static void assert_order(const clm__graph *graph, const char *const *names)
{
  for (int i = 0; i < graph->layer_count; i++) {
    assert_string_equal(graph->layers[i].name, names[i]);
    for (int k = 0; k < graph->layers[i].input_count; k++)
      assert_true(graph->layers[i].inputs[k] < i);
  }
}

/* The first block of ResNet50, whose order in Keras is on record: the shortcut stands just before
 * the layer of equal depth. */
static void sorted_as_keras_does(void **state)
{
  static const char *const order[] = {"image", "1_conv", "1_bn",   "1_relu", "2_conv",
                                      "2_bn",  "2_relu", "0_conv", "3_conv", "0_bn",
                                      "3_bn",  "add",    "out"};
  (void)state;
  clm__graph *graph = new_graph(false, clm__shape3(8, 8, 3));
  const int shortcut = add_mix(graph, "0_conv", 0, 4, CLM__LINEAR);
  const int shortcut_bn = add_one(graph, &op_norm, "0_bn", shortcut);
  const int conv1 = add_mix(graph, "1_conv", 0, 4, CLM__LINEAR);
  const int bn1 = add_one(graph, &op_norm, "1_bn", conv1);
  const int relu1 = add_point(graph, "1_relu", bn1, CLM__RELU);
  const int conv2 = add_mix(graph, "2_conv", relu1, 4, CLM__LINEAR);
  const int bn2 = add_one(graph, &op_norm, "2_bn", conv2);
  const int relu2 = add_point(graph, "2_relu", bn2, CLM__RELU);
  const int conv3 = add_mix(graph, "3_conv", relu2, 4, CLM__LINEAR);
  const int bn3 = add_one(graph, &op_norm, "3_bn", conv3);
  const int sum = add_sum(graph, "add", shortcut_bn, bn3);
  (void)add_point(graph, "out", sum, CLM__RELU);
  assert_int_equal(clm__graph_sort(graph), CLM_OK);
  assert_order(graph, order);
  assert_int_equal(graph->output_layer, 12);
  assert_int_equal(graph->layers[11].inputs[0], 9);
  assert_int_equal(graph->layers[11].inputs[1], 10);
  assert_int_equal(clm__graph_sort(graph), CLM_OK);
  assert_order(graph, order);
  clm__graph_destroy(graph);
}

static void layers_that_lead_nowhere_come_last(void **state)
{
  static const char *const order[] = {"image", "a", "b", "dead"};
  (void)state;
  clm__graph *graph = new_graph(false, clm__shape3(8, 8, 3));
  const int a = add_mix(graph, "a", 0, 4, CLM__LINEAR);
  (void)add_mix(graph, "dead", a, 4, CLM__LINEAR);
  (void)add_mix(graph, "b", a, 4, CLM__LINEAR);
  assert_int_equal(clm__graph_sort(graph), CLM_OK);
  assert_order(graph, order);
  assert_int_equal(graph->output_layer, 2);
  clm__graph_destroy(graph);
}

static void deep_models_are_sorted(void **state)
{
  enum { DEPTH = 3000 };
  (void)state;
  clm__graph *graph = new_graph(false, clm__shape1(2));
  int left = 0;
  for (int i = 0; i < DEPTH; i++) left = add_sum(graph, NULL, left, left > 0 ? left - 1 : 0);
  assert_int_equal(clm__graph_sort(graph), CLM_OK);
  for (int i = 1; i <= DEPTH; i++) assert_int_equal(graph->layers[i].inputs[0], i - 1);
  clm__graph_destroy(graph);
}

static clm_status build_some(clm__graph **result)
{
  clm__graph *graph = NULL;
  CLM_TRY(clm__graph_create("model", false, "image", clm__shape3(4, 4, 2), &graph));
  const mix_attributes mix = {.units = 2};
  clm_status status = CLM_OK;
  for (int i = 0; i < 4 && status == CLM_OK; i++)
    status = clm__graph_add(graph, &op_mix, NULL, &mix, &graph->output_layer, 1);
  if (status == CLM_OK) status = clm__graph_sort(graph);
  if (status == CLM_OK)
    *result = graph;
  else
    clm__graph_destroy(graph);
  return status;
}

static void failing_allocations_leave_nothing(void **state)
{
  (void)state;
  const uint64_t live = clm__mem_get_counts().blocks_live;
  clm_status status = CLM_NO_MEMORY;
  for (int n = 1; status == CLM_NO_MEMORY; n++) {
    clm__graph *graph = NULL;
    char number[32];
    (void)snprintf(number, sizeof number, "%llu",
                   (unsigned long long)clm__mem_get_counts().allocations + (unsigned)n);
    (void)setenv("CLEMATIS_TEST_FAIL_ALLOC", number, 1);
    status = build_some(&graph);
    (void)unsetenv("CLEMATIS_TEST_FAIL_ALLOC");
    assert_true((status == CLM_OK) == (graph != NULL));
    clm__graph_destroy(graph);
    assert_int_equal(clm__mem_get_counts().blocks_live, live);
  }
  assert_int_equal(status, CLM_OK);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(snake_case_is_keras),
      cmocka_unit_test(layers_get_names_and_shapes),
      cmocka_unit_test(wrong_layers_are_refused),
      cmocka_unit_test(sorted_as_keras_does),
      cmocka_unit_test(layers_that_lead_nowhere_come_last),
      cmocka_unit_test(deep_models_are_sorted),
      cmocka_unit_test(failing_allocations_leave_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
