#include "train/monitor.h"

#include <math.h>
#include <string.h>

clm_status clm__monitor_parse(const char *name, bool has_validation, clm__monitored *figure)
{
  static const char *const names[] = {"loss", "accuracy", "val_loss", "val_accuracy"};
  if (name == NULL) {
    *figure = has_validation ? CLM__MONITOR_VAL_LOSS : CLM__MONITOR_LOSS;
    return CLM_OK;
  }
  for (int i = 0; i < 4; i++) {
    if (strcmp(name, names[i]) != 0) continue;
    CLM_REQUIRE(has_validation || i < CLM__MONITOR_VAL_LOSS, CLM_USAGE,
                "cannot monitor %s: no image validates (--validation-split)", name);
    *figure = (clm__monitored)i;
    return CLM_OK;
  }
  CLM_FAIL(CLM_USAGE, "cannot monitor '%s': loss, accuracy, val_loss and val_accuracy are known",
           name);
}

static double figure_of(const clm__monitor *monitor, const clm__epoch_record *record)
{
  switch (monitor->figure) {
  case CLM__MONITOR_LOSS:
    return record->loss;
  case CLM__MONITOR_ACCURACY:
    return record->accuracy;
  case CLM__MONITOR_VAL_LOSS:
    return record->val_loss;
  case CLM__MONITOR_VAL_ACCURACY:
    return record->val_accuracy;
  }
  return NAN;
}

static bool is_better(const clm__monitor *monitor, double value, double best)
{
  const bool larger_is_better =
      monitor->figure == CLM__MONITOR_ACCURACY || monitor->figure == CLM__MONITOR_VAL_ACCURACY;
  return larger_is_better ? value - monitor->delta > best : value + monitor->delta < best;
}

bool clm__monitor_update(const clm__monitor *monitor, const clm__epoch_record *record, int epoch,
                         clm__run_state *state)
{
  const double value = figure_of(monitor, record);
  if (isnan(value)) return false;
  if (state->best_epoch >= 0 && !is_better(monitor, value, state->best_value)) {
    state->epochs_without_better++;
    return false;
  }
  state->best_epoch = epoch;
  state->best_value = value;
  state->epochs_without_better = 0;
  return true;
}

bool clm__monitor_is_over(const clm__monitor *monitor, const clm__run_state *state)
{
  return monitor->patience > 0 && state->epochs_without_better >= monitor->patience;
}
