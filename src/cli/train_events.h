/* What a training tells other programs: the events of `--progress json`, one a line.
 * docs/training.md lists their fields. Epochs and steps are counted from 1 here. */
#ifndef CLM_CLI_TRAIN_EVENTS_H
#define CLM_CLI_TRAIN_EVENTS_H

#include "clematis/clematis.h"

/* ranks: of the job. bad_files: left out before the first step. */
void clm__train_events_start(const clm_run_info *info, int ranks, size_t bad_files);

/* left_seconds: to the end of this epoch's training. */
void clm__train_events_step(const clm_step_info *info, double left_seconds);
void clm__train_events_validation(const clm_step_info *last, size_t done, size_t count);
void clm__train_events_epoch(const clm_epoch_info *info);
void clm__train_events_checkpoint(const clm_checkpoint_info *info);

/* The last line. status: what the program ends with; message: of a failure. */
void clm__train_events_end(const clm_train_result *result, clm_status status, const char *message);

#endif
