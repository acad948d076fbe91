/* The curves of a run as TensorBoard's event files, under the names of Keras' callback. Epochs and
 * steps count differently, so each folder has one of them: a viewer that is told of a resumed run
 * drops whatever the folder holds from that number on. */
#ifndef CLM_TRAIN_EVENTS_H
#define CLM_TRAIN_EVENTS_H

#include "clematis/train.h"
#include "graph/weights.h"
#include "train/run_folder.h"
#include "train/team.h"

typedef struct clm__events clm__events;

/* Curves in tensorboard/train, validation and steps of the run's folder, which go on at this epoch
 * and this step (counted from the first of all). Nothing is written yet. Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__events_create(const clm__run_folder *folder, int64_t first_epoch,
                                             int64_t first_step, clm__events **events);
/* Drops what was not flushed; takes NULL. */
void clm__events_destroy(clm__events *events);

/* The figures of a finished epoch. Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__events_add_epoch(clm__events *events, const clm_epoch_info *info);
/* What each of several devices is worth, rows[count]. Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__events_add_devices(clm__events *events, int epoch,
                                                  const clm__team_row *rows, int count);
/* A histogram of each weight. Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__events_add_weights(clm__events *events, int epoch,
                                                  const clm__graph *graph,
                                                  const clm__weights *weights);
/* Running means after a step. Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__events_add_step(clm__events *events, int64_t step,
                                               const clm_figures *figures);

/* Writes what was added; what cannot be written waits for the next time. Errors: IO, NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__events_flush(clm__events *events);

#endif
