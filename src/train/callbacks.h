/* Telling callbacks in list order, as Keras does. */
#ifndef CLM_TRAIN_CALLBACKS_H
#define CLM_TRAIN_CALLBACKS_H

#include "clematis/train.h"

#include <stdbool.h>

#define CLM__CALLBACKS_MAX 16

typedef struct clm__callbacks {
  clm_callback items[CLM__CALLBACKS_MAX];
  size_t count;
} clm__callbacks;

/* Copies the user's callbacks. Errors: USAGE where there are too many. */
CLM_MUST_CHECK clm_status clm__callbacks_init(clm__callbacks *callbacks, const clm_callback *items,
                                              size_t count);
/* Appends one. */
void clm__callbacks_add(clm__callbacks *callbacks, const clm_callback *callback);

CLM_MUST_CHECK clm_status clm__callbacks_data(const clm__callbacks *callbacks,
                                              const clm_data_report *report);
CLM_MUST_CHECK clm_status clm__callbacks_begin(const clm__callbacks *callbacks,
                                               const clm_run_info *info);
CLM_MUST_CHECK clm_status clm__callbacks_epoch_begin(const clm__callbacks *callbacks, int epoch,
                                                     int epochs);
CLM_MUST_CHECK clm_status clm__callbacks_step(const clm__callbacks *callbacks,
                                              const clm_step_info *info);
CLM_MUST_CHECK clm_status clm__callbacks_validation(const clm__callbacks *callbacks, size_t done,
                                                    size_t count);
CLM_MUST_CHECK clm_status clm__callbacks_epoch_end(const clm__callbacks *callbacks,
                                                   const clm_epoch_info *info);
CLM_MUST_CHECK clm_status clm__callbacks_end(const clm__callbacks *callbacks,
                                             const clm_train_result *result);
void clm__callbacks_checkpoint(const clm__callbacks *callbacks, const clm_checkpoint_info *info);
/* Whether any of them asks to stop. */
bool clm__callbacks_should_stop(const clm__callbacks *callbacks);

#endif
