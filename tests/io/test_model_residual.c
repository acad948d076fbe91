/* The golden residual network (residual_support.h): a Functional model with batch normalization,
 * merges and an optimizer's state. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "graph/net.h"
#include "graph/summary.h"
#include "model_support.h"
#include "residual_support.h"

static int set_up(void **state)
{
  clm__model_file *file = malloc(sizeof *file);
  char *folder = make_folder();
  assert_non_null(file);
  *file = read_residual(folder);
  remove_folder(folder);
  *state = file;
  return 0;
}

static int tear_down(void **state)
{
  if (*state != NULL) clm__model_file_fini(*state);
  free(*state);
  return 0;
}

/* keras_files/index.json lists them so: the layer 1_0 comes after 1_1, 1_2 after both. */
static void weights_are_in_keras_order(void **state)
{
  static const char *const owners[] = {
      "stem",    "stem_bn", "stem_bn", "stem_bn", "stem_bn", "b0_1",    "b0_1",    "b0_1_bn",
      "b0_1_bn", "b0_1_bn", "b0_1_bn", "b0_2",    "b0_2",    "b0_2_bn", "b0_2_bn", "b0_2_bn",
      "b0_2_bn", "b1_1",    "b1_1",    "b1_1_bn", "b1_1_bn", "b1_1_bn", "b1_1_bn", "b1_0",
      "b1_0",    "b1_2",    "b1_2",    "b1_0_bn", "b1_0_bn", "b1_0_bn", "b1_0_bn", "b1_2_bn",
      "b1_2_bn", "b1_2_bn", "b1_2_bn", "top",     "top"};
  const clm__model_file *file = *state;
  const int count = (int)(sizeof owners / sizeof owners[0]);
  assert_int_equal(file->weights->count, count);
  for (int i = 0; i < count; i++)
    assert_string_equal(file->graph->layers[file->weights->items[i].layer].name, owners[i]);
  assert_false(file->graph->is_sequential);
  assert_int_equal(file->optim_state->slot_count, 1);
  assert_true(file->optim_state->iterations > 0);
}

/* The moving variance of a trained model is positive, its moving mean somewhere about zero: a sign
 * that no two weights of equal shape are exchanged. */
static void statistics_are_where_they_belong(void **state)
{
  const clm__model_file *file = *state;
  for (int i = 0; i < file->weights->count; i++) {
    const clm__weight *weight = &file->weights->items[i];
    const float *values = file->weights->values + weight->offset;
    bool negative = false;
    for (size_t k = 0; k < weight->elements; k++) negative = negative || values[k] < 0.0F;
    if (strcmp(weight->name, "moving_variance") == 0) assert_false(negative);
    if (strcmp(weight->name, "moving_mean") == 0) assert_true(negative);
  }
}

static clm_status same_infer(void *attributes, const clm__shape *inputs, int input_count,
                             clm__op_spec *spec)
{
  (void)attributes;
  (void)input_count;
  *spec = (clm__op_spec){.output = inputs[0]};
  return CLM_OK;
}

static void the_summary_is_that_of_keras(void **state)
{
  static const clm__op relu = {.name = "re_lu",
                               .keras_class = "ReLU",
                               .inputs_least = 1,
                               .inputs_most = 1,
                               .infer = same_infer};
  clm__model_file *file = *state;
  const clm__op *kept[2];
  const int places[] = {clm__graph_find(file->graph, "re_lu"),
                        clm__graph_find(file->graph, "re_lu_1")};
  for (int i = 0; i < 2; i++) {
    kept[i] = file->graph->layers[places[i]].op;
    file->graph->layers[places[i]].op = &relu;
  }
  size_t size_bytes = 0;
  char *expected = read_whole(golden_path("keras_files/residual_summary.txt"), &size_bytes);
  while (size_bytes > 1 && expected[size_bytes - 2] == '\n') expected[--size_bytes] = '\0';
  char *text = NULL;
  assert_int_equal(clm__summary(file->graph, file->weights, 80, 3850, &text), CLM_OK);
  assert_string_equal(text, expected);
  clm__mem_free(text);
  clm__mem_free(expected);
  for (int i = 0; i < 2; i++) file->graph->layers[places[i]].op = kept[i];
}

static void it_is_lowered_for_training(void **state)
{
  const clm__model_file *file = *state;
  clm__net *net = NULL;
  assert_int_equal(clm__net_create(file->graph, file->weights,
                                   &(clm__net_options){.training = true, .plain = true}, &net),
                   CLM_OK);
  int partials = 0;
  for (int k = 0; k < net->node_count; k++) {
    const clm__node *node = &net->nodes[k];
    const char *layer = file->graph->layers[node->layer].name;
    for (int i = 0; i < node->input_count; i++) partials += (int)(node->adds_dx >> i & 1U);
    if (strcmp(layer, "rescaling") == 0) assert_false(node->has_backward);
    if (strcmp(layer, "stem") == 0) assert_int_equal(node->need_dx, 0);
    if (node->spec.param_count > 0) assert_true(node->need_dw);
  }
  /* Two values are read twice: before each shortcut. */
  assert_int_equal(partials, 2);
  assert_true(net->ends_in_softmax);
  clm__net_destroy(net);
}

static void it_survives_writing_and_reading(void **state)
{
  const clm__model_file *file = *state;
  char *folder = make_folder();
  char path[512];
  clm__model_file again = {0};
  (void)snprintf(path, sizeof path, "%s/again.keras", folder);
  assert_int_equal(clm__model_file_write(path, file), CLM_OK);
  if (clm__model_file_read(path, NULL, &again) != CLM_OK) fail_msg("%s", clm_error_last()->message);
  assert_int_equal(clm__weights_digest(again.weights), clm__weights_digest(file->weights));
  assert_int_equal(clm__optim_state_digest(again.optim_state, again.weights),
                   clm__optim_state_digest(file->optim_state, file->weights));
  for (int i = 0; i < file->graph->layer_count; i++)
    assert_string_equal(again.graph->layers[i].name, file->graph->layers[i].name);
  clm__model_file_fini(&again);
  remove_folder(folder);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(weights_are_in_keras_order),
      cmocka_unit_test(statistics_are_where_they_belong),
      cmocka_unit_test(the_summary_is_that_of_keras),
      cmocka_unit_test(it_is_lowered_for_training),
      cmocka_unit_test(it_survives_writing_and_reading),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
