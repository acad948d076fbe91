#include "train/history.h"

#include "base/str.h"
#include "sys/file.h"

#include <math.h>
#include <stddef.h>

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

static clm_status add_value(clm__str *text, double value, const char *missing)
{
  return isnan(value) ? clm__str_add(text, "%s", missing) : clm__str_add(text, "%.17g", value);
}

static clm_status write_csv(const clm__run_state *state, clm__str *text)
{
  CLM_TRY(clm__str_add(text, "epoch"));
  for (size_t c = 0; c < COLUMN_COUNT; c++) CLM_TRY(clm__str_add(text, ",%s", columns[c].name));
  CLM_TRY(clm__str_add(text, "\r\n"));
  for (int epoch = 0; epoch < state->epoch; epoch++) {
    CLM_TRY(clm__str_add(text, "%d", epoch));
    for (size_t c = 0; c < COLUMN_COUNT; c++) {
      CLM_TRY(clm__str_add(text, ","));
      CLM_TRY(add_value(text, value_at(&state->epochs[epoch], &columns[c]), "NA"));
    }
    CLM_TRY(clm__str_add(text, "\r\n"));
  }
  return CLM_OK;
}

static clm_status write_json(const clm__run_state *state, clm__str *text)
{
  CLM_TRY(clm__str_add(text, "{\n  \"epoch\": ["));
  for (int epoch = 0; epoch < state->epoch; epoch++)
    CLM_TRY(clm__str_add(text, "%s%d", epoch > 0 ? ", " : "", epoch));
  for (size_t c = 0; c < COLUMN_COUNT; c++) {
    CLM_TRY(clm__str_add(text, "],\n  \"%s\": [", columns[c].name));
    for (int epoch = 0; epoch < state->epoch; epoch++) {
      CLM_TRY(clm__str_add(text, "%s", epoch > 0 ? ", " : ""));
      CLM_TRY(add_value(text, value_at(&state->epochs[epoch], &columns[c]), "null"));
    }
  }
  return clm__str_add(text, "]\n}\n");
}

static clm_status write_one(const char *path, const clm__run_state *state,
                            clm_status (*make)(const clm__run_state *, clm__str *))
{
  clm__str text = {0};
  clm_status status = make(state, &text);
  if (status == CLM_OK) status = clm__file_write(path, clm__str_get(&text), text.length);
  clm__str_fini(&text);
  return status;
}

clm_status clm__history_write(const clm__run_folder *folder, const clm__run_state *state)
{
  CLM_TRY(write_one(folder->history_csv, state, write_csv));
  return write_one(folder->history_json, state, write_json);
}
