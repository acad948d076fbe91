/* Which epoch is the best so far (keras/src/callbacks/early_stopping.py). */
#ifndef CLM_TRAIN_MONITOR_H
#define CLM_TRAIN_MONITOR_H

#include "base/error.h"
#include "io/run_state.h"

#include <stdbool.h>

typedef enum clm__monitored {
  CLM__MONITOR_LOSS,
  CLM__MONITOR_ACCURACY,
  CLM__MONITOR_VAL_LOSS,
  CLM__MONITOR_VAL_ACCURACY
} clm__monitored;

typedef struct clm__monitor {
  clm__monitored figure;
  double delta; /* least change that counts as better */
  int patience; /* epochs without a better one before a stop; 0: never */
} clm__monitor;

/* The figure of a name ("val_loss"); NULL: val_loss, or loss without validation. Errors: USAGE. */
CLM_MUST_CHECK clm_status clm__monitor_parse(const char *name, bool has_validation,
                                             clm__monitored *figure);

/* Looks at an epoch that has just ended and keeps best_* and epochs_without_better of the state.
 * An epoch whose figure is not a number is never the best and, without validation in it, not
 * counted. Returns whether it is the best so far. */
bool clm__monitor_update(const clm__monitor *monitor, const clm__epoch_record *record, int epoch,
                         clm__run_state *state);

/* Whether patience has run out. */
bool clm__monitor_is_over(const clm__monitor *monitor, const clm__run_state *state);

#endif
