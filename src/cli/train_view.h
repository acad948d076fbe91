/* What a training says: its start, its progress, its end. */
#ifndef CLM_CLI_TRAIN_VIEW_H
#define CLM_CLI_TRAIN_VIEW_H

#include "cli/progress.h"

typedef struct clm__train_view {
  const clm__cli_config *config;
  clm__progress progress;
  const clm_train_result
      *result;          /* that clm_train fills: its folder is known before the first step */
  size_t bad_files;     /* left out before the first step, and told then */
  double images;        /* trained on in this run */
  double train_seconds; /* in the epochs that ended */
} clm__train_view;

/* Before the training: this rank's log file begins. */
void clm__train_view_begin(const clm__train_view *view);

/* The callback that shows a training in view. */
clm_callback clm__train_view_callback(clm__train_view *view);

/* What came of it; a failure is said once by all ranks. status: clm_train's. */
void clm__train_view_end(const clm__train_view *view, const clm_train_result *result,
                         clm_status status);

#endif
