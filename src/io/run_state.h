/* Where a run stands: what a checkpoint holds besides the model, as the JSON text of our own member
 * of a .keras archive. Counters are 64-bit and do not depend on devices. */
#ifndef CLM_IO_RUN_STATE_H
#define CLM_IO_RUN_STATE_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* The figures of one finished epoch; val_ ones are NaN where there was no validation. */
typedef struct clm__epoch_record {
  double loss;
  double accuracy;
  double val_loss;
  double val_accuracy;
  double learning_rate;
} clm__epoch_record;

/* Zeroed, it is the state of a run that has not begun. */
typedef struct clm__run_state {
  uint64_t seed;
  int batch_size;
  uint64_t data_digest; /* clm__dataset_digest of the samples in use */
  char **class_names;   /* [class_count], owned */
  int class_count;

  int epoch;            /* the epoch to go on with, from 0 */
  uint64_t step;        /* steps of it that are done */
  uint64_t images_seen; /* since the first step of all */
  double loss_sum;      /* of that epoch so far */
  uint64_t hit_count;
  uint64_t image_count;

  int best_epoch;    /* -1: none yet */
  double best_value; /* of the monitored figure */
  int epochs_without_better;

  char *shares;         /* of several devices, as --shares takes them, since the first step that
                           these trained; NULL: one device; owned */
  uint64_t shares_step; /* updates that were done when the last ones began to count */

  clm__epoch_record *epochs; /* [epoch], owned */
} clm__run_state;

void clm__run_state_fini(clm__run_state *state);

/* Copies names. Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__run_state_set_classes(clm__run_state *state,
                                                     const char *const *names, int count);

/* Appends the record of a finished epoch and moves to the next one. Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__run_state_end_epoch(clm__run_state *state,
                                                   const clm__epoch_record *record);

/* To JSON (numbers keep every bit) and back. *text is taken by the caller. Errors of reading:
 * BAD_DATA, where a value is missing or out of its range. */
CLM_MUST_CHECK clm_status clm__run_state_to_json(const clm__run_state *state, char **text);
CLM_MUST_CHECK clm_status clm__run_state_from_json(const char *text, clm__run_state *state);

#endif
