#include "train/events.h"

#include "base/mem.h"
#include "base/str.h"
#include "io/event_file.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

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

static clm_status begin(curves *to)
{
  if (!to->are_begun) CLM_TRY(clm__event_file_add_start(to->file, to->first));
  to->are_begun = true;
  return CLM_OK;
}

/* Figures of no validation are no points. */
static clm_status add(curves *to, int64_t at, const char *tag, double value)
{
  if (isnan(value)) return CLM_OK;
  CLM_TRY(begin(to));
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

static clm_status add_row(curves *to, int epoch, const clm__team_row *row, int device)
{
  const struct {
    const char *name;
    double value;
  } figures[] = {{"share", row->share},
                 {"images_per_second", row->images_per_second},
                 {"wait_share", row->wait_share}};
  for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
    char tag[64];
    (void)snprintf(tag, sizeof tag, "device_%d/%s", device, figures[i].name);
    CLM_TRY(add(to, epoch, tag, figures[i].value));
  }
  return CLM_OK;
}

clm_status clm__events_add_devices(clm__events *events, int epoch, const clm__team_row *rows,
                                   int count)
{
  for (int i = 0; i < count; i++) CLM_TRY(add_row(&events->train, epoch, &rows[i], i));
  return CLM_OK;
}

/* ---- histograms ---- */

/* As many as TensorFlow's. */
enum { BUCKETS = 30 };

static void find_range(const float *values, size_t count, double *least, double *most)
{
  *least = *most = (double)values[0];
  for (size_t i = 1; i < count; i++) {
    *least = fmin(*least, (double)values[i]);
    *most = fmax(*most, (double)values[i]);
  }
}

/* Buckets of one width from the least to the largest value, which the last one includes. */
static void fill_buckets(const float *values, size_t count, clm__event_bucket *buckets)
{
  double least = 0.0;
  double most = 0.0;
  find_range(values, count, &least, &most);
  const double width = (most - least) / BUCKETS;
  for (int b = 0; b < BUCKETS; b++)
    buckets[b] = (clm__event_bucket){.left = least + width * b,
                                     .right = b == BUCKETS - 1 ? most : least + width * (b + 1)};
  for (size_t i = 0; i < count; i++) {
    const double place = width > 0.0 ? ((double)values[i] - least) / width : BUCKETS;
    buckets[place < BUCKETS - 1 ? (int)place : BUCKETS - 1].count += 1.0;
  }
}

static clm_status add_weight(curves *to, int epoch, const clm__graph *graph,
                             const clm__weights *weights, const clm__weight *weight)
{
  clm__event_bucket buckets[BUCKETS];
  clm__str tag = {0};
  if (weight->elements == 0) return CLM_OK;
  fill_buckets(weights->values + weight->offset, weight->elements, buckets);
  clm_status status = begin(to);
  if (status == CLM_OK)
    status = clm__str_add(&tag, "%s/%s/histogram", graph->layers[weight->layer].name, weight->name);
  if (status == CLM_OK)
    status = clm__event_file_add_histogram(to->file, epoch, clm__str_get(&tag), buckets, BUCKETS);
  clm__str_fini(&tag);
  return status;
}

clm_status clm__events_add_weights(clm__events *events, int epoch, const clm__graph *graph,
                                   const clm__weights *weights)
{
  for (int i = 0; i < weights->count; i++)
    CLM_TRY(add_weight(&events->train, epoch, graph, weights, &weights->items[i]));
  return CLM_OK;
}

/* ---- */

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
