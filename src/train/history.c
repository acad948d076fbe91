#include "train/history.h"

#include "base/mem.h"
#include "base/str.h"
#include "io/json.h"
#include "sys/file.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* The columns in the order of their names. */
typedef struct column {
  const char *name;
  size_t offset;
} column;

static const column columns[] = {{"accuracy", offsetof(clm__epoch_record, accuracy)},
                                 {"learning_rate", offsetof(clm__epoch_record, learning_rate)},
                                 {"loss", offsetof(clm__epoch_record, loss)},
                                 {"val_accuracy", offsetof(clm__epoch_record, val_accuracy)},
                                 {"val_loss", offsetof(clm__epoch_record, val_loss)}};
#define COLUMN_COUNT (sizeof columns / sizeof *columns)

static double value_at(const clm__epoch_record *record, const column *at)
{
  return *(const double *)((const char *)record + at->offset);
}

static clm_status write_csv(const clm__run_state *state, clm__str *text)
{
  CLM_TRY(clm__str_add(text, "epoch"));
  for (size_t c = 0; c < COLUMN_COUNT; c++) CLM_TRY(clm__str_add(text, ",%s", columns[c].name));
  CLM_TRY(clm__str_add(text, "\r\n"));
  for (int epoch = 0; epoch < state->epoch; epoch++) {
    CLM_TRY(clm__str_add(text, "%d", epoch));
    for (size_t c = 0; c < COLUMN_COUNT; c++) {
      const double value = value_at(&state->epochs[epoch], &columns[c]);
      CLM_TRY(isnan(value) ? clm__str_add(text, ",NA") : clm__str_add(text, ",%.17g", value));
    }
    CLM_TRY(clm__str_add(text, "\r\n"));
  }
  return CLM_OK;
}

static void put_column(clm__json_writer *writer, const clm__run_state *state, const column *at)
{
  clm__json_begin_list(writer, at->name);
  for (int epoch = 0; epoch < state->epoch; epoch++)
    clm__json_put_number(writer, NULL, value_at(&state->epochs[epoch], at));
  clm__json_end_list(writer);
}

static clm_status make_json(const clm__run_state *state, char **text)
{
  clm__json_writer writer = {0};
  clm__json_begin_object(&writer, NULL);
  clm__json_begin_list(&writer, "epoch");
  for (int epoch = 0; epoch < state->epoch; epoch++) clm__json_put_int(&writer, NULL, epoch);
  clm__json_end_list(&writer);
  for (size_t c = 0; c < COLUMN_COUNT; c++) put_column(&writer, state, &columns[c]);
  clm__json_end_object(&writer);
  return clm__json_take(&writer, text);
}

static clm_status make_csv(const clm__run_state *state, char **text)
{
  clm__str lines = {0};
  const clm_status status = write_csv(state, &lines);
  if (status != CLM_OK) {
    clm__str_fini(&lines);
    return status;
  }
  return clm__str_take(&lines, text);
}

static clm_status write_one(const char *path, const clm__run_state *state,
                            clm_status (*make)(const clm__run_state *, char **))
{
  char *text = NULL;
  CLM_TRY(make(state, &text));
  const clm_status status = clm__file_write(path, text, strlen(text));
  clm__mem_free(text);
  return status;
}

clm_status clm__history_write(const clm__run_folder *folder, const clm__run_state *state)
{
  CLM_TRY(write_one(folder->history_csv, state, make_csv));
  return write_one(folder->history_json, state, make_json);
}
