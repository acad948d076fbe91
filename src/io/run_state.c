#include "io/run_state.h"

#include "base/mem.h"
#include "io/json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT 1
#define CLASSES_MAX 1000000
#define EPOCHS_MAX 100000000

void clm__run_state_fini(clm__run_state *state)
{
  for (int i = 0; i < state->class_count && state->class_names != NULL; i++)
    clm__mem_free(state->class_names[i]);
  clm__mem_free(state->class_names);
  clm__mem_free(state->epochs);
  clm__mem_free(state->shares);
  *state = (clm__run_state){0};
}

clm_status clm__run_state_set_classes(clm__run_state *state, const char *const *names, int count)
{
  CLM_ASSERT(state->class_names == NULL);
  CLM_TRY(clm__mem_alloc((size_t)count, sizeof *state->class_names, &state->class_names));
  state->class_count = count;
  for (int i = 0; i < count; i++) CLM_TRY(clm__mem_copy_text(names[i], &state->class_names[i]));
  return CLM_OK;
}

clm_status clm__run_state_end_epoch(clm__run_state *state, const clm__epoch_record *record)
{
  CLM_TRY(clm__mem_resize((size_t)state->epoch + 1, sizeof *state->epochs, &state->epochs));
  state->epochs[state->epoch++] = *record;
  state->step = 0;
  state->loss_sum = 0.0;
  state->hit_count = 0;
  state->image_count = 0;
  return CLM_OK;
}

/* ---- writing ---- */

/* 64-bit patterns do not fit JSON's numbers, so they are hexadecimal texts. */
static void put_bits(clm__json_writer *writer, const char *key, uint64_t bits)
{
  char text[24];
  (void)snprintf(text, sizeof text, "0x%016" PRIx64, bits);
  clm__json_put_text(writer, key, text);
}

static void put_epoch(clm__json_writer *writer, const clm__epoch_record *record)
{
  clm__json_begin_object(writer, NULL);
  clm__json_put_number(writer, "loss", record->loss);
  clm__json_put_number(writer, "accuracy", record->accuracy);
  clm__json_put_number(writer, "val_loss", record->val_loss);
  clm__json_put_number(writer, "val_accuracy", record->val_accuracy);
  clm__json_put_number(writer, "learning_rate", record->learning_rate);
  clm__json_end_object(writer);
}

clm_status clm__run_state_to_json(const clm__run_state *state, char **text)
{
  clm__json_writer writer = {0};
  clm__json_begin_object(&writer, NULL);
  clm__json_put_int(&writer, "format", FORMAT);
  put_bits(&writer, "seed", state->seed);
  clm__json_put_int(&writer, "batch_size", state->batch_size);
  put_bits(&writer, "data_digest", state->data_digest);
  clm__json_begin_list(&writer, "class_names");
  for (int i = 0; i < state->class_count; i++)
    clm__json_put_text(&writer, NULL, state->class_names[i]);
  clm__json_end_list(&writer);
  clm__json_put_int(&writer, "epoch", state->epoch);
  clm__json_put_int(&writer, "step", (int64_t)state->step);
  clm__json_put_int(&writer, "images_seen", (int64_t)state->images_seen);
  clm__json_put_number(&writer, "loss_sum", state->loss_sum);
  clm__json_put_int(&writer, "hit_count", (int64_t)state->hit_count);
  clm__json_put_int(&writer, "image_count", (int64_t)state->image_count);
  clm__json_put_int(&writer, "best_epoch", state->best_epoch);
  clm__json_put_number(&writer, "best_value", state->best_value);
  clm__json_put_int(&writer, "epochs_without_better", state->epochs_without_better);
  if (state->shares != NULL) {
    clm__json_put_text(&writer, "shares", state->shares);
    clm__json_put_int(&writer, "shares_step", (int64_t)state->shares_step);
  }
  clm__json_begin_list(&writer, "epochs");
  for (int i = 0; i < state->epoch; i++) put_epoch(&writer, &state->epochs[i]);
  clm__json_end_list(&writer);
  clm__json_end_object(&writer);
  return clm__json_take(&writer, text);
}

/* ---- reading ---- */

static clm_status get_bits(const clm__json_at *object, const char *key, uint64_t *bits)
{
  const clm__json_at at = clm__json_find(object, key);
  const char *text = NULL;
  CLM_TRY(clm__json_get_text(&at, &text));
  char *end = NULL;
  errno = 0;
  const unsigned long long value = strtoull(text, &end, 16);
  if (errno != 0 || end == text || *end != '\0')
    return clm__json_fail(&at, CLM_BAD_DATA, "is no hexadecimal number");
  *bits = value;
  return CLM_OK;
}

static clm_status get_count(const clm__json_at *object, const char *key, uint64_t *count)
{
  const clm__json_at at = clm__json_find(object, key);
  int64_t value = 0;
  CLM_TRY(clm__json_get_int(&at, 0, INT64_MAX, &value));
  *count = (uint64_t)value;
  return CLM_OK;
}

static clm_status get_int(const clm__json_at *object, const char *key, int least, int most,
                          int *value)
{
  const clm__json_at at = clm__json_find(object, key);
  int64_t wide = 0;
  CLM_TRY(clm__json_get_int(&at, least, most, &wide));
  *value = (int)wide;
  return CLM_OK;
}

/* null stands for what is not a number. */
static clm_status get_figure(const clm__json_at *object, const char *key, double *value)
{
  const clm__json_at at = clm__json_find(object, key);
  if (clm__json_kind_of(&at) == CLM__JSON_NULL) {
    *value = NAN;
    return CLM_OK;
  }
  return clm__json_get_number(&at, value);
}

static clm_status get_classes(const clm__json_at *root, clm__run_state *state)
{
  const clm__json_at list = clm__json_find(root, "class_names");
  CLM_TRY(clm__json_require(&list, CLM__JSON_LIST));
  const size_t count = clm__json_count(&list);
  if (count > CLASSES_MAX) return clm__json_fail(&list, CLM_BAD_DATA, "has too many entries");
  CLM_TRY(clm__mem_alloc(count, sizeof *state->class_names, &state->class_names));
  state->class_count = (int)count;
  for (size_t i = 0; i < count; i++) {
    const clm__json_at at = clm__json_item(&list, i);
    const char *name = NULL;
    CLM_TRY(clm__json_get_text(&at, &name));
    CLM_TRY(clm__mem_copy_text(name, &state->class_names[i]));
  }
  return CLM_OK;
}

static clm_status get_epochs(const clm__json_at *root, clm__run_state *state)
{
  const clm__json_at list = clm__json_find(root, "epochs");
  CLM_TRY(clm__json_require(&list, CLM__JSON_LIST));
  if (clm__json_count(&list) != (size_t)state->epoch)
    return clm__json_fail(&list, CLM_BAD_DATA, "does not have one entry a finished epoch");
  CLM_TRY(clm__mem_alloc((size_t)state->epoch, sizeof *state->epochs, &state->epochs));
  for (int i = 0; i < state->epoch; i++) {
    const clm__json_at at = clm__json_item(&list, (size_t)i);
    clm__epoch_record *record = &state->epochs[i];
    CLM_TRY(get_figure(&at, "loss", &record->loss));
    CLM_TRY(get_figure(&at, "accuracy", &record->accuracy));
    CLM_TRY(get_figure(&at, "val_loss", &record->val_loss));
    CLM_TRY(get_figure(&at, "val_accuracy", &record->val_accuracy));
    CLM_TRY(get_figure(&at, "learning_rate", &record->learning_rate));
  }
  return CLM_OK;
}

/* Runs on one device have none. */
static clm_status get_shares(const clm__json_at *root, clm__run_state *state)
{
  const clm__json_at at = clm__json_find(root, "shares");
  if (clm__json_kind_of(&at) == CLM__JSON_MISSING) return CLM_OK;
  const char *text = NULL;
  CLM_TRY(clm__json_get_text(&at, &text));
  CLM_TRY(get_count(root, "shares_step", &state->shares_step));
  return clm__mem_copy_text(text, &state->shares);
}

static clm_status get_state(const clm__json_at *root, clm__run_state *state)
{
  int format = 0;
  CLM_TRY(get_int(root, "format", FORMAT, FORMAT, &format));
  CLM_TRY(get_bits(root, "seed", &state->seed));
  CLM_TRY(get_int(root, "batch_size", 1, INT32_MAX, &state->batch_size));
  CLM_TRY(get_bits(root, "data_digest", &state->data_digest));
  CLM_TRY(get_classes(root, state));
  CLM_TRY(get_int(root, "epoch", 0, EPOCHS_MAX, &state->epoch));
  CLM_TRY(get_count(root, "step", &state->step));
  CLM_TRY(get_count(root, "images_seen", &state->images_seen));
  CLM_TRY(get_figure(root, "loss_sum", &state->loss_sum));
  CLM_TRY(get_count(root, "hit_count", &state->hit_count));
  CLM_TRY(get_count(root, "image_count", &state->image_count));
  CLM_TRY(get_int(root, "best_epoch", -1, EPOCHS_MAX, &state->best_epoch));
  CLM_TRY(get_figure(root, "best_value", &state->best_value));
  CLM_TRY(get_int(root, "epochs_without_better", 0, EPOCHS_MAX, &state->epochs_without_better));
  CLM_TRY(get_shares(root, state));
  return get_epochs(root, state);
}

clm_status clm__run_state_from_json(const char *text, clm__run_state *state)
{
  clm__json *json = NULL;
  CLM_TRY(clm__json_parse(text, strlen(text), "the run's state", &json));
  clm__run_state read = {0};
  const clm__json_at root = clm__json_root(json);
  const clm_status status = get_state(&root, &read);
  clm__json_free(json);
  if (status != CLM_OK) {
    clm__run_state_fini(&read);
    return status;
  }
  *state = read;
  return CLM_OK;
}
