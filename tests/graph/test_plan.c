#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "invented.h"

static const clm__plan_limits roomy = {.align_bytes = 128, .arena_max_bytes = (size_t)1 << 40};

/* A random number below `most`, the count-th of a test. */
static unsigned draw(unsigned *count, unsigned most)
{
  uint32_t numbers[4];
  clm__rng_block(1, CLM__RNG_TEST, 0, (*count)++, numbers);
  return numbers[0] % most;
}

static void assert_apart(const clm__plan_request *requests, const clm__plan_place *places, size_t a,
                         size_t b)
{
  if (requests[a].size_bytes == 0 || requests[b].size_bytes == 0) return;
  if (requests[a].first > requests[b].last || requests[b].first > requests[a].last) return;
  if (places[a].arena != places[b].arena) return;
  assert_true(places[a].offset_bytes + requests[a].size_bytes <= places[b].offset_bytes ||
              places[b].offset_bytes + requests[b].size_bytes <= places[a].offset_bytes);
}

static void assert_plan(const clm__plan_request *requests, size_t count,
                        const clm__plan_limits *limits, const clm__plan_place *places,
                        const clm__plan_arenas *arenas)
{
  for (size_t i = 0; i < count; i++) {
    if (requests[i].size_bytes == 0) {
      assert_int_equal(places[i].arena, CLM__PLAN_NONE);
      continue;
    }
    assert_in_range(places[i].arena, 0, arenas->count - 1);
    assert_int_equal(places[i].offset_bytes % limits->align_bytes, 0);
    assert_true(places[i].offset_bytes + requests[i].size_bytes <=
                arenas->size_bytes[places[i].arena]);
    for (size_t k = 0; k < i; k++) assert_apart(requests, places, i, k);
  }
  for (int i = 0; i < arenas->count; i++)
    assert_true(arenas->size_bytes[i] <= limits->arena_max_bytes);
}

static void random_blocks_never_overlap(void **state)
{
  enum { MOST = 120 };
  clm__plan_request requests[MOST];
  clm__plan_place places[MOST];
  unsigned count = 0;
  (void)state;
  for (int round = 0; round < 300; round++) {
    const size_t blocks = draw(&count, MOST);
    clm__plan_limits limits = roomy;
    if (round % 3 == 1) limits = (clm__plan_limits){.align_bytes = 64, .arena_max_bytes = 20000};
    size_t sum = 0;
    for (size_t i = 0; i < blocks; i++) {
      const int first = (int)draw(&count, 40);
      requests[i] = (clm__plan_request){.size_bytes = draw(&count, 10) * draw(&count, 500),
                                        .first = first,
                                        .last = first + (int)draw(&count, 10)};
      sum += clm__round_up(requests[i].size_bytes, limits.align_bytes);
    }
    clm__plan_arenas arenas;
    assert_int_equal(clm__plan_blocks(requests, blocks, &limits, places, &arenas), CLM_OK);
    assert_plan(requests, blocks, &limits, places, &arenas);
    size_t total = 0;
    for (int i = 0; i < arenas.count; i++) total += arenas.size_bytes[i];
    assert_true(total <= sum);
  }
}

static void dead_memory_is_used_again(void **state)
{
  const clm__plan_request requests[] = {{1000, 0, 1}, {600, 2, 3}, {400, 2, 2}, {400, 1, 1}};
  clm__plan_place places[4];
  clm__plan_arenas arenas;
  (void)state;
  const clm__plan_limits limits = {.align_bytes = 8, .arena_max_bytes = 5000};
  assert_int_equal(clm__plan_blocks(requests, 4, &limits, places, &arenas), CLM_OK);
  assert_int_equal(arenas.count, 1);
  assert_int_equal(arenas.size_bytes[0], 1400);
  assert_int_equal(clm__plan_blocks(requests, 0, &limits, places, &arenas), CLM_OK);
  assert_int_equal(arenas.count, 0);
}

static void limits_are_told(void **state)
{
  clm__plan_request requests[40];
  clm__plan_place places[40];
  clm__plan_arenas arenas;
  (void)state;
  const clm__plan_limits limits = {.align_bytes = 64, .arena_max_bytes = 1000};
  requests[0] = (clm__plan_request){1001, 0, 0};
  assert_int_equal(clm__plan_blocks(requests, 1, &limits, places, &arenas), CLM_DEVICE_MEMORY);
  assert_non_null(strstr(clm_error_last()->message, "block 0 needs 1001 bytes"));
  for (int i = 0; i < 40; i++) requests[i] = (clm__plan_request){900, 0, 0};
  assert_int_equal(clm__plan_blocks(requests, 16, &limits, places, &arenas), CLM_OK);
  assert_int_equal(arenas.count, 16);
  assert_int_equal(clm__plan_blocks(requests, 17, &limits, places, &arenas), CLM_DEVICE_MEMORY);
  requests[0] = (clm__plan_request){SIZE_MAX, 0, 0};
  assert_int_equal(clm__plan_blocks(requests, 2, &roomy, places, &arenas), CLM_DEVICE_MEMORY);
}

/* A random model: every layer reads one or two of the layers before it. */
static clm__graph *random_graph(unsigned *count)
{
  clm__graph *graph = new_graph(false, clm__shape3(4, 4, 4));
  const int layers = 3 + (int)draw(count, 25);
  for (int i = 1; i <= layers; i++) {
    const int a = (int)draw(count, 3) == 0 ? (int)draw(count, (unsigned)i) : i - 1;
    const int b = (int)draw(count, (unsigned)i);
    switch (draw(count, 6)) {
    case 0:
      (void)add_sum(graph, NULL, a, b);
      break;
    case 1:
      (void)add_one(graph, &op_drop, NULL, a);
      break;
    case 2:
      (void)add_point(graph, NULL, a, CLM__RELU);
      break;
    case 3:
      (void)add_one(graph, &op_norm, NULL, a);
      break;
    default:
      (void)add_mix(graph, NULL, a, 4, draw(count, 2) == 0 ? CLM__RELU : CLM__SILU);
      graph->layers[i].trainable = draw(count, 3) > 0;
    }
  }
  const int flat = add_one(graph, &op_flat, NULL, layers);
  (void)add_mix(graph, NULL, flat, 3, CLM__SOFTMAX);
  return graph;
}

/* Runs a plan in thought: who owns each byte. A value must be whole when it is read. */
typedef struct bytes_owned {
  int *owner; /* [arena bytes / 4] */
} bytes_owned;

static void write_block(bytes_owned *memory, clm__plan_place place, size_t bytes, int owner)
{
  if (bytes == 0) return;
  assert_int_equal(place.arena, 0);
  for (size_t i = 0; i < bytes / 4; i++) memory->owner[place.offset_bytes / 4 + i] = owner;
}

static void read_block(const bytes_owned *memory, clm__plan_place place, size_t bytes, int owner)
{
  assert_int_equal(place.arena, 0);
  size_t wrong = 0;
  for (size_t i = 0; i < bytes / 4; i++)
    wrong += memory->owner[place.offset_bytes / 4 + i] != owner;
  assert_int_equal(wrong, 0);
}

static size_t value_size(const clm__net *net, int value, size_t batch)
{
  return clm__shape_elements(&net->value_shapes[value]) * sizeof(float) * batch;
}

/* Owners: value v is v, its gradient 1000 + v, node k's saved data 2000 + k, others 9999. */
static void run_forward(const clm__net *net, const clm__net_plan *plan, size_t batch,
                        bytes_owned *memory)
{
  write_block(memory, plan->values[0], value_size(net, 0, batch), 0);
  for (int k = 0; k < net->node_count; k++) {
    const clm__node *node = &net->nodes[k];
    const int root = clm__net_root_value(net, k + 1);
    assert_int_equal(plan->values[k + 1].offset_bytes, plan->values[root].offset_bytes);
    if (node->op->is_view) continue;
    write_block(memory, plan->workspace, 64, 9999);
    write_block(memory, plan->values[k + 1], value_size(net, k + 1, batch), k + 1);
    if (net->training && node->spec.saved_bytes > 0)
      write_block(memory, plan->saved[k], 12 + 4 * batch, 2000 + k);
    for (int i = 0; i < node->input_count; i++)
      read_block(memory, plan->values[node->inputs[i]], value_size(net, node->inputs[i], batch),
                 clm__net_root_value(net, node->inputs[i]));
  }
  read_block(memory, plan->values[net->node_count], value_size(net, net->node_count, batch),
             clm__net_root_value(net, net->node_count));
}

static void run_backward_inputs(const clm__net *net, const clm__net_plan *plan, int k, size_t batch,
                                bytes_owned *memory)
{
  const clm__node *node = &net->nodes[k];
  for (int i = 0; i < node->input_count; i++) {
    if ((node->need_dx >> i & 1U) == 0) continue;
    const int root = clm__net_root_value(net, node->inputs[i]);
    const size_t bytes = value_size(net, root, batch);
    const clm__plan_place place = plan->gradients[node->inputs[i]];
    if ((node->adds_dx >> i & 1U) == 0) {
      write_block(memory, place, bytes, 1000 + root);
      continue;
    }
    write_block(memory, plan->partials[k * CLM__INPUTS_MAX + i], bytes, 9999);
    read_block(memory, place, bytes, 1000 + root);
  }
}

static void run_backward(const clm__net *net, const clm__net_plan *plan, size_t batch,
                         bytes_owned *memory)
{
  const int last = clm__net_root_value(net, net->node_count);
  write_block(memory, plan->gradients[net->node_count], value_size(net, last, batch), 1000 + last);
  for (int k = net->node_count - 1; k >= 0; k--) {
    const clm__node *node = &net->nodes[k];
    if (node->op->is_view || !node->has_backward) continue;
    write_block(memory, plan->workspace, 64, 9999);
    run_backward_inputs(net, plan, k, batch, memory);
    read_block(memory, plan->gradients[k + 1], value_size(net, k + 1, batch), 1000 + k + 1);
    if (node->spec.saved_bytes > 0) read_block(memory, plan->saved[k], 12 + 4 * batch, 2000 + k);
    if (node->spec.backward_reads_y)
      read_block(memory, plan->values[k + 1], value_size(net, k + 1, batch), k + 1);
    for (int i = 0; i < node->input_count && node->spec.backward_reads_x; i++)
      read_block(memory, plan->values[node->inputs[i]], value_size(net, node->inputs[i], batch),
                 clm__net_root_value(net, node->inputs[i]));
  }
}

static size_t naive_bytes(const clm__net *net, size_t batch)
{
  size_t sum = 128;
  for (int v = 0; v <= net->node_count; v++)
    sum += 3 * clm__round_up(value_size(net, v, batch), 128) + 1024;
  return sum;
}

static void check_graph(const clm__graph *graph, const clm__net_options *options, bool *smaller)
{
  const int batch = 5;
  clm__weights *weights = NULL;
  clm__net *net = NULL;
  clm__net_plan *plan = NULL;
  assert_int_equal(clm__weights_create(graph, &weights), CLM_OK);
  assert_int_equal(clm__net_create(graph, weights, options, &net), CLM_OK);
  assert_int_equal(clm__net_plan_create(net, batch, 64, &roomy, &plan), CLM_OK);
  bytes_owned memory = {calloc(plan->total_bytes / 4, sizeof(int))};
  assert_non_null(memory.owner);
  run_forward(net, plan, (size_t)batch, &memory);
  if (options->training && net->nodes[net->node_count - 1].has_backward)
    run_backward(net, plan, (size_t)batch, &memory);
  read_block(&memory, plan->values[0], value_size(net, 0, (size_t)batch), 0);
  *smaller = plan->total_bytes < naive_bytes(net, (size_t)batch);
  free(memory.owner);
  clm__net_plan_destroy(plan);
  clm__net_destroy(net);
  clm__weights_destroy(weights);
}

static void random_nets_keep_what_they_need(void **state)
{
  unsigned count = 1000000;
  (void)state;
  for (int round = 0; round < 200; round++) {
    clm__graph *graph = random_graph(&count);
    bool smaller = false;
    check_graph(graph, &(clm__net_options){.training = true}, &smaller);
    assert_true(smaller);
    check_graph(graph, &(clm__net_options){.training = true, .plain = true}, &smaller);
    check_graph(graph, &(clm__net_options){0}, &smaller);
    clm__graph_destroy(graph);
  }
}

static void inference_forgets(void **state)
{
  (void)state;
  clm__graph *graph = new_graph(true, clm__shape1(100));
  int last = 0;
  for (int i = 0; i < 10; i++) last = add_mix(graph, NULL, last, 100, CLM__LINEAR);
  clm__weights *weights = NULL;
  clm__net *net = NULL;
  clm__net_plan *plan = NULL;
  assert_int_equal(clm__weights_create(graph, &weights), CLM_OK);
  assert_int_equal(clm__net_create(graph, weights, &(clm__net_options){0}, &net), CLM_OK);
  assert_int_equal(clm__net_plan_create(net, 32, 0, &roomy, &plan), CLM_OK);
  /* The input and two values at a time. */
  assert_int_equal(plan->total_bytes, 3 * 100 * 4 * 32);
  assert_int_equal(plan->workspace.arena, CLM__PLAN_NONE);
  assert_int_equal(plan->gradients[3].arena, CLM__PLAN_NONE);
  clm__net_plan_destroy(plan);
  plan = NULL;
  const clm__plan_limits small = {.align_bytes = 128, .arena_max_bytes = 12000};
  assert_int_equal(clm__net_plan_create(net, 32, 0, &small, &plan), CLM_DEVICE_MEMORY);
  assert_non_null(strstr(clm_error_last()->message, "layer image needs 12800 bytes"));
  assert_int_equal(clm__net_plan_create(net, 32, 13000, &small, &plan), CLM_DEVICE_MEMORY);
  assert_non_null(strstr(clm_error_last()->message, "the workspace"));
  assert_int_equal(clm__net_plan_create(net, 29, 0, &small, &plan), CLM_OK);
  assert_int_equal(plan->arenas.count, 3);
  clm__net_plan_destroy(plan);
  clm__net_destroy(net);
  clm__weights_destroy(weights);
  clm__graph_destroy(graph);
}

static void failing_allocations_leave_nothing(void **state)
{
  unsigned count = 7;
  (void)state;
  clm__graph *graph = random_graph(&count);
  clm__weights *weights = NULL;
  clm__net *net = NULL;
  assert_int_equal(clm__weights_create(graph, &weights), CLM_OK);
  assert_int_equal(clm__net_create(graph, weights, &(clm__net_options){.training = true}, &net),
                   CLM_OK);
  const uint64_t live = clm__mem_get_counts().blocks_live;
  clm_status status = CLM_NO_MEMORY;
  for (unsigned n = 1; status == CLM_NO_MEMORY; n++) {
    clm__net_plan *plan = NULL;
    char number[32];
    (void)snprintf(number, sizeof number, "%llu",
                   (unsigned long long)clm__mem_get_counts().allocations + n);
    (void)setenv("CLEMATIS_TEST_FAIL_ALLOC", number, 1);
    status = clm__net_plan_create(net, 3, 100, &roomy, &plan);
    (void)unsetenv("CLEMATIS_TEST_FAIL_ALLOC");
    clm__net_plan_destroy(plan);
    assert_int_equal(clm__mem_get_counts().blocks_live, live);
  }
  assert_int_equal(status, CLM_OK);
  clm__net_destroy(net);
  clm__weights_destroy(weights);
  clm__graph_destroy(graph);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_blocks_never_overlap),
      cmocka_unit_test(dead_memory_is_used_again),
      cmocka_unit_test(limits_are_told),
      cmocka_unit_test(random_nets_keep_what_they_need),
      cmocka_unit_test(inference_forgets),
      cmocka_unit_test(failing_allocations_leave_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
