/* What is read and refused in the JSON of models, case by case. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/str.h"
#include "model_support.h"

static clm_status read_text(const char *text, clm__model_file *file)
{
  return clm__model_file_read_bytes(text, strlen(text), NULL, file);
}

/* A Sequential of an InputLayer [6,6,2] and these layers. */
static char *sequential(const char *layers, const char *compile)
{
  clm__str text = {0};
  char *result = NULL;
  assert_int_equal(
      clm__str_add(&text,
                   "{\"class_name\":\"Sequential\",\"config\":{\"name\":\"m\",\"layers\":["
                   "{\"class_name\":\"InputLayer\",\"config\":{\"batch_shape\":[null,6,6,2]}}%s%s]}"
                   "%s%s}",
                   *layers != '\0' ? "," : "", layers,
                   *compile != '\0' ? ",\"compile_config\":" : "", compile),
      CLM_OK);
  assert_int_equal(clm__str_take(&text, &result), CLM_OK);
  return result;
}

/* One layer of this class and configuration. */
static char *one_layer(const char *class_name, const char *config)
{
  char layer[1024];
  (void)snprintf(layer, sizeof layer, "{\"class_name\":\"%s\",\"config\":{\"name\":\"x\"%s%s}}",
                 class_name, *config != '\0' ? "," : "", config);
  return sequential(layer, "");
}

static void expect_text(char *text, clm_status wanted, const char *words)
{
  clm__model_file file = {0};
  expect(read_text(text, &file), wanted, words);
  assert_null(file.graph);
  clm__mem_free(text);
}

static clm__model_file read_well(char *text)
{
  clm__model_file file = {0};
  if (read_text(text, &file) != CLM_OK) fail_msg("%s: %s", clm_error_last()->message, text);
  clm__mem_free(text);
  return file;
}

static void values_have_many_spellings(void **state)
{
  static const struct {
    const char *class_name;
    const char *config;
    int dims[3];
  } cases[] = {
      {"Conv2D", "\"filters\":4,\"kernel_size\":3", {4, 4, 4}},
      {"Conv2D", "\"filters\":4.0,\"kernel_size\":[3,1],\"padding\":\"SAME\"", {6, 6, 4}},
      {"Conv2D",
       "\"filters\":4,\"kernel_size\":[2,2],\"strides\":2,\"dtype\":\"float32\"",
       {3, 3, 4}},
      {"Conv2D", "\"filters\":4,\"kernel_size\":1,\"activation\":null,\"dtype\":null", {6, 6, 4}},
      {"Conv2D",
       "\"filters\":4,\"kernel_size\":1,\"dtype\":{\"module\":\"keras\",\"class_name\":"
       "\"DTypePolicy\",\"config\":{\"name\":\"float32\"},\"shared_object_id\":3}",
       {6, 6, 4}},
      {"Conv2D",
       "\"filters\":4,\"kernel_size\":1,\"kernel_initializer\":\"glorot_normal\",\"bias_"
       "initializer\":"
       "{\"class_name\":\"Zeros\",\"config\":{}},\"new_option\":null,\"other_option\":false",
       {6, 6, 4}},
      {"MaxPooling2D", "", {3, 3, 2}},
      {"MaxPooling2D", "\"pool_size\":2,\"strides\":null", {3, 3, 2}},
      {"MaxPooling2D", "\"pool_size\":[3,2],\"strides\":[1,2]", {4, 3, 2}},
      {"ZeroPadding2D", "\"padding\":1", {8, 8, 2}},
      {"ZeroPadding2D", "\"padding\":[1,2]", {8, 10, 2}},
      {"ZeroPadding2D", "\"padding\":[[1,0],[2,1]]", {7, 9, 2}},
      {"BatchNormalization", "\"axis\":[3]", {6, 6, 2}},
      {"BatchNormalization", "\"axis\":-1,\"renorm\":false,\"renorm_momentum\":0.99", {6, 6, 2}},
      {"Rescaling", "\"scale\":2", {6, 6, 2}},
      {"Rescaling", "\"scale\":[1,2],\"offset\":-1", {6, 6, 2}},
      {"Dropout", "\"rate\":0.5,\"seed\":null,\"noise_shape\":null", {6, 6, 2}},
      {"Activation", "\"activation\":\"swish\"", {6, 6, 2}},
      {"Resizing", "\"height\":3,\"width\":5,\"antialias\":false", {3, 5, 2}},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    clm__model_file file = read_well(one_layer(cases[i].class_name, cases[i].config));
    const clm__shape *shape = clm__graph_output_shape(file.graph);
    assert_int_equal(shape->rank, 3);
    assert_memory_equal(shape->dims, cases[i].dims, sizeof cases[i].dims);
    clm__model_file_fini(&file);
  }
}

static void wrong_values_are_told(void **state)
{
  static const struct {
    const char *class_name;
    const char *config;
    clm_status status;
    const char *words;
  } cases[] = {
      {"Conv2D", "\"kernel_size\":3", CLM_BAD_DATA,
       "layer x (Conv2D): config.layers[1].config.filters: the key is missing"},
      {"Conv2D", "\"filters\":0,\"kernel_size\":3", CLM_BAD_DATA, "filters: 0 is not in 1.."},
      {"Conv2D", "\"filters\":1e99,\"kernel_size\":3", CLM_BAD_DATA, "a whole number"},
      {"Conv2D", "\"filters\":99999999999,\"kernel_size\":3", CLM_BAD_DATA, "is not in"},
      {"Conv2D", "\"filters\":true,\"kernel_size\":3", CLM_BAD_DATA, "not true or false"},
      {"Conv2D", "\"filters\":2,\"kernel_size\":[3]", CLM_BAD_DATA, "2 numbers are expected"},
      {"Conv2D", "\"filters\":2,\"kernel_size\":[3,3,3]", CLM_BAD_DATA, "2 numbers are expected"},
      {"Conv2D", "\"filters\":2,\"kernel_size\":[3,\"3\"]", CLM_BAD_DATA, "kernel_size[1]"},
      {"Conv2D", "\"filters\":2,\"kernel_size\":7", CLM_BAD_DATA, "layer x (Conv2D): "},
      {"Conv2D", "\"filters\":2,\"kernel_size\":3,\"padding\":\"causal\"", CLM_UNSUPPORTED,
       "padding: \"causal\" is not supported"},
      {"Conv2D", "\"filters\":2,\"kernel_size\":3,\"data_format\":\"channels_first\"",
       CLM_UNSUPPORTED, "channels_first is not supported, only \"channels_last\""},
      {"Conv2D", "\"filters\":2,\"kernel_size\":3,\"activation\":\"mish\"", CLM_UNSUPPORTED,
       "activation: activation mish is not supported"},
      {"Conv2D", "\"filters\":2,\"kernel_size\":3,\"activation\":{\"class_name\":\"ReLU\"}",
       CLM_UNSUPPORTED, "of class ReLU"},
      {"Conv2D", "\"filters\":2,\"kernel_size\":3,\"kernel_regularizer\":{\"class_name\":\"L2\"}",
       CLM_UNSUPPORTED, "kernel_regularizer: L2 is not supported"},
      {"Conv2D", "\"filters\":2,\"kernel_size\":3,\"kernel_initializer\":\"orthogonal\"",
       CLM_UNSUPPORTED, "orthogonal"},
      {"Conv2D",
       "\"filters\":2,\"kernel_size\":3,\"kernel_initializer\":{\"class_name\":\"Zeros\","
       "\"config\":"
       "{\"gain\":2}}",
       CLM_UNSUPPORTED, "kernel_initializer.config.gain"},
      {"Conv2D", "\"filters\":2,\"kernel_size\":3,\"dtype\":\"mixed_float16\"", CLM_UNSUPPORTED,
       "dtype: the type mixed_float16 is not supported"},
      {"Conv2D", "\"filters\":2,\"kernel_size\":3,\"lora_rank\":4", CLM_UNSUPPORTED,
       "lora_rank: this option is not supported"},
      {"Conv2D", "\"filters\":2,\"kernel_size\":3,\"trainable\":1", CLM_BAD_DATA, "trainable"},
      {"Dropout", "\"rate\":1.5", CLM_BAD_DATA, "rate: 1.5 is not in 0..1"},
      {"Rescaling", "\"scale\":[1,2,3,4,5]", CLM_UNSUPPORTED, "a list of 5 numbers"},
      {"Rescaling", "\"scale\":[]", CLM_UNSUPPORTED, "a list of 0 numbers"},
      {"ZeroPadding2D", "\"padding\":[1]", CLM_BAD_DATA, "2 entries"},
      {"BatchNormalization", "\"axis\":1", CLM_UNSUPPORTED, "axis"},
      {"Add", "", CLM_BAD_DATA, "it has 1 inputs, 2 to"},
      {"LeakyReLU", "", CLM_UNSUPPORTED, "layer x: layer class LeakyReLU is not supported"},
      {"DepthwiseConv2D", "", CLM_UNSUPPORTED, "layer x: layer class DepthwiseConv2D"},
      {"conv2d", "\"filters\":2,\"kernel_size\":3", CLM_UNSUPPORTED, "layer class conv2d"},
      {"conv2d_max_pool", "", CLM_UNSUPPORTED, "layer class conv2d_max_pool"},
      {"InputLayer", "", CLM_UNSUPPORTED, "InputLayer"},
      {"Sequential", "", CLM_UNSUPPORTED, "x is a model within the model"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    expect_text(one_layer(cases[i].class_name, cases[i].config), cases[i].status, cases[i].words);
}

static void the_input_is_found(void **state)
{
  static const char *const texts[] = {
      "{\"class_name\":\"Sequential\",\"config\":{\"name\":\"m\",\"layers\":[{\"class_name\":"
      "\"Flatten\",\"config\":{\"batch_input_shape\":[null,4,4,2]}}]}}",
      "{\"class_name\":\"Sequential\",\"config\":{\"name\":\"m\",\"layers\":[{\"class_name\":"
      "\"Flatten\",\"config\":{}}],\"build_input_shape\":[null,4,4,2]}}",
      "{\"class_name\":\"Sequential\",\"build_config\":{\"input_shape\":[8,4,4,2]},\"config\":"
      "{\"name\":\"m\",\"layers\":[{\"class_name\":\"Flatten\",\"config\":{}}]}}",
      "{\"class_name\":\"Sequential\",\"config\":{\"name\":\"m\",\"layers\":[{\"class_name\":"
      "\"InputLayer\",\"config\":{\"batch_input_shape\":[null,4,4,2],\"sparse\":false,\"ragged\":"
      "false,\"name\":\"in\"}},{\"class_name\":\"Flatten\",\"config\":{}}]}}"};
  (void)state;
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    clm__model_file file = {0};
    if (read_text(texts[i], &file) != CLM_OK) fail_msg("%s", clm_error_last()->message);
    assert_int_equal(file.graph->layer_count, 2);
    assert_string_equal(file.graph->layers[1].name, "flatten");
    assert_int_equal(clm__graph_output_shape(file.graph)->dims[0], 32);
    clm__model_file_fini(&file);
  }
}

static void wrong_inputs_are_refused(void **state)
{
  static const struct {
    const char *config;
    clm_status status;
    const char *words;
  } cases[] = {
      {"\"batch_shape\":[null,null,null,3]", CLM_UNSUPPORTED, "not fixed"},
      {"\"batch_shape\":[null,4,-1,3]", CLM_BAD_DATA, "-1 is not in"},
      {"\"batch_shape\":[null,4,4,4,4,4]", CLM_UNSUPPORTED, "6 dimensions"},
      {"\"batch_shape\":[null]", CLM_UNSUPPORTED, "1 dimensions"},
      {"\"batch_shape\":7", CLM_BAD_DATA, "a list"},
      {"\"batch_shape\":[null,65536,65536,3]", CLM_BAD_DATA, "too large"},
      {"\"batch_shape\":[null,4,4,3],\"dtype\":\"uint8\"", CLM_UNSUPPORTED, "uint8"},
      {"\"batch_shape\":[null,4,4,3],\"sparse\":true", CLM_UNSUPPORTED, "sparse"},
      {"", CLM_BAD_DATA, "a list"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    clm__str text = {0};
    char *result = NULL;
    assert_int_equal(
        clm__str_add(&text,
                     "{\"class_name\":\"Sequential\",\"config\":{\"name\":\"m\",\"layers\":["
                     "{\"class_name\":\"InputLayer\",\"config\":{%s}},"
                     "{\"class_name\":\"Flatten\",\"config\":{}}]}}",
                     cases[i].config),
        CLM_OK);
    assert_int_equal(clm__str_take(&text, &result), CLM_OK);
    expect_text(result, cases[i].status, cases[i].words);
  }
}

static void wrong_documents_are_refused(void **state)
{
  static const struct {
    const char *text;
    clm_status status;
    const char *words;
  } cases[] = {
      {"", CLM_BAD_DATA, "the model is not valid JSON: line 1"},
      {"5", CLM_BAD_DATA, "an object is expected"},
      {"{}", CLM_BAD_DATA, "class_name"},
      {"{\"class_name\":\"Sequential\"}", CLM_BAD_DATA, "config: an object"},
      {"{\"class_name\":\"Sequential\",\"config\":{}}", CLM_BAD_DATA, "config.name"},
      {"{\"class_name\":\"Sequential\",\"config\":{\"name\":\"m\"}}", CLM_BAD_DATA,
       "config.layers"},
      {"{\"class_name\":\"Sequential\",\"config\":{\"name\":\"m\",\"layers\":[]}}", CLM_UNSUPPORTED,
       "0 layers"},
      {"{\"class_name\":\"Sequential\",\"config\":{\"name\":\"m\",\"layers\":[3]}}", CLM_BAD_DATA,
       "config.layers[0]: an object"},
      {"{\"class_name\":\"Mine\",\"config\":{\"name\":\"m\",\"layers\":[{}]}}", CLM_UNSUPPORTED,
       "class Mine"},
      {"\x89HDF\r\n\x1a\n rubbish", CLM_UNSUPPORTED, "Keras 2"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    clm__model_file file = {0};
    expect(read_text(cases[i].text, &file), cases[i].status, cases[i].words);
  }
}

static void custom_classes_and_operations_are_refused(void **state)
{
  (void)state;
  expect_text(sequential("{\"module\":\"my.code\",\"class_name\":\"Dense\",\"config\":{}}", ""),
              CLM_UNSUPPORTED, "a class of its author, Dense");
  expect_text(sequential("{\"module\":\"keras.src.ops.numpy\",\"class_name\":\"Add\","
                         "\"config\":{\"name\":\"plus\"}}",
                         ""),
              CLM_UNSUPPORTED, "plus is an operation (Add)");
  expect_text(sequential("{\"class_name\":\"Flatten\",\"config\":{\"name\":\"a\"}},"
                         "{\"class_name\":\"Flatten\",\"config\":{\"name\":\"a\"}}",
                         ""),
              CLM_BAD_DATA, "two layers are called a");
}

#define TOP                                                                                        \
  "{\"class_name\":\"Flatten\",\"config\":{}},"                                                    \
  "{\"class_name\":\"Dense\",\"config\":{\"units\":3,\"activation\":\"softmax\"}}"

static void optimizers_have_many_spellings(void **state)
{
  static const struct {
    const char *optimizer;
    const char *name;
    double learning_rate;
    double weight_decay;
  } cases[] = {
      {"\"adam\"", "adam", 0.001, 0.0},
      {"\"SGD\"", "sgd", 0.01, 0.0},
      {"{\"class_name\":\"RMSprop\"}", "rmsprop", 0.001, 0.0},
      {"{\"class_name\":\"AdamW\",\"config\":{}}", "adamw", 0.001, 0.004},
      {"{\"class_name\":\"AdamW\",\"config\":{\"weight_decay\":0.5}}", "adamw", 0.001, 0.5},
      {"{\"class_name\":\"Adam\",\"config\":{\"learning_rate\":0.25,\"weight_decay\":null,"
       "\"clipnorm\":null,\"use_ema\":false,\"ema_momentum\":0.99,\"name\":\"x\"}}",
       "adam", 0.25, 0.0},
      {"{\"module\":\"keras.src.backend.torch.optimizers.torch_adam\",\"class_name\":\"Adam\","
       "\"config\":{\"learning_rate\":1},\"registered_name\":\"Adam\"}",
       "adam", 1.0, 0.0},
      {"{\"class_name\":\"Adam\",\"config\":{\"decay\":0.0,\"jit_compile\":true,"
       "\"is_legacy_optimizer\":false}}",
       "adam", 0.001, 0.0},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char compile[1024];
    (void)snprintf(compile, sizeof compile, "{\"optimizer\":%s}", cases[i].optimizer);
    clm__model_file file = read_well(sequential(TOP, compile));
    assert_string_equal(file.compile.optim->name, cases[i].name);
    const double *rates = file.compile.optim_attributes;
    assert_true(rates[0] == cases[i].learning_rate);
    assert_true(rates[1] == cases[i].weight_decay);
    assert_null(file.compile.loss);
    clm__model_file_fini(&file);
  }
}

static void losses_have_many_spellings(void **state)
{
  static const struct {
    const char *loss;
    const char *name;
    bool from_logits;
  } cases[] = {
      {"\"sparse_categorical_crossentropy\"", "sparse_categorical_crossentropy", false},
      {"[\"categorical_crossentropy\"]", "categorical_crossentropy", false},
      {"{\"module\":\"keras.losses\",\"class_name\":\"SparseCategoricalCrossentropy\",\"config\":"
       "{\"name\":\"l\",\"reduction\":\"sum_over_batch_size\",\"from_logits\":true,"
       "\"ignore_class\":null}}",
       "sparse_categorical_crossentropy", true},
      {"{\"class_name\":\"CategoricalCrossentropy\",\"config\":{\"label_smoothing\":0.1}}",
       "categorical_crossentropy", false},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char compile[1024];
    (void)snprintf(compile, sizeof compile, "{\"optimizer\":\"adam\",\"loss\":%s}", cases[i].loss);
    clm__model_file file = read_well(sequential(TOP, compile));
    const clm__compile *read = &file.compile;
    assert_string_equal(read->loss->name, cases[i].name);
    assert_int_equal(read->loss->from_logits(read->loss_attributes), cases[i].from_logits);
    clm__model_file_fini(&file);
  }
}

static void wrong_compilations_are_told(void **state)
{
  static const struct {
    const char *compile;
    clm_status status;
    const char *words;
  } cases[] = {
      {"{\"optimizer\":\"nadam\"}", CLM_UNSUPPORTED, "optimizer: optimizer nadam"},
      {"{\"optimizer\":{\"class_name\":\"Adam\",\"config\":{\"learning_rate\":{\"class_name\":"
       "\"CosineDecay\",\"config\":{}}}}}",
       CLM_UNSUPPORTED, "optimizer.config.learning_rate: the learning rate follows CosineDecay"},
      {"{\"optimizer\":{\"class_name\":\"Adam\",\"config\":{\"clipnorm\":1.0}}}", CLM_UNSUPPORTED,
       "optimizer.config.clipnorm"},
      {"{\"optimizer\":{\"class_name\":\"Adam\",\"config\":{\"use_ema\":true}}}", CLM_UNSUPPORTED,
       "use_ema"},
      {"{\"optimizer\":{\"class_name\":\"Adam\",\"config\":{\"decay\":0.1}}}", CLM_UNSUPPORTED,
       "a decay of the learning rate"},
      {"{\"optimizer\":{\"class_name\":\"Adam\",\"config\":{\"beta_1\":2}}}", CLM_BAD_DATA,
       "beta_1: 2 is not in 0..1"},
      {"{\"optimizer\":{\"class_name\":\"Adam\",\"config\":{\"learning_rate\":-1}}}", CLM_BAD_DATA,
       "a learning rate of -1"},
      {"{\"optimizer\":{\"class_name\":\"Adam\",\"config\":{\"learning_rate\":null}}}",
       CLM_BAD_DATA, "a number"},
      {"{\"optimizer\":{\"class_name\":\"Adam\",\"config\":{\"what\":3}}}", CLM_UNSUPPORTED,
       "what"},
      {"{\"optimizer\":7}", CLM_BAD_DATA, "compile_config.optimizer: an object"},
      {"{\"optimizer\":\"adam\",\"loss\":\"mse\"}", CLM_UNSUPPORTED, "loss mse"},
      {"{\"optimizer\":\"adam\",\"loss\":{\"a\":\"mse\"}}", CLM_BAD_DATA, "class_name"},
      {"{\"optimizer\":\"adam\",\"loss\":{\"class_name\":\"SparseCategoricalCrossentropy\","
       "\"config\":{\"reduction\":\"sum\"}}}",
       CLM_UNSUPPORTED, "loss.config.reduction: sum is not supported"},
      {"{\"optimizer\":\"adam\",\"loss_weights\":[2.0]}", CLM_UNSUPPORTED, "weights of the loss"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    expect_text(sequential(TOP, cases[i].compile), cases[i].status, cases[i].words);
}

static void not_compiled_is_fine(void **state)
{
  static const char *const cases[] = {"", "{}", "null"};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    clm__model_file file = read_well(sequential(TOP, cases[i]));
    assert_null(file.compile.optim);
    clm__model_file_fini(&file);
  }
}

static void other_metrics_are_told(void **state)
{
  heard told = {0};
  const clm_log log = {.receive = hear, .user = &told};
  clm__model_file file = {0};
  (void)state;
  char *text = sequential(TOP, "{\"optimizer\":\"adam\",\"metrics\":[\"accuracy\",\"acc\",{"
                               "\"class_name\":\"AUC\",\"config\":{}}]}");
  assert_int_equal(clm__model_file_read_bytes(text, strlen(text), &log, &file), CLM_OK);
  assert_int_equal(told.count, 1);
  assert_non_null(strstr(told.last, "the metric AUC is not computed"));
  clm__model_file_fini(&file);
  clm__mem_free(text);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_have_many_spellings),
      cmocka_unit_test(wrong_values_are_told),
      cmocka_unit_test(the_input_is_found),
      cmocka_unit_test(wrong_inputs_are_refused),
      cmocka_unit_test(wrong_documents_are_refused),
      cmocka_unit_test(custom_classes_and_operations_are_refused),
      cmocka_unit_test(optimizers_have_many_spellings),
      cmocka_unit_test(losses_have_many_spellings),
      cmocka_unit_test(wrong_compilations_are_told),
      cmocka_unit_test(not_compiled_is_fine),
      cmocka_unit_test(other_metrics_are_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
