/* The golden residual network without what is not supported yet: its class ReLU is spelled as an
 * Activation, its regularizer is left out. */
#ifndef CLM_TESTS_RESIDUAL_SUPPORT_H
#define CLM_TESTS_RESIDUAL_SUPPORT_H

#include "base/str.h"
#include "io/zip.h"
#include "model_support.h"

/* Puts `new` for every `old` in a text of clm__mem_alloc. */
static inline char *replace_all(char *text, const char *old, const char *new)
{
  clm__str built = {0};
  char *result = NULL;
  const char *at = text;
  const char *hit = NULL;
  while ((hit = strstr(at, old)) != NULL) {
    assert_int_equal(clm__str_add_bytes(&built, at, (size_t)(hit - at)), CLM_OK);
    assert_int_equal(clm__str_add(&built, "%s", new), CLM_OK);
    at = hit + strlen(old);
  }
  assert_int_equal(clm__str_add(&built, "%s", at), CLM_OK);
  assert_int_equal(clm__str_take(&built, &result), CLM_OK);
  clm__mem_free(text);
  return result;
}

/* The regularizer of the last layer. */
#define L2                                                                                         \
  "{\"module\": \"keras.regularizers\", \"class_name\": \"L2\", "                                  \
  "\"config\": {\"l2\": 0.01}, \"registered_name\": null}"

/* The golden file with another config.json, written into the folder. */
static inline clm__model_file read_residual(const char *folder)
{
  clm__zip *zip = NULL;
  char *config = NULL;
  char *weights = NULL;
  size_t config_bytes = 0;
  size_t weights_bytes = 0;
  char path[512];
  assert_int_equal(clm__zip_open(golden_path("keras_files/residual.keras"), &zip), CLM_OK);
  assert_int_equal(clm__zip_read(zip, "config.json", 1 << 20, &config, &config_bytes), CLM_OK);
  assert_int_equal(clm__zip_read(zip, "model.weights.h5", 1 << 20, &weights, &weights_bytes),
                   CLM_OK);
  clm__zip_close(zip);
  config = replace_all(config, "\"ReLU\"", "\"Activation\"");
  config = replace_all(config, "\"max_value\": 6, \"negative_slope\": 0.0, \"threshold\": 0.0",
                       "\"activation\": \"relu6\"");
  config = replace_all(config, L2, "null");
  const clm__zip_member members[] = {{"config.json", config, strlen(config)},
                                     {"model.weights.h5", weights, weights_bytes}};
  (void)snprintf(path, sizeof path, "%s/residual.keras", folder);
  assert_int_equal(clm__zip_write(path, members, 2), CLM_OK);
  clm__mem_free(config);
  clm__mem_free(weights);
  clm__model_file file = {0};
  if (clm__model_file_read(path, NULL, &file) != CLM_OK) fail_msg("%s", clm_error_last()->message);
  return file;
}

#endif
