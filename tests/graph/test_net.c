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

static const clm__net_options training = {.training = true};
static const clm__net_options inference = {0};

static clm__net *lower(const clm__graph *graph, const clm__net_options *options)
{
  clm__weights *weights = NULL;
  clm__net *net = NULL;
  assert_int_equal(clm__weights_create(graph, &weights), CLM_OK);
  if (clm__net_create(graph, weights, options, &net) != CLM_OK)
    fail_msg("%s", clm_error_last()->message);
  clm__weights_destroy(weights);
  return net;
}

/* Lowers the graph and compares the description of the net. */
static void assert_net(const clm__graph *graph, const clm__net_options *options,
                       const char *expected)
{
  clm__net *net = lower(graph, options);
  char *text = NULL;
  assert_int_equal(clm__net_describe(net, &text), CLM_OK);
  assert_string_equal(text, expected);
  clm__mem_free(text);
  clm__net_destroy(net);
}

/* mix relu, pool, flat, drop, mix softmax: the seed model in small. */
static clm__graph *small_classifier(void)
{
  clm__graph *graph = new_graph(true, clm__shape3(4, 4, 3));
  const int mixed = add_mix(graph, "conv", 0, 8, CLM__RELU);
  const int pooled = add_one(graph, &op_pool, "pool", mixed);
  const int flat = add_one(graph, &op_flat, "flat", pooled);
  const int dropped = add_one(graph, &op_drop, "drop", flat);
  (void)add_mix(graph, "top", dropped, 5, CLM__SOFTMAX);
  return graph;
}

static void activations_become_nodes(void **state)
{
  (void)state;
  clm__graph *graph = small_classifier();
  assert_net(graph, &(clm__net_options){.plain = true},
             "1 mix conv (0) 4x4x8\n"
             "2 activation conv (1) 4x4x8\n"
             "3 pool pool (2) 2x2x8\n"
             "4 flat flat (3) 32\n"
             "5 mix top (4) 5\n"
             "6 activation top (5) 5\n");
  clm__graph_destroy(graph);
}

static void chains_are_fused(void **state)
{
  (void)state;
  clm__graph *graph = small_classifier();
  assert_net(graph, &inference,
             "1 mix_pool conv (0) 2x2x8\n"
             "2 flat flat (1) 32\n"
             "3 mix top (2) 5\n"
             "4 activation top (3) 5\n");
  assert_net(graph, &training,
             "1 mix_pool conv (0) 2x2x8 dw\n"
             "2 flat flat (1) 32 dx0\n"
             "3 drop drop (2) 32 dx0\n"
             "4 mix top (3) 5 dx0 dw\n");
  clm__net *net = lower(graph, &training);
  assert_true(net->ends_in_softmax);
  const mix_attributes *mix = net->nodes[0].attributes;
  assert_int_equal(mix->epilogue, CLM__RELU);
  assert_int_equal(mix->activation, CLM__LINEAR);
  assert_int_equal(net->nodes[0].weights[0], 0);
  assert_int_equal(net->nodes[0].weights[1], 1);
  assert_int_equal(net->nodes[0].weights[2], -1);
  assert_int_equal(net->nodes[3].weights[0], 2);
  assert_int_equal(clm__net_root_value(net, 2), 1);
  assert_int_equal(clm__net_root_value(net, 3), 3);
  clm__net_destroy(net);
  clm__net_destroy(NULL);
  clm__graph_destroy(graph);
}

static void the_loss_takes_the_softmax_in_evaluation(void **state)
{
  (void)state;
  clm__graph *graph = small_classifier();
  clm__net *net = lower(graph, &(clm__net_options){.logits = true});
  assert_int_equal(net->node_count, 3);
  assert_true(net->ends_in_softmax);
  assert_false(net->nodes[0].has_backward);
  clm__net_destroy(net);
  net = lower(graph, &inference);
  assert_false(net->ends_in_softmax);
  clm__net_destroy(net);
  clm__graph_destroy(graph);
}

static bool refuse_pool(void *user, const clm__op *fused, const void *attributes,
                        const clm__shape *inputs)
{
  ++*(int *)user;
  assert_non_null(attributes);
  assert_int_equal(inputs[0].dims[0], 4);
  return strcmp(fused->name, "mix_pool") != 0;
}

static void the_device_may_refuse_a_fusion(void **state)
{
  (void)state;
  int asked = 0;
  clm__graph *graph = small_classifier();
  assert_net(graph, &(clm__net_options){.accepts = refuse_pool, .accepts_user = &asked},
             "1 mix conv (0) 4x4x8\n"
             "2 pool pool (1) 2x2x8\n"
             "3 flat flat (2) 32\n"
             "4 mix top (3) 5\n"
             "5 activation top (4) 5\n");
  assert_true(asked >= 2);
  clm__graph_destroy(graph);
}

/* conv -> bn -> relu -> conv -> bn -> add(relu, bn) -> relu -> top, as in ResNet. */
static clm__graph *residual(bool stem_trainable)
{
  clm__graph *graph = new_graph(false, clm__shape3(4, 4, 3));
  const int stem = add_mix(graph, "stem", 0, 4, CLM__LINEAR);
  graph->layers[stem].trainable = stem_trainable;
  const int bn = add_one(graph, &op_norm, "bn", stem);
  graph->layers[bn].trainable = stem_trainable;
  const int relu = add_point(graph, "relu", bn, CLM__RELU);
  const int conv = add_mix(graph, "conv", relu, 4, CLM__LINEAR);
  const int bn2 = add_one(graph, &op_norm, "bn2", conv);
  const int sum = add_sum(graph, "add", relu, bn2);
  const int relu2 = add_point(graph, "relu2", sum, CLM__RELU);
  (void)add_mix(graph, "top", relu2, 2, CLM__LINEAR);
  return graph;
}

static void gradients_of_a_shared_value_add_up(void **state)
{
  (void)state;
  clm__graph *graph = residual(true);
  assert_net(graph, &training,
             "1 mix stem (0) 4x4x4 dw\n"
             "2 norm bn (1) 4x4x4 dx0 dw\n"
             "3 activation relu (2) 4x4x4 dx0\n"
             "4 mix conv (3) 4x4x4 dx0+ dw\n"
             "5 norm bn2 (4) 4x4x4 dx0 dw\n"
             "6 sum add (3,5) 4x4x4 dx0 dx1\n"
             "7 activation relu2 (6) 4x4x4 dx0\n"
             "8 mix top (7) 4x4x2 dx0 dw\n");
  clm__graph_destroy(graph);
}

static void frozen_layers_need_no_gradient(void **state)
{
  (void)state;
  clm__graph *graph = residual(false);
  assert_net(graph, &training,
             "1 mix stem (0) 4x4x4 frozen\n"
             "2 norm bn (1) 4x4x4 frozen\n"
             "3 activation relu (2) 4x4x4\n"
             "4 mix conv (3) 4x4x4 dw\n"
             "5 norm bn2 (4) 4x4x4 dx0 dw\n"
             "6 sum add (3,5) 4x4x4 dx1\n"
             "7 activation relu2 (6) 4x4x4 dx0\n"
             "8 mix top (7) 4x4x2 dx0 dw\n");
  clm__graph_destroy(graph);
}

/* A frozen layer in the middle hands the gradient on without one of its own. */
static void gradients_pass_through_frozen_layers(void **state)
{
  (void)state;
  clm__graph *graph = new_graph(true, clm__shape1(3));
  const int a = add_mix(graph, "a", 0, 4, CLM__LINEAR);
  const int b = add_mix(graph, "b", a, 4, CLM__LINEAR);
  graph->layers[b].trainable = false;
  (void)add_mix(graph, "c", b, 4, CLM__LINEAR);
  assert_net(graph, &training,
             "1 mix a (0) 4 dw\n"
             "2 mix b (1) 4 dx0 frozen\n"
             "3 mix c (2) 4 dx0 dw\n");
  clm__graph_destroy(graph);
}

/* Readers of a view are readers of what it looks at. */
static void views_count_as_their_root(void **state)
{
  (void)state;
  clm__graph *graph = new_graph(false, clm__shape1(6));
  const int a = add_mix(graph, "a", 0, 6, CLM__LINEAR);
  const int flat = add_one(graph, &op_flat, "flat", a);
  const int b = add_mix(graph, "b", flat, 6, CLM__LINEAR);
  const int c = add_mix(graph, "c", a, 6, CLM__LINEAR);
  (void)add_sum(graph, "add", b, c);
  assert_net(graph, &training,
             "1 mix a (0) 6 dw\n"
             "2 flat flat (1) 6 dx0\n"
             "3 mix b (2) 6 dx0+ dw\n"
             "4 mix c (1) 6 dx0 dw\n"
             "5 sum add (3,4) 6 dx0 dx1\n");
  clm__graph_destroy(graph);
}

static void a_value_read_twice_by_one_node_adds_up(void **state)
{
  (void)state;
  clm__graph *graph = new_graph(false, clm__shape1(6));
  const int a = add_mix(graph, "a", 0, 6, CLM__LINEAR);
  (void)add_sum(graph, "add", a, a);
  assert_net(graph, &training, "1 mix a (0) 6 dw\n2 sum add (1,1) 6 dx0 dx1+\n");
  clm__graph_destroy(graph);
}

/* relu's value has two readers, so conv cannot swallow it; a softmax in the middle stays. */
static void shared_values_are_not_fused(void **state)
{
  (void)state;
  clm__graph *graph = new_graph(false, clm__shape1(6));
  const int a = add_mix(graph, "a", 0, 6, CLM__LINEAR);
  const int relu = add_point(graph, "relu", a, CLM__RELU);
  const int sum = add_sum(graph, "add", a, relu);
  const int soft = add_point(graph, "soft", sum, CLM__SOFTMAX);
  (void)add_mix(graph, "top", soft, 2, CLM__LINEAR);
  clm__net *net = lower(graph, &training);
  assert_int_equal(net->node_count, 5);
  assert_false(net->ends_in_softmax);
  clm__net_destroy(net);
  clm__graph_destroy(graph);
}

static void what_leads_nowhere_is_left_out(void **state)
{
  (void)state;
  clm__graph *graph = new_graph(false, clm__shape1(6));
  const int a = add_mix(graph, "a", 0, 6, CLM__LINEAR);
  const int identity = add_point(graph, "identity", a, CLM__LINEAR);
  const int b = add_mix(graph, "b", identity, 3, CLM__LINEAR);
  (void)add_mix(graph, "dead", a, 3, CLM__RELU);
  graph->output_layer = b;
  assert_net(graph, &inference, "1 mix a (0) 6\n2 mix b (1) 3\n");
  clm__graph_destroy(graph);
}

static void an_empty_model_is_refused(void **state)
{
  (void)state;
  clm__graph *graph = new_graph(true, clm__shape1(6));
  (void)add_one(graph, &op_drop, "drop", 0);
  clm__weights *weights = NULL;
  clm__net *net = NULL;
  assert_int_equal(clm__weights_create(graph, &weights), CLM_OK);
  assert_int_equal(clm__net_create(graph, weights, &inference, &net), CLM_BAD_DATA);
  assert_null(net);
  clm__weights_destroy(weights);
  clm__graph_destroy(graph);
}

static void failing_allocations_leave_nothing(void **state)
{
  (void)state;
  clm__graph *graph = small_classifier();
  clm__weights *weights = NULL;
  assert_int_equal(clm__weights_create(graph, &weights), CLM_OK);
  const uint64_t live = clm__mem_get_counts().blocks_live;
  clm_status status = CLM_NO_MEMORY;
  for (unsigned n = 1; status == CLM_NO_MEMORY; n++) {
    clm__net *net = NULL;
    char number[32];
    (void)snprintf(number, sizeof number, "%llu",
                   (unsigned long long)clm__mem_get_counts().allocations + n);
    (void)setenv("CLEMATIS_TEST_FAIL_ALLOC", number, 1);
    status = clm__net_create(graph, weights, &training, &net);
    (void)unsetenv("CLEMATIS_TEST_FAIL_ALLOC");
    clm__net_destroy(net);
    assert_int_equal(clm__mem_get_counts().blocks_live, live);
  }
  assert_int_equal(status, CLM_OK);
  clm__weights_destroy(weights);
  clm__graph_destroy(graph);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(activations_become_nodes),
      cmocka_unit_test(chains_are_fused),
      cmocka_unit_test(the_loss_takes_the_softmax_in_evaluation),
      cmocka_unit_test(the_device_may_refuse_a_fusion),
      cmocka_unit_test(gradients_of_a_shared_value_add_up),
      cmocka_unit_test(frozen_layers_need_no_gradient),
      cmocka_unit_test(gradients_pass_through_frozen_layers),
      cmocka_unit_test(views_count_as_their_root),
      cmocka_unit_test(a_value_read_twice_by_one_node_adds_up),
      cmocka_unit_test(shared_values_are_not_fused),
      cmocka_unit_test(what_leads_nowhere_is_left_out),
      cmocka_unit_test(an_empty_model_is_refused),
      cmocka_unit_test(failing_allocations_leave_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
