/* The progress of a training: Keras' bar on a terminal, plain lines elsewhere. */
#ifndef CLM_CLI_PROGRESS_H
#define CLM_CLI_PROGRESS_H

#include "cli/config.h"

#include <stdbool.h>

typedef struct clm__progress {
  clm__progress_kind kind; /* settled: never AUTO */
  bool has_colour;
  bool is_ascii;
  double said_seconds; /* of the clock, when something was drawn or printed last */
  clm_step_info first; /* of this epoch: it may contain building the kernels */
  clm_step_info last;  /* for the bar during validation */
  bool has_first;
} clm__progress;

/* What AUTO means here and now. */
clm__progress_kind clm__progress_settle(clm__progress_kind kind);

clm__progress clm__progress_begin(clm__progress_kind kind);

void clm__progress_epoch_begin(clm__progress *progress, int epoch, int epochs);
void clm__progress_step(clm__progress *progress, const clm_step_info *info);
void clm__progress_validation(clm__progress *progress, size_t done, size_t count);
void clm__progress_epoch_end(clm__progress *progress, const clm_epoch_info *info);

#endif
