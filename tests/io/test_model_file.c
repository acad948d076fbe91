#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "graph/summary.h"
#include "model_support.h"

static void the_seed_model_is_read(void **state)
{
  (void)state;
  clm__model_file file = read_golden("keras_files/seed.keras");
  assert_true(file.graph->is_sequential);
  assert_int_equal(file.graph->layer_count, 11);
  assert_string_equal(file.graph->layers[4].name, "conv2d_1");
  assert_int_equal(clm__graph_output_shape(file.graph)->dims[0], 5);
  assert_int_equal(clm__weights_count_params(file.weights, true), 155429);
  assert_string_equal(file.compile.optim->name, "adam");
  assert_string_equal(file.compile.loss->name, "sparse_categorical_crossentropy");
  assert_false(file.compile.loss->from_logits(file.compile.loss_attributes));
  assert_null(file.optim_state);
  assert_null(file.extra);
  clm__model_file_fini(&file);
}

static void an_uncompiled_model_is_read(void **state)
{
  (void)state;
  clm__model_file file = read_golden("keras_files/uncompiled.keras");
  assert_null(file.compile.optim);
  assert_null(file.compile.loss);
  assert_null(file.optim_state);
  assert_int_equal(file.weights->count, 2);
  clm__model_file_fini(&file);
}

static void assert_weight(const clm__model_file *file, const char *folder, const char *layer,
                          const char *param)
{
  char path[256];
  const int index = clm__graph_find(file->graph, layer);
  assert_true(index > 0);
  (void)snprintf(path, sizeof path, "train/%s/%s_%s.npy", folder, layer, param);
  npy expected = npy_read_golden(path);
  const int item = clm__weights_find(file->weights, index, strcmp(param, "bias") == 0);
  const clm__weight *weight = &file->weights->items[item];
  assert_int_equal(weight->elements, expected.count);
  assert_memory_equal(file->weights->values + weight->offset, expected.f32,
                      expected.count * sizeof(float));
  npy_free(&expected);
}

static void trained_weights_are_read_bit_by_bit(void **state)
{
  static const char *const layers[] = {"conv2d", "conv2d_1", "conv2d_2", "dense", "dense_1"};
  (void)state;
  clm__model_file file = read_golden("train/after12.keras");
  for (size_t i = 0; i < sizeof layers / sizeof layers[0]; i++) {
    assert_weight(&file, "weights_after12", layers[i], "kernel");
    assert_weight(&file, "weights_after12", layers[i], "bias");
  }
  const clm__optim_state *optim = file.optim_state;
  assert_non_null(optim);
  assert_int_equal(optim->iterations, 12);
  assert_true(optim->learning_rate == 0.001F);
  assert_int_equal(optim->slot_count, 2);
  assert_string_equal(optim->slot_names[0], "momentum");
  /* The second slot holds squares. */
  bool moved = false;
  for (size_t i = 0; i < optim->elements; i++) {
    assert_true(optim->slots[1][i] >= 0.0F);
    moved = moved || optim->slots[0][i] < 0.0F;
  }
  assert_true(moved);
  clm__model_file_fini(&file);
  file = read_golden("train/init.keras");
  assert_null(file.optim_state);
  clm__model_file_fini(&file);
}

/* Numbers in optimizer variables, with iteration and rate. */
static size_t optimizer_params(const clm__model_file *file)
{
  if (file->optim_state == NULL) return 0;
  const size_t trained = clm__weights_count_params(file->weights, true);
  return 2 + trained * (size_t)file->optim_state->slot_count;
}

static void a_model_travels_as_bytes(void **state)
{
  (void)state;
  clm__model_file file = read_golden("train/after12.keras");
  clm__model_file copy = {0};
  char *bytes = NULL;
  size_t size_bytes = 0;
  assert_int_equal(clm__model_file_pack(&file, &bytes, &size_bytes), CLM_OK);
  assert_int_equal(clm__model_file_read_bytes(bytes, size_bytes, NULL, &copy), CLM_OK);
  assert_int_equal(copy.weights->elements, file.weights->elements);
  assert_memory_equal(copy.weights->values, file.weights->values,
                      file.weights->elements * sizeof(float));
  const clm__optim_state *optim = file.optim_state;
  assert_int_equal(copy.optim_state->iterations, optim->iterations);
  for (int i = 0; i < optim->slot_count; i++)
    assert_memory_equal(copy.optim_state->slots[i], optim->slots[i],
                        optim->elements * sizeof(float));
  clm__model_file_fini(&copy);
  clm__model_file_fini(&file);
  clm__mem_free(bytes);
}

static void assert_golden_summary(const char *name)
{
  char path[256];
  (void)snprintf(path, sizeof path, "keras_files/%s.keras", name);
  clm__model_file file = read_golden(path);
  (void)snprintf(path, sizeof path, "keras_files/%s_summary.txt", name);
  size_t size_bytes = 0;
  char *expected = read_whole(golden_path(path), &size_bytes);
  char *text = NULL;
  assert_int_equal(clm__summary(file.graph, file.weights, 80, optimizer_params(&file), &text),
                   CLM_OK);
  /* Keras ends with one more empty line. */
  while (size_bytes > 1 && expected[size_bytes - 2] == '\n') expected[--size_bytes] = '\0';
  assert_string_equal(text, expected);
  clm__mem_free(text);
  clm__mem_free(expected);
  clm__model_file_fini(&file);
}

static void summaries_are_those_of_keras(void **state)
{
  (void)state;
  assert_golden_summary("seed");
  assert_golden_summary("uncompiled");
  assert_golden_summary("frozen");
}

static void frozen_layers_and_amsgrad_are_read(void **state)
{
  (void)state;
  clm__model_file file = read_golden("keras_files/frozen.keras");
  assert_false(file.graph->layers[clm__graph_find(file.graph, "my_first")].trainable);
  assert_true(file.graph->layers[clm__graph_find(file.graph, "my_second")].trainable);
  assert_int_equal(clm__weights_count_params(file.weights, true), 158);
  assert_non_null(file.optim_state);
  assert_int_equal(file.optim_state->slot_count, 3);
  /* Adam's third slot holds the largest values of the second. */
  for (size_t i = 0; i < file.optim_state->elements; i++)
    assert_true(file.optim_state->slots[2][i] >= file.optim_state->slots[1][i]);
  clm__model_file_fini(&file);
}

static void what_is_not_supported_is_named(void **state)
{
  static const struct {
    const char *name;
    const char *words;
  } cases[] = {{"augmented", "layer class RandomFlip is not supported"},
               {"separable", "is not supported"},
               {"nested", "is a model within the model (Sequential)"},
               {"scheduled", "is not supported"},
               {"residual", "layer re_lu: layer class ReLU is not supported"}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    for (int k = 0; k < 2; k++) {
      char path[256];
      clm__model_file file = {0};
      (void)snprintf(path, sizeof path, "keras_files/%s.%s", cases[i].name,
                     k == 0 ? "keras" : "json");
      expect(clm__model_file_read(golden_path(path), NULL, &file), CLM_UNSUPPORTED, cases[i].words);
      printf("    %s\n", strrchr(clm_error_last()->message, '/'));
      assert_null(file.graph);
    }
  }
}

static void texts_of_to_json_are_read(void **state)
{
  (void)state;
  clm__model_file file = read_golden("keras_files/seed.json");
  assert_int_equal(file.graph->layer_count, 11);
  assert_null(file.weights);
  assert_string_equal(file.compile.optim->name, "adam");
  clm__model_file_fini(&file);
}

static void assert_same_weights(const clm__weights *a, const clm__weights *b)
{
  assert_int_equal(a->count, b->count);
  assert_int_equal(a->elements, b->elements);
  assert_memory_equal(a->values, b->values, a->elements * sizeof(float));
}

static void assert_same_state(const clm__optim_state *a, const clm__optim_state *b)
{
  assert_int_equal(a == NULL, b == NULL);
  if (a == NULL) return;
  assert_ptr_equal(a->optim, b->optim);
  assert_int_equal(a->iterations, b->iterations);
  assert_true(a->learning_rate == b->learning_rate);
  assert_int_equal(a->slot_count, b->slot_count);
  for (int i = 0; i < a->slot_count; i++)
    assert_memory_equal(a->slots[i], b->slots[i], a->elements * sizeof(float));
}

static void assert_same_graph(const clm__graph *a, const clm__graph *b)
{
  assert_string_equal(a->name, b->name);
  assert_int_equal(a->is_sequential, b->is_sequential);
  assert_int_equal(a->layer_count, b->layer_count);
  for (int i = 0; i < a->layer_count; i++) {
    assert_string_equal(a->layers[i].name, b->layers[i].name);
    assert_ptr_equal(a->layers[i].op, b->layers[i].op);
    assert_int_equal(a->layers[i].trainable, b->layers[i].trainable);
    assert_int_equal(a->layers[i].input_count, b->layers[i].input_count);
    assert_memory_equal(a->layers[i].inputs, b->layers[i].inputs, sizeof a->layers[i].inputs);
  }
  char *texts[2] = {NULL, NULL};
  assert_int_equal(clm__model_file_to_json(a, &texts[0]), CLM_OK);
  assert_int_equal(clm__model_file_to_json(b, &texts[1]), CLM_OK);
  assert_string_equal(texts[0], texts[1]);
  clm__mem_free(texts[0]);
  clm__mem_free(texts[1]);
}

static void files_survive_writing_and_reading(void **state)
{
  static const char *const names[] = {"train/after12.keras", "keras_files/seed.keras",
                                      "keras_files/uncompiled.keras", "keras_files/frozen.keras"};
  (void)state;
  char *folder = make_folder();
  char path[512];
  (void)snprintf(path, sizeof path, "%s/copy.keras", folder);
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    clm__model_file file = read_golden(names[i]);
    clm__model_file again = {0};
    char extra[] = "{\"seed\":123,\"rate\":0.1}";
    file.extra = i % 2 == 0 ? extra : NULL;
    assert_int_equal(clm__model_file_write(path, &file), CLM_OK);
    if (clm__model_file_read(path, NULL, &again) != CLM_OK)
      fail_msg("%s", clm_error_last()->message);
    assert_same_graph(file.graph, again.graph);
    assert_same_weights(file.weights, again.weights);
    assert_same_state(file.optim_state, again.optim_state);
    assert_ptr_equal(file.compile.optim, again.compile.optim);
    assert_ptr_equal(file.compile.loss, again.compile.loss);
    if (file.extra != NULL) {
      assert_string_equal(again.extra, "{\"seed\":123,\"rate\":0.10000000000000001}");
    } else {
      assert_null(again.extra);
    }
    file.extra = NULL;
    clm__model_file_fini(&again);
    clm__model_file_fini(&file);
  }
  remove_folder(folder);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_seed_model_is_read),
      cmocka_unit_test(an_uncompiled_model_is_read),
      cmocka_unit_test(trained_weights_are_read_bit_by_bit),
      cmocka_unit_test(a_model_travels_as_bytes),
      cmocka_unit_test(frozen_layers_and_amsgrad_are_read),
      cmocka_unit_test(summaries_are_those_of_keras),
      cmocka_unit_test(what_is_not_supported_is_named),
      cmocka_unit_test(texts_of_to_json_are_read),
      cmocka_unit_test(files_survive_writing_and_reading),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
