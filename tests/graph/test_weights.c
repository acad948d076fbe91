#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "graph/weights.h"
#include "invented.h"

static clm__graph *two_layers(void)
{
  clm__graph *graph = new_graph(true, clm__shape1(30));
  const int a = add_mix(graph, "a", 0, 20, CLM__LINEAR);
  const int norm = add_one(graph, &op_norm, "norm", a);
  (void)add_mix(graph, "b", norm, 7, CLM__LINEAR);
  return graph;
}

static clm__weights *lay_out(const clm__graph *graph)
{
  clm__weights *weights = NULL;
  assert_int_equal(clm__weights_create(graph, &weights), CLM_OK);
  return weights;
}

static void trained_weights_lie_in_front(void **state)
{
  (void)state;
  clm__graph *graph = two_layers();
  clm__weights *weights = lay_out(graph);
  static const size_t offsets[] = {0, 768, 1024, 1792, 1280, 1536};
  assert_int_equal(weights->count, 6);
  for (int i = 0; i < 6; i++) assert_int_equal(weights->items[i].offset, offsets[i]);
  assert_int_equal(weights->trainable_elements, 1792);
  assert_int_equal(weights->elements, 2048);
  assert_string_equal(weights->items[3].name, "moving_mean");
  assert_false(weights->items[3].trainable);
  assert_int_equal(clm__weights_find(weights, 3, 1), 5);
  assert_int_equal(clm__weights_find(weights, 3, 2), -1);
  assert_int_equal(clm__weights_count_params(weights, true), 600 + 20 + 20 + 147);
  assert_int_equal(clm__weights_count_params(weights, false), 20);
  clm__weights_destroy(weights);
  graph->layers[1].trainable = false;
  weights = lay_out(graph);
  assert_int_equal(weights->items[2].offset, 0);
  assert_int_equal(clm__weights_count_params(weights, false), 600 + 20 + 20);
  clm__weights_destroy(weights);
  clm__weights_destroy(NULL);
  clm__graph_destroy(graph);
}

static void initial_values_follow_the_seed(void **state)
{
  (void)state;
  clm__graph *graph = two_layers();
  clm__weights *weights = lay_out(graph);
  const uint64_t zeros = clm__weights_digest(weights);
  clm__weights_initialize(weights, 1);
  const uint64_t first = clm__weights_digest(weights);
  assert_int_not_equal(first, zeros);
  assert_true(weights->values[weights->items[2].offset] == 1.0F);
  assert_true(weights->values[0] != weights->values[weights->items[4].offset]);
  assert_true(weights->values[600] == 0.0F);
  clm__weights_initialize(weights, 2);
  assert_int_not_equal(clm__weights_digest(weights), first);
  clm__weights_initialize(weights, 1);
  assert_int_equal(clm__weights_digest(weights), first);
  weights->values[600] = 5.0F;
  assert_int_equal(clm__weights_digest(weights), first);
  weights->values[599] += 1.0F;
  assert_int_not_equal(clm__weights_digest(weights), first);
  clm__weights_destroy(weights);
  clm__graph_destroy(graph);
}

static void a_model_without_weights_is_fine(void **state)
{
  (void)state;
  clm__graph *graph = new_graph(true, clm__shape1(30));
  (void)add_one(graph, &op_flat, "flat", 0);
  clm__weights *weights = lay_out(graph);
  assert_int_equal(weights->count, 0);
  assert_int_equal(weights->elements, 0);
  clm__weights_destroy(weights);
  clm__graph_destroy(graph);
}

static void sizes_are_bounded(void **state)
{
  (void)state;
  clm__graph *graph = two_layers();
  clm__weights *weights = NULL;
  assert_int_equal(clm__weights_create_bounded(graph, 807 * 4 - 1, &weights), CLM_BAD_DATA);
  assert_int_equal(clm__weights_create_bounded(graph, 807 * 4, &weights), CLM_OK);
  clm__weights_destroy(weights);
  weights = NULL;
  const clm__shape too_many = {4, {INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX}};
  graph->layers[1].spec.params[0].shape = too_many;
  assert_int_equal(clm__weights_create(graph, &weights), CLM_BAD_DATA);
  /* Each of them could be addressed, both could not. */
  const clm__shape many = {3, {1 << 20, 1 << 20, 1 << 17}};
  graph->layers[1].spec.params[0].shape = many;
  graph->layers[3].spec.params[0].shape = many;
  assert_int_equal(clm__weights_create(graph, &weights), CLM_BAD_DATA);
  assert_null(weights);
  clm__graph_destroy(graph);
}

typedef struct rate_attributes {
  double learning_rate;
  double weight_decay;
  bool heavy;
} rate_attributes;

static int rate_slots(const void *attributes, const char *names[CLM__SLOTS_MAX])
{
  names[0] = "momentum";
  names[1] = "velocity";
  return ((const rate_attributes *)attributes)->heavy ? 2 : 1;
}

static const clm__optim rate = {
    .name = "rate", .attribute_bytes = sizeof(rate_attributes), .slots = rate_slots};

static void the_optimizer_starts_with_zeros(void **state)
{
  (void)state;
  clm__graph *graph = two_layers();
  clm__weights *weights = lay_out(graph);
  const rate_attributes attributes = {.learning_rate = 0.001, .heavy = true};
  clm__optim_state *optim = NULL;
  assert_int_equal(clm__optim_state_create(&rate, &attributes, weights, &optim), CLM_OK);
  assert_int_equal(optim->slot_count, 2);
  assert_string_equal(optim->slot_names[1], "velocity");
  assert_int_equal(optim->elements, weights->trainable_elements);
  assert_int_equal(optim->iterations, 0);
  assert_true(optim->learning_rate == 0.001F);
  const uint64_t fresh = clm__optim_state_digest(optim, weights);
  for (size_t i = 0; i < optim->elements; i++) assert_true(optim->slots[1][i] == 0.0F);
  optim->iterations = 1;
  assert_int_not_equal(clm__optim_state_digest(optim, weights), fresh);
  optim->iterations = 0;
  optim->slots[1][3] = 1.0F;
  assert_int_not_equal(clm__optim_state_digest(optim, weights), fresh);
  clm__optim_state_destroy(optim);
  clm__optim_state_destroy(NULL);
  clm__weights_destroy(weights);
  clm__graph_destroy(graph);
}

static void failing_allocations_leave_nothing(void **state)
{
  (void)state;
  clm__graph *graph = two_layers();
  const rate_attributes attributes = {.learning_rate = 0.001, .heavy = true};
  const uint64_t live = clm__mem_get_counts().blocks_live;
  clm_status status = CLM_NO_MEMORY;
  for (unsigned n = 1; status == CLM_NO_MEMORY; n++) {
    clm__weights *weights = NULL;
    clm__optim_state *optim = NULL;
    char number[32];
    (void)snprintf(number, sizeof number, "%llu",
                   (unsigned long long)clm__mem_get_counts().allocations + n);
    (void)setenv("CLEMATIS_TEST_FAIL_ALLOC", number, 1);
    status = clm__weights_create(graph, &weights);
    if (status == CLM_OK) status = clm__optim_state_create(&rate, &attributes, weights, &optim);
    (void)unsetenv("CLEMATIS_TEST_FAIL_ALLOC");
    clm__optim_state_destroy(optim);
    clm__weights_destroy(weights);
    assert_int_equal(clm__mem_get_counts().blocks_live, live);
  }
  assert_int_equal(status, CLM_OK);
  clm__graph_destroy(graph);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(trained_weights_lie_in_front),
      cmocka_unit_test(initial_values_follow_the_seed),
      cmocka_unit_test(a_model_without_weights_is_fine),
      cmocka_unit_test(sizes_are_bounded),
      cmocka_unit_test(the_optimizer_starts_with_zeros),
      cmocka_unit_test(failing_allocations_leave_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
