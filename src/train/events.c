#include "train/events.h"

#include "base/mem.h"
#include "base/str.h"
#include "io/event_file.h"

#include <math.h>
#include <stdbool.h>

/* The curves of one folder. */
typedef struct curves {
  clm__event_file *file;
  int64_t first;
  bool are_begun;
} curves;

struct clm__events {
  curves train;
  curves validation;
  curves steps;
};

static clm_status open_curves(const clm__run_folder *folder, const char *name, int64_t first,
                              curves *opened)
{
  clm__str path = {0};
  clm_status status = clm__str_add(&path, "%s/tensorboard/%s", folder->path, name);
  if (status == CLM_OK) status = clm__event_file_create(clm__str_get(&path), &opened->file);
  clm__str_fini(&path);
  opened->first = first;
  return status;
}

clm_status clm__events_create(const clm__run_folder *folder, int64_t first_epoch,
                              int64_t first_step, clm__events **events)
{
  clm__events *made = NULL;
  CLM_TRY(clm__mem_alloc(1, sizeof *made, &made));
  clm_status status = open_curves(folder, "train", first_epoch, &made->train);
  if (status == CLM_OK) status = open_curves(folder, "validation", first_epoch, &made->validation);
  if (status == CLM_OK) status = open_curves(folder, "steps", first_step, &made->steps);
  if (status != CLM_OK) {
    clm__events_destroy(made);
    return status;
  }
  *events = made;
  return CLM_OK;
}

void clm__events_destroy(clm__events *events)
{
  if (events == NULL) return;
  clm__event_file_destroy(events->train.file);
  clm__event_file_destroy(events->validation.file);
  clm__event_file_destroy(events->steps.file);
  clm__mem_free(events);
}

/* Figures of no validation are no points. */
static clm_status add(curves *to, int64_t at, const char *tag, double value)
{
  if (isnan(value)) return CLM_OK;
  if (!to->are_begun) CLM_TRY(clm__event_file_add_start(to->file, to->first));
  to->are_begun = true;
  return clm__event_file_add_scalar(to->file, at, tag, value);
}

clm_status clm__events_add_epoch(clm__events *events, const clm_epoch_info *info)
{
  CLM_TRY(add(&events->train, info->epoch, "epoch_loss", info->figures.loss));
  CLM_TRY(add(&events->train, info->epoch, "epoch_accuracy", info->figures.accuracy));
  CLM_TRY(add(&events->train, info->epoch, "epoch_learning_rate", info->learning_rate));
  CLM_TRY(add(&events->train, info->epoch, "images_per_second", info->images_per_second));
  CLM_TRY(add(&events->train, info->epoch, "wait_seconds", info->wait_seconds));
  CLM_TRY(add(&events->validation, info->epoch, "epoch_loss", info->figures.val_loss));
  return add(&events->validation, info->epoch, "epoch_accuracy", info->figures.val_accuracy);
}

clm_status clm__events_add_step(clm__events *events, int64_t step, const clm_figures *figures)
{
  CLM_TRY(add(&events->steps, step, "batch_loss", figures->loss));
  return add(&events->steps, step, "batch_accuracy", figures->accuracy);
}

clm_status clm__events_flush(clm__events *events)
{
  CLM_TRY(clm__event_file_flush(events->train.file));
  CLM_TRY(clm__event_file_flush(events->validation.file));
  return clm__event_file_flush(events->steps.file);
}
