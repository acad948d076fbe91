/* Comparing and timing the candidates of a tuning task. */
#ifndef CLM_TRAIN_TUNE_MEASURE_H
#define CLM_TRAIN_TUNE_MEASURE_H

#include "train/tune_candidates.h"

/* Largest |candidate - plain| / max(1, |plain|, its root mean square) that passes. */
#define CLM__TUNE_TOLERANCE 1e-4

typedef struct clm__tune_bounds {
  clm__device *device;
  double deadline; /* of clm__clock_seconds */
  /* Called before anything is done with a candidate, so that it is known who ended the process; ""
   * is none of them. */
  void (*on_try)(void *user, const char *name);
  void *user;
} clm__tune_bounds;

/* Compares with plain, then times those that are right. Candidates that are not GOOD when they come
 * are left alone. *is_late: the deadline came first, and the list is not complete. Errors: those of
 * devices; where the last on_try named a candidate, it is its fault. */
CLM_MUST_CHECK clm_status clm__tune_measure(const clm__tune_bounds *bounds,
                                            const clm__tune_task *task, clm__tune_candidates *list,
                                            bool *is_late);

/* The same for CLBlast's parameters: compared on a few products, timed on the passes of the plan
 * that multiply, where the variants are compared with plain later. Those that the deadline left out
 * are REFUSED. The last ones tried stay in use. */
CLM_MUST_CHECK clm_status clm__tune_measure_blas(const clm__tune_bounds *bounds,
                                                 const clm__tune_plan *plan,
                                                 clm__tune_candidates *list);

#endif
