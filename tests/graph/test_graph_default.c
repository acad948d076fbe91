/* The flowers network, from the real ops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "graph/net.h"
#include "graph/plan.h"
#include "graph/summary.h"

static clm__graph *make(int height, int width, int class_count)
{
  clm__graph *graph = NULL;
  if (clm__graph_create_default(height, width, 3, class_count, &graph) != CLM_OK)
    fail_msg("%s", clm_error_last()->message);
  return graph;
}

static void it_is_the_network_of_the_tutorial(void **state)
{
  static const char *const names[] = {"input_layer",     "resizing", "rescaling",       "conv2d",
                                      "max_pooling2d",   "conv2d_1", "max_pooling2d_1", "conv2d_2",
                                      "max_pooling2d_2", "flatten",  "dense",           "dense_1"};
  (void)state;
  clm__graph *graph = make(180, 180, 5);
  clm__weights *weights = NULL;
  char *text = NULL;
  assert_int_equal(graph->layer_count, 12);
  for (int i = 0; i < 12; i++) assert_string_equal(graph->layers[i].name, names[i]);
  assert_int_equal(clm__weights_create(graph, &weights), CLM_OK);
  assert_int_equal(clm__weights_count_params(weights, true), 3989285);
  assert_int_equal(clm__weights_count_params(weights, false), 0);
  assert_int_equal(clm__summary(graph, weights, 80, 7978572, &text), CLM_OK);
  assert_non_null(strstr(text, " Total params: 11,967,857 (45.65 MB)\n"));
  assert_non_null(strstr(text, " Trainable params: 3,989,285 (15.22 MB)\n"));
  assert_non_null(strstr(text, " Optimizer params: 7,978,572 (30.44 MB)\n"));
  clm__mem_free(text);
  clm__weights_destroy(weights);
  clm__graph_destroy(graph);
}

/* Nothing below the first convolution is differentiated, nor its input. */
static void it_is_lowered_for_training(void **state)
{
  (void)state;
  clm__graph *graph = make(36, 36, 5);
  clm__weights *weights = NULL;
  clm__net *net = NULL;
  clm__net_plan *plan = NULL;
  assert_int_equal(clm__weights_create(graph, &weights), CLM_OK);
  assert_int_equal(
      clm__net_create(graph, weights, &(clm__net_options){.training = true, .plain = true}, &net),
      CLM_OK);
  assert_true(net->ends_in_softmax);
  int differentiated = 0;
  for (int k = 0; k < net->node_count; k++) {
    const clm__node *node = &net->nodes[k];
    const char *layer = graph->layers[node->layer].name;
    const bool below = strcmp(layer, "resizing") == 0 || strcmp(layer, "rescaling") == 0;
    assert_int_equal(node->has_backward, !below);
    if (strcmp(layer, "conv2d") == 0 && node->need_dw) assert_int_equal(node->need_dx, 0);
    differentiated += node->need_dw;
  }
  assert_int_equal(differentiated, 5);
  const clm__plan_limits limits = {.align_bytes = 128, .arena_max_bytes = (size_t)1 << 30};
  assert_int_equal(clm__net_plan_create(net, 8, 0, &limits, &plan), CLM_OK);
  assert_int_equal(plan->arenas.count, 1);
  clm__net_plan_destroy(plan);
  clm__net_destroy(net);
  clm__weights_destroy(weights);
  clm__graph_destroy(graph);
}

static void too_small_an_image_is_told(void **state)
{
  (void)state;
  clm__graph *graph = NULL;
  assert_int_equal(clm__graph_create_default(4, 4, 3, 5, &graph), CLM_BAD_DATA);
  assert_non_null(strstr(clm_error_last()->message, "layer max_pooling2d_2 (MaxPooling2D): "));
  assert_int_equal(clm__graph_create_default(0, 4, 3, 5, &graph), CLM_BAD_DATA);
  assert_null(graph);
}

static void failing_allocations_leave_nothing(void **state)
{
  (void)state;
  const uint64_t live = clm__mem_get_counts().blocks_live;
  clm_status status = CLM_NO_MEMORY;
  for (unsigned n = 1; status == CLM_NO_MEMORY; n++) {
    clm__graph *graph = NULL;
    char number[32];
    (void)snprintf(number, sizeof number, "%llu",
                   (unsigned long long)clm__mem_get_counts().allocations + n);
    (void)setenv("CLEMATIS_TEST_FAIL_ALLOC", number, 1);
    status = clm__graph_create_default(36, 36, 3, 5, &graph);
    (void)unsetenv("CLEMATIS_TEST_FAIL_ALLOC");
    clm__graph_destroy(graph);
    assert_int_equal(clm__mem_get_counts().blocks_live, live);
  }
  assert_int_equal(status, CLM_OK);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(it_is_the_network_of_the_tutorial),
      cmocka_unit_test(it_is_lowered_for_training),
      cmocka_unit_test(too_small_an_image_is_told),
      cmocka_unit_test(failing_allocations_leave_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
