/* Checkpoints written beside training, by a thread of their own.
 *
 * The arrays of the model that the saver was made with are the copy that it writes from: training
 * goes on on the devices, and who fetches new values into the arrays waits for the saver first. */
#ifndef CLM_TRAIN_SAVER_H
#define CLM_TRAIN_SAVER_H

#include "sys/trace.h"
#include "train/checkpoint.h"

typedef struct clm__saver_config {
  const clm__run_folder *folder; /* borrowed until destroyed */
  const clm__model_file *model;  /* borrowed until destroyed */
  int keep;                      /* checkpoints */
  clm__trace *trace;             /* borrowed until destroyed; NULL: off */
} clm__saver_config;

typedef struct clm__saver clm__saver;

/* Touches the pages of the model's arrays, so that the first copy does not wait for the system to
 * give them. Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__saver_create(const clm__saver_config *config, clm__saver **saver);
/* Waits for what is being written; takes NULL. */
void clm__saver_destroy(clm__saver *saver);

/* Whether the arrays are being read. */
bool clm__saver_is_busy(clm__saver *saver);
/* Waits until they are not. */
void clm__saver_wait(clm__saver *saver);

/* What is to be written. */
typedef struct clm__saver_job {
  const clm__run_state *state; /* borrowed for the call */
  bool to_best;                /* best.keras */
  bool to_checkpoints;         /* checkpoints/images-N.keras; older ones are removed then */
} clm__saver_job;

/* Begins to write the model as it is now. The saver is not busy. Errors: NO_MEMORY; what cannot be
 * written is told by clm__saver_take_failure. */
CLM_MUST_CHECK clm_status clm__saver_start(clm__saver *saver, const clm__saver_job *job);

/* Raises, once each, what could not be written since the last call; CLM_OK where there is nothing
 * more. The saver is not busy. */
CLM_MUST_CHECK clm_status clm__saver_take_failure(clm__saver *saver);

#endif
