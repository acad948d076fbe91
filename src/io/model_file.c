#include "io/model_file.h"

#include "base/mem.h"
#include "io/keras_config.h"
#include "io/keras_weights.h"
#include "io/model_extra.h"
#include "io/zip.h"
#include "sys/file.h"

#include <string.h>

#define CONFIG_MEMBER "config.json"
#define WEIGHTS_MEMBER "model.weights.h5"

#define CONFIG_BYTES_MAX ((size_t)64 << 20)
#define WEIGHTS_BYTES_MAX ((size_t)64 << 30)

/* Packed weights are hardly smaller than plain ones. A model that needs far more memory than its
 * file has bytes was not written by anyone in earnest. */
#define WEIGHTS_RATIO_MAX 64

void clm__model_file_fini(clm__model_file *file)
{
  clm__optim_state_destroy(file->optim_state);
  clm__weights_destroy(file->weights);
  clm__graph_destroy(file->graph);
  clm__compile_fini(&file->compile);
  clm__mem_free(file->extra);
  *file = (clm__model_file){0};
}

static clm_status read_config(const char *text, size_t size_bytes, const char *what,
                              const clm_log *log, clm__model_file *file)
{
  clm__json *json = NULL;
  CLM_TRY(clm__json_parse(text, size_bytes, what, &json));
  const clm__json_at model = clm__json_root(json);
  clm_status status = clm__keras_read_model(&model, &file->graph);
  if (status == CLM_OK) status = clm__keras_read_compile(&model, log, &file->compile);
  clm__json_free(json);
  return status;
}

static clm_status read_open_hdf5(const clm__hdf5 *hdf5, size_t size_bytes, const clm_log *log,
                                 clm__model_file *file)
{
  const size_t most =
      size_bytes < SIZE_MAX / WEIGHTS_RATIO_MAX ? size_bytes * WEIGHTS_RATIO_MAX : SIZE_MAX;
  CLM_TRY(clm__weights_create_bounded(file->graph, most, &file->weights));
  CLM_TRY(clm__keras_read_weights(hdf5, file->graph, file->weights));
  const clm__compile *compile = &file->compile;
  if (compile->optim == NULL) return CLM_OK;
  return clm__keras_read_optim_state(hdf5, compile->optim, compile->optim_attributes, file->weights,
                                     log, &file->optim_state);
}

static clm_status read_hdf5(const char *bytes, size_t size_bytes, const clm_log *log,
                            clm__model_file *file)
{
  clm__hdf5 *hdf5 = NULL;
  CLM_TRY(clm__hdf5_open(bytes, size_bytes, WEIGHTS_MEMBER, &hdf5));
  const clm_status status = read_open_hdf5(hdf5, size_bytes, log, file);
  clm__hdf5_close(hdf5);
  return status;
}

static clm_status read_weights(const clm__zip *zip, const clm_log *log, clm__model_file *file)
{
  char *bytes = NULL;
  size_t size_bytes = 0;
  CLM_TRY(clm__zip_read(zip, WEIGHTS_MEMBER, WEIGHTS_BYTES_MAX, &bytes, &size_bytes));
  clm__hdf5_enter();
  const clm_status status = read_hdf5(bytes, size_bytes, log, file);
  clm__hdf5_leave();
  clm__mem_free(bytes);
  return status;
}

static clm_status read_extra(const clm__zip *zip, clm__model_file *file)
{
  if (!clm__zip_has(zip, CLM__EXTRA_MEMBER)) return CLM_OK;
  char *text = NULL;
  size_t size_bytes = 0;
  CLM_TRY(clm__zip_read(zip, CLM__EXTRA_MEMBER, CONFIG_BYTES_MAX, &text, &size_bytes));
  const clm_status status = clm__model_extra_read(text, size_bytes, file);
  clm__mem_free(text);
  return status;
}

static clm_status read_archive(const clm__zip *zip, const clm_log *log, clm__model_file *file)
{
  char *text = NULL;
  size_t size_bytes = 0;
  CLM_REQUIRE(clm__zip_has(zip, WEIGHTS_MEMBER) || !clm__zip_has(zip, "model.weights.npz"),
              CLM_UNSUPPORTED,
              "weights in model.weights.npz are not supported; save the model where h5py is "
              "installed");
  CLM_TRY(clm__zip_read(zip, CONFIG_MEMBER, CONFIG_BYTES_MAX, &text, &size_bytes));
  clm_status status = read_config(text, size_bytes, CONFIG_MEMBER, log, file);
  clm__mem_free(text);
  if (status == CLM_OK) status = read_weights(zip, log, file);
  if (status == CLM_OK) status = read_extra(zip, file);
  return status;
}

typedef enum file_kind { KIND_ARCHIVE, KIND_HDF5, KIND_TEXT } file_kind;

static file_kind kind_of(const void *bytes, size_t size_bytes)
{
  if (size_bytes >= 4 && memcmp(bytes, "PK\3\4", 4) == 0) return KIND_ARCHIVE;
  if (size_bytes >= 8 && memcmp(bytes, "\x89HDF\r\n\x1a\n", 8) == 0) return KIND_HDF5;
  return KIND_TEXT;
}

/* Reads a text, or refuses what is neither text nor archive. */
static clm_status read_other(const char *bytes, size_t size_bytes, const clm_log *log,
                             clm__model_file *file)
{
  CLM_REQUIRE(
      kind_of(bytes, size_bytes) != KIND_HDF5, CLM_UNSUPPORTED,
      "it is an HDF5 file, as Keras 2 saved models; load it in Keras and save it as .keras");
  return read_config(bytes, size_bytes, "the model", log, file);
}

clm_status clm__model_file_read_bytes(const void *bytes, size_t size_bytes, const clm_log *log,
                                      clm__model_file *file)
{
  clm__model_file read = {0};
  clm__zip *zip = NULL;
  clm_status status = CLM_OK;
  if (kind_of(bytes, size_bytes) == KIND_ARCHIVE) {
    status = clm__zip_open_bytes(bytes, size_bytes, &zip);
    if (status == CLM_OK) status = read_archive(zip, log, &read);
    clm__zip_close(zip);
  } else {
    status = read_other(bytes, size_bytes, log, &read);
  }
  if (status != CLM_OK) {
    clm__model_file_fini(&read);
    return status;
  }
  *file = read;
  return CLM_OK;
}

clm_status clm__model_file_read(const char *path, const clm_log *log, clm__model_file *file)
{
  char *bytes = NULL;
  size_t size_bytes = 0;
  CLM_TRY(clm__file_read(path, WEIGHTS_BYTES_MAX, &bytes, &size_bytes));
  const clm_status status = clm__model_file_read_bytes(bytes, size_bytes, log, file);
  clm__mem_free(bytes);
  return status == CLM_OK ? CLM_OK : clm__error_prefix(status, "cannot read %s: ", path);
}

clm_status clm__model_file_to_json(const clm__graph *graph, char **text)
{
  clm__json_writer writer = {0};
  clm__keras_write_model(&writer, graph, NULL);
  return clm__json_take(&writer, text);
}
