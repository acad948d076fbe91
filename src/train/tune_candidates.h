/* The candidates of a tuning task, and what became of them. */
#ifndef CLM_TRAIN_TUNE_CANDIDATES_H
#define CLM_TRAIN_TUNE_CANDIDATES_H

#include "clematis/tune.h"
#include "train/tune_plan.h"

#define CLM__TUNE_NAME_SIZE (CLM__TUNE_VARIANT_SIZE + CLM__TUNE_DEFINES_SIZE)
#define CLM__TUNE_NOTE_SIZE 256

/* Plain data, sent from process to process. */
typedef struct clm__tune_candidate {
  clm__tune_values values;
  char name[CLM__TUNE_NAME_SIZE]; /* "cpu TILE_H=2" */
  char note[CLM__TUNE_NOTE_SIZE];
  clm_tune_verdict verdict;
  double error;
  double allowed;
  double seconds; /* 0: not timed */
  bool was_used;
  bool is_used;
} clm__tune_candidate;

/* Zeroed, it is valid and empty. */
typedef struct clm__tune_candidates {
  clm__tune_candidate *items;
  size_t count;
} clm__tune_candidates;

void clm__tune_candidates_fini(clm__tune_candidates *list);

/* Adds a candidate unless it is there; *item points at it, valid until the next one is added. */
CLM_MUST_CHECK clm_status clm__tune_candidates_add(clm__tune_candidates *list,
                                                   const clm__tune_values *values,
                                                   clm__tune_candidate **item);

/* Lists every variant that the device is offered for a task's first problem with its own choice and
 * its declared values, and marks what is used now. */
CLM_MUST_CHECK clm_status clm__tune_candidates_of_task(clm__tune_candidates *list,
                                                       const clm__tune_task *task,
                                                       const clm__device_info *info,
                                                       const clm__tune *tune);

/* Lists CLBlast's parameters for a device, and marks those used now. */
CLM_MUST_CHECK clm_status clm__tune_candidates_of_blas(clm__tune_candidates *list,
                                                       const clm__device_info *info,
                                                       const clm__tune *tune);

/* The fastest of the good ones, marked; but what was used stays unless another one is faster by
 * more than a fiftieth, which is noise. NULL where none is good and timed. */
const clm__tune_candidate *clm__tune_candidates_choose(clm__tune_candidates *list);

#endif
