/* Files of ours in real Keras, and back. CLEMATIS_KERAS_PYTHON names a Python with Keras 3.
 * ctest: labels=keras timeout=600 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model_support.h"
#include "op/registry.h"
#include "residual_support.h"
#include <sys/wait.h>
#include <unistd.h>

static const char *python;
static char *folder;

static char *in_folder(const char *name, const char *suffix)
{
  static char path[1024];
  (void)snprintf(path, sizeof path, "%s/%s%s", folder, name, suffix);
  return path;
}

static void write_text(const char *path, const void *bytes, size_t size_bytes)
{
  if (clm__file_write(path, bytes, size_bytes) != CLM_OK) fail_msg("%s", clm_error_last()->message);
}

static void dump_weights(const char *name, const clm__weights *weights)
{
  FILE *out = fopen(in_folder(name, ".weights"), "wb");
  assert_non_null(out);
  for (int i = 0; i < weights->count; i++)
    (void)fwrite(weights->values + weights->items[i].offset, sizeof(float),
                 weights->items[i].elements, out);
  assert_int_equal(fclose(out), 0);
}

/* Hands a model to the Python script. */
static void hand_over(const char *name, const clm__model_file *file)
{
  if (clm__model_file_write(in_folder(name, ".keras"), file) != CLM_OK)
    fail_msg("%s", clm_error_last()->message);
  dump_weights(name, file->weights);
  char *text = NULL;
  assert_int_equal(clm__model_file_to_json(file->graph, &text), CLM_OK);
  write_text(in_folder(name, ".json"), text, strlen(text));
  clm__mem_free(text);
}

/* A fresh model of the flowers network with this optimizer and loss. */
static clm__model_file make_fresh(const char *optim_name, const char *loss_name)
{
  clm__model_file file = {0};
  assert_int_equal(clm__graph_create_default(24, 32, 3, 4, &file.graph), CLM_OK);
  assert_int_equal(clm__weights_create(file.graph, &file.weights), CLM_OK);
  clm__weights_initialize(file.weights, 5);
  clm__compile *compile = &file.compile;
  assert_int_equal(clm__registry_find_optim(optim_name, &compile->optim), CLM_OK);
  assert_int_equal(clm__registry_find_loss(loss_name, &compile->loss), CLM_OK);
  assert_int_equal(clm__mem_alloc(1, compile->optim->attribute_bytes, &compile->optim_attributes),
                   CLM_OK);
  assert_int_equal(clm__mem_alloc(1, compile->loss->attribute_bytes, &compile->loss_attributes),
                   CLM_OK);
  clm__field_set_defaults(compile->optim->fields, compile->optim_attributes);
  clm__field_set_defaults(compile->loss->fields, compile->loss_attributes);
  double *rates = compile->optim_attributes;
  rates[0] = compile->optim->learning_rate;
  rates[1] = compile->optim->weight_decay;
  assert_int_equal(clm__optim_state_create(compile->optim, compile->optim_attributes, file.weights,
                                           &file.optim_state),
                   CLM_OK);
  return file;
}

static void hand_over_golden(const char *name, const char *path)
{
  clm__model_file file = read_golden(path);
  hand_over(name, &file);
  write_text(in_folder(name, ".like"), path, strlen(path));
  clm__model_file_fini(&file);
}

static void hand_over_fresh(const char *name, const char *optim_name, const char *loss_name)
{
  clm__model_file file = make_fresh(optim_name, loss_name);
  char extra[] = "{\"epoch\": 3}";
  file.extra = strcmp(name, "with_extra") == 0 ? extra : NULL;
  hand_over(name, &file);
  file.extra = NULL;
  clm__model_file_fini(&file);
}

static void hand_over_residual(const char *name)
{
  static const char path[] = "keras_files/residual.keras";
  clm__model_file file = read_residual(folder);
  (void)remove(in_folder("residual", ".keras"));
  hand_over(name, &file);
  write_text(in_folder(name, ".near"), path, strlen(path));
  clm__model_file_fini(&file);
}

/* Every layer that is supported, never trained. */
static void hand_over_all_layers(const char *name)
{
  char path[1024];
  (void)snprintf(path, sizeof path, "%s/io/all_layers.json", tests_folder());
  clm__model_file file = {0};
  if (clm__model_file_read(path, NULL, &file) != CLM_OK) fail_msg("%s", clm_error_last()->message);
  assert_int_equal(clm__weights_create(file.graph, &file.weights), CLM_OK);
  clm__weights_initialize(file.weights, 7);
  assert_int_equal(clm__optim_state_create(file.compile.optim, file.compile.optim_attributes,
                                           file.weights, &file.optim_state),
                   CLM_OK);
  hand_over(name, &file);
  clm__model_file_fini(&file);
}

static int run_python(void)
{
  char script[1024];
  char golden[1024];
  (void)snprintf(script, sizeof script, "%s/io/check_keras.py", tests_folder());
  (void)snprintf(golden, sizeof golden, "%s/golden", tests_folder());
  const pid_t child = fork();
  if (child == 0) {
    (void)execlp(python, python, script, folder, golden, (char *)NULL);
    _exit(127);
  }
  int status = -1;
  if (child > 0) (void)waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* What Keras saved after loading is what we wrote. */
static void assert_comes_back(const char *name)
{
  char saved[128];
  clm__model_file ours = {0};
  clm__model_file theirs = {0};
  (void)snprintf(saved, sizeof saved, "saved/%s", name);
  if (clm__model_file_read(in_folder(name, ".keras"), NULL, &ours) != CLM_OK ||
      clm__model_file_read(in_folder(saved, ".keras"), NULL, &theirs) != CLM_OK)
    fail_msg("%s", clm_error_last()->message);
  assert_int_equal(clm__weights_digest(ours.weights), clm__weights_digest(theirs.weights));
  assert_int_equal(ours.graph->layer_count, theirs.graph->layer_count);
  assert_ptr_equal(ours.compile.optim, theirs.compile.optim);
  assert_ptr_equal(ours.compile.loss, theirs.compile.loss);
  assert_int_equal(ours.optim_state == NULL, theirs.optim_state == NULL);
  if (ours.optim_state != NULL)
    assert_int_equal(clm__optim_state_digest(ours.optim_state, ours.weights),
                     clm__optim_state_digest(theirs.optim_state, theirs.weights));
  char *texts[2] = {NULL, NULL};
  assert_int_equal(clm__model_file_to_json(ours.graph, &texts[0]), CLM_OK);
  assert_int_equal(clm__model_file_to_json(theirs.graph, &texts[1]), CLM_OK);
  assert_string_equal(texts[0], texts[1]);
  clm__mem_free(texts[0]);
  clm__mem_free(texts[1]);
  clm__model_file_fini(&ours);
  clm__model_file_fini(&theirs);
}

static void keras_reads_and_continues_our_files(void **state)
{
  static const char *const names[] = {"after12", "frozen", "uncompiled", "adam",   "adamw",
                                      "rmsprop", "sgd",    "with_extra", "merged", "layers"};
  (void)state;
  hand_over_golden("after12", "train/after12.keras");
  hand_over_golden("frozen", "keras_files/frozen.keras");
  hand_over_golden("uncompiled", "keras_files/uncompiled.keras");
  hand_over_fresh("adam", "adam", "sparse_categorical_crossentropy");
  hand_over_fresh("adamw", "adamw", "categorical_crossentropy");
  hand_over_fresh("rmsprop", "rmsprop", "sparse_categorical_crossentropy");
  hand_over_fresh("sgd", "sgd", "sparse_categorical_crossentropy");
  hand_over_fresh("with_extra", "adam", "sparse_categorical_crossentropy");
  hand_over_residual("merged");
  hand_over_all_layers("layers");
  assert_int_equal(run_python(), 0);
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) assert_comes_back(names[i]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(keras_reads_and_continues_our_files),
  };
  python = getenv("CLEMATIS_KERAS_PYTHON");
  if (python == NULL || *python == '\0') {
    printf("skipped: CLEMATIS_KERAS_PYTHON does not name a Python with Keras 3\n");
    return 77;
  }
  folder = make_folder();
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  remove_folder(folder);
  return failed;
}
