#include "io/model_file.h"

#include "base/mem.h"
#include "io/keras_config.h"
#include "io/keras_weights.h"
#include "io/model_extra.h"
#include "io/zip.h"
#include "sys/clock.h"

#include <string.h>

/* The oldest Keras that reads all that is written here; Keras itself does not look at it. */
#define KERAS_VERSION "3.4.0"

/* The members of an archive before they are packed. */
typedef struct parts {
  char *metadata;
  char *config;
  char *weights;
  size_t weights_bytes;
  char *extra;
} parts;

static clm_status make_metadata(char **text)
{
  char stamp[CLM__CLOCK_STAMP_SIZE];
  clm__json_writer writer = {0};
  clm__json_begin_object(&writer, NULL);
  clm__json_put_text(&writer, "keras_version", KERAS_VERSION);
  clm__json_put_text(&writer, "date_saved", clm__clock_stamp(stamp));
  clm__json_end_object(&writer);
  return clm__json_take(&writer, text);
}

static clm_status make_config(const clm__model_file *file, char **text)
{
  clm__json_writer writer = {0};
  clm__keras_write_model(&writer, file->graph, &file->compile);
  return clm__json_take(&writer, text);
}

static clm_status make_hdf5(const clm__model_file *file, char **bytes, size_t *size_bytes)
{
  clm__hdf5 *hdf5 = NULL;
  CLM_TRY(clm__hdf5_create(&hdf5));
  const clm__compile *compile = &file->compile;
  clm_status status = clm__keras_write_weights(hdf5, file->graph, file->weights);
  if (status == CLM_OK)
    status = clm__keras_write_optim(hdf5, compile->optim, compile->optim_attributes,
                                    file->optim_state, file->weights);
  if (status == CLM_OK) status = clm__hdf5_take_image(hdf5, bytes, size_bytes);
  clm__hdf5_close(hdf5);
  return status;
}

static clm_status make_weights(const clm__model_file *file, char **bytes, size_t *size_bytes)
{
  clm__hdf5_enter();
  const clm_status status = make_hdf5(file, bytes, size_bytes);
  clm__hdf5_leave();
  return status;
}

static clm_status make_parts(const clm__model_file *file, parts *made)
{
  CLM_TRY(make_metadata(&made->metadata));
  CLM_TRY(make_config(file, &made->config));
  CLM_TRY(make_weights(file, &made->weights, &made->weights_bytes));
  return file->extra == NULL ? CLM_OK : clm__model_extra_write(file, &made->extra);
}

static void free_parts(parts *made)
{
  clm__mem_free(made->extra);
  clm__mem_free(made->weights);
  clm__mem_free(made->config);
  clm__mem_free(made->metadata);
}

static size_t list_members(const parts *made, clm__zip_member members[4])
{
  members[0] = (clm__zip_member){"metadata.json", made->metadata, strlen(made->metadata)};
  members[1] = (clm__zip_member){"config.json", made->config, strlen(made->config)};
  members[2] = (clm__zip_member){"model.weights.h5", made->weights, made->weights_bytes};
  if (made->extra == NULL) return 3;
  members[3] = (clm__zip_member){CLM__EXTRA_MEMBER, made->extra, strlen(made->extra)};
  return 4;
}

clm_status clm__model_file_pack(const clm__model_file *file, char **bytes, size_t *size_bytes)
{
  parts made = {0};
  clm__zip_member members[4];
  clm_status status = make_parts(file, &made);
  if (status == CLM_OK)
    status = clm__zip_pack(members, list_members(&made, members), bytes, size_bytes);
  free_parts(&made);
  return status;
}

clm_status clm__model_file_write(const char *path, const clm__model_file *file)
{
  parts made = {0};
  clm__zip_member members[4];
  clm_status status = make_parts(file, &made);
  if (status == CLM_OK) status = clm__zip_write(path, members, list_members(&made, members));
  free_parts(&made);
  return status;
}
