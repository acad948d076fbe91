/* history.csv and history.json: one entry an epoch, Keras' names. */
#ifndef CLM_TRAIN_HISTORY_H
#define CLM_TRAIN_HISTORY_H

#include "io/run_state.h"
#include "train/run_folder.h"

/* Writes both files whole from the finished epochs of a state. The CSV is that of Keras' CSVLogger:
 * sorted names, epochs from 0, CRLF; figures of no validation are NA there and null in JSON.
 * Errors: IO, NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__history_write(const clm__run_folder *folder,
                                             const clm__run_state *state);

#endif
