#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/str.h"
#include "model_support.h"

static bool is_synchronized(const clm__graph *graph, const char *name)
{
  const clm__layer *layer = &graph->layers[clm__graph_find(graph, name)];
  return layer->op->is_synchronized(layer->attributes);
}

static void every_layer_is_read_in_any_order(void **state)
{
  static const char *const order[] = {
      "image", "resize", "rescale", "pad", "conv", "norm",     "act",  "dilated", "sum", "average",
      "most",  "both",   "gmp",     "gap", "flat", "features", "drop", "hidden",  "top"};
  char path[1024];
  clm__model_file file = {0};
  (void)state;
  (void)snprintf(path, sizeof path, "%s/io/all_layers.json", tests_folder());
  if (clm__model_file_read(path, NULL, &file) != CLM_OK) fail_msg("%s", clm_error_last()->message);
  const clm__graph *graph = file.graph;
  assert_int_equal(graph->layer_count, sizeof order / sizeof order[0]);
  for (int i = 0; i < graph->layer_count; i++) {
    if (clm__graph_find(graph, order[i]) < 0) fail_msg("%s is missing", order[i]);
    for (int k = 0; k < graph->layers[i].input_count; k++)
      assert_true(graph->layers[i].inputs[k] < i);
  }
  assert_false(graph->layers[clm__graph_find(graph, "dilated")].trainable);
  assert_string_equal(graph->layers[graph->output_layer].name, "top");
  assert_string_equal(file.compile.optim->name, "rmsprop");
  char *text = NULL;
  clm__model_file again = {0};
  assert_int_equal(clm__model_file_to_json(graph, &text), CLM_OK);
  if (clm__model_file_read_bytes(text, strlen(text), NULL, &again) != CLM_OK)
    fail_msg("%s", clm_error_last()->message);
  for (int i = 0; i < graph->layer_count; i++)
    assert_string_equal(again.graph->layers[i].name, graph->layers[i].name);
  assert_true(is_synchronized(graph, "norm"));
  assert_true(is_synchronized(again.graph, "norm"));
  assert_null(again.compile.optim);
  clm__model_file_fini(&again);
  clm__mem_free(text);
  clm__model_file_fini(&file);
}

#define INPUT                                                                                      \
  "{\"class_name\":\"InputLayer\",\"name\":\"in\",\"config\":{\"batch_shape\":[null,4,4,2]},"      \
  "\"inbound_nodes\":[]}"
/* A layer without options that is called as told. */
#define LAYER(class_name, name, calls)                                                             \
  "{\"class_name\":\"" class_name "\",\"name\":\"" name                                            \
  "\",\"config\":{},\"inbound_nodes\":[" calls "]}"
#define TENSOR(name)                                                                               \
  "{\"class_name\":\"__keras_tensor__\",\"config\":{\"keras_history\":[\"" name "\",0,0]}}"
#define CALL(arguments) "{\"args\":[" arguments "],\"kwargs\":{}}"

static clm_status read_layers(const char *layers, const char *ends, clm__model_file *file)
{
  clm__str text = {0};
  CLM_TRY(clm__str_add(&text,
                       "{\"class_name\":\"Functional\",\"config\":{\"name\":\"m\",\"layers\":[%s],"
                       "%s}}",
                       layers, ends));
  const clm_status status =
      clm__model_file_read_bytes(clm__str_get(&text), text.length, NULL, file);
  clm__str_fini(&text);
  return status;
}

#define ENDS "\"input_layers\":[\"in\",0,0],\"output_layers\":[\"out\",0,0]"
#define OUT LAYER("Flatten", "out", CALL(TENSOR("in")))

static void ends_have_many_spellings(void **state)
{
  static const char *const cases[] = {
      ENDS,
      "\"input_layers\":[[\"in\",0,0]],\"output_layers\":[[\"out\",0,0]]",
      "\"input_layers\":{\"a\":[\"in\",0,0]},\"output_layers\":{\"b\":[\"out\",0,0]}",
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    clm__model_file file = {0};
    if (read_layers(OUT "," INPUT, cases[i], &file) != CLM_OK)
      fail_msg("%s", clm_error_last()->message);
    assert_int_equal(file.graph->layer_count, 2);
    assert_string_equal(file.graph->layers[0].name, "in");
    clm__model_file_fini(&file);
  }
}

static void calls_of_keras_2_are_read(void **state)
{
  clm__model_file file = {0};
  (void)state;
  const clm_status status =
      read_layers(INPUT "," LAYER("BatchNormalization", "a", "[[\"in\",0,0,{}]]") "," LAYER(
                      "Add", "out", "[[\"in\",0,0,{}],[\"a\",0,0,{\"training\":null}]]"),
                  ENDS, &file);
  if (status != CLM_OK) fail_msg("%s", clm_error_last()->message);
  assert_int_equal(file.graph->layers[2].input_count, 2);
  clm__model_file_fini(&file);
}

static void wrong_models_are_refused(void **state)
{
  static const struct {
    const char *layers;
    const char *ends;
    clm_status status;
    const char *words;
  } cases[] = {
      {INPUT "," LAYER("Flatten", "out", CALL(TENSOR("nobody"))), ENDS, CLM_BAD_DATA,
       "there is no layer called nobody"},
      {INPUT "," LAYER("Add", "a", CALL("[" TENSOR("in") "," TENSOR("b") "]")) "," LAYER(
           "BatchNormalization", "b", CALL(TENSOR("a"))) "," LAYER("Flatten", "out",
                                                                   CALL(TENSOR("b"))),
       ENDS, CLM_BAD_DATA, "the layers form a circle"},
      {INPUT "," LAYER("BatchNormalization", "out", CALL(TENSOR("out"))), ENDS, CLM_BAD_DATA,
       "a circle"},
      {INPUT "," OUT "," LAYER("Flatten", "dead", CALL(TENSOR("in"))), ENDS, CLM_BAD_DATA,
       "layer dead does not lead to the model's output"},
      {INPUT "," LAYER("Flatten", "out", CALL(TENSOR("in")) "," CALL(TENSOR("in"))), ENDS,
       CLM_UNSUPPORTED, "layer out is called 2 times; shared layers"},
      {INPUT "," LAYER("Flatten", "out", ""), ENDS, CLM_BAD_DATA, "the one call it needs"},
      {INPUT "," LAYER("Flatten", "out", "7"), ENDS, CLM_BAD_DATA, "inbound_nodes[0]: a list"},
      {INPUT "," LAYER("Flatten", "out", CALL("3")), ENDS, CLM_UNSUPPORTED,
       "an argument that is no output of a layer"},
      {INPUT "," LAYER("Flatten", "out", "[[\"in\",1,0,{}]]"), ENDS, CLM_UNSUPPORTED,
       "several times"},
      {INPUT "," LAYER("Flatten", "out", "[[\"in\",0,0,{\"mask\":3}]]"), ENDS, CLM_UNSUPPORTED,
       "with this argument"},
      {INPUT "," LAYER("Flatten", "out", CALL(TENSOR("in") "," TENSOR("in"))), ENDS, CLM_BAD_DATA,
       "2 inputs, 1 to 1"},
      {INPUT "," OUT,
       "\"input_layers\":[[\"in\",0,0],[\"in\",0,0]],\"output_layers\":[\"out\",0,0]",
       CLM_UNSUPPORTED, "2 inputs or outputs"},
      {INPUT "," OUT, "\"input_layers\":[\"in\",0,0]", CLM_UNSUPPORTED, "0 inputs or outputs"},
      {INPUT "," OUT, "\"input_layers\":[\"out\",0,0],\"output_layers\":[\"out\",0,0]",
       CLM_UNSUPPORTED, "does not begin with an InputLayer"},
      {INPUT "," OUT, "\"input_layers\":[\"in\",0,0],\"output_layers\":[\"in\",0,0]", CLM_BAD_DATA,
       "layer out does not lead"},
      {INPUT "," INPUT "," OUT, ENDS, CLM_UNSUPPORTED, "2 inputs"},
      {OUT, ENDS, CLM_UNSUPPORTED, "0 inputs"},
      {INPUT ",{\"class_name\":\"Flatten\",\"config\":{},\"inbound_nodes\":[]}", ENDS, CLM_BAD_DATA,
       "the layer has no name"},
      {INPUT "," OUT "," OUT, ENDS, CLM_BAD_DATA, "two layers are called out"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    clm__model_file file = {0};
    expect(read_layers(cases[i].layers, cases[i].ends, &file), cases[i].status, cases[i].words);
    assert_null(file.graph);
  }
}

static void too_many_inputs_or_layers_are_refused(void **state)
{
  clm__model_file file = {0};
  clm__str layers = {0};
  (void)state;
  assert_int_equal(clm__str_add(&layers, INPUT ",{\"class_name\":\"Add\",\"name\":\"out\","
                                               "\"config\":{},\"inbound_nodes\":[[[\"in\",0,0]"),
                   CLM_OK);
  for (int i = 0; i < 8; i++) assert_int_equal(clm__str_add(&layers, ",[\"in\",0,0]"), CLM_OK);
  assert_int_equal(clm__str_add(&layers, "]]}"), CLM_OK);
  expect(read_layers(clm__str_get(&layers), ENDS, &file), CLM_UNSUPPORTED, "more than 8 inputs");
  clm__str_fini(&layers);
  assert_int_equal(clm__str_add(&layers, INPUT), CLM_OK);
  for (int i = 0; i < 4096; i++) assert_int_equal(clm__str_add(&layers, ",{}"), CLM_OK);
  expect(read_layers(clm__str_get(&layers), ENDS, &file), CLM_UNSUPPORTED, "4097 layers");
  clm__str_fini(&layers);
}

/* The last layer first: every pass over the list finds one more. */
static void long_chains_in_reverse_are_read(void **state)
{
  enum { LENGTH = 1500 };
  clm__model_file file = {0};
  clm__str layers = {0};
  (void)state;
  for (int i = LENGTH; i > 0; i--)
    assert_int_equal(
        clm__str_add(&layers,
                     "{\"class_name\":\"BatchNormalization\",\"name\":\"%s%d\",\"config\":{},"
                     "\"inbound_nodes\":[[[\"%s%d\",0,0,{}]]]},",
                     i == LENGTH ? "out" : "a", i == LENGTH ? 0 : i, i == 1 ? "in" : "a", i - 1),
        CLM_OK);
  assert_int_equal(clm__str_add(&layers, "{\"class_name\":\"InputLayer\",\"name\":\"in0\","
                                         "\"config\":{\"batch_shape\":[null,4,4,2]},"
                                         "\"inbound_nodes\":[]}"),
                   CLM_OK);
  if (read_layers(clm__str_get(&layers),
                  "\"input_layers\":[\"in0\",0,0],\"output_layers\":[\"out0\",0,0]",
                  &file) != CLM_OK)
    fail_msg("%s", clm_error_last()->message);
  assert_int_equal(file.graph->layer_count, LENGTH + 1);
  clm__model_file_fini(&file);
  clm__str_fini(&layers);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_layer_is_read_in_any_order),
      cmocka_unit_test(ends_have_many_spellings),
      cmocka_unit_test(calls_of_keras_2_are_read),
      cmocka_unit_test(wrong_models_are_refused),
      cmocka_unit_test(too_many_inputs_or_layers_are_refused),
      cmocka_unit_test(long_chains_in_reverse_are_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
