/* Running one case of the self-test on one device. */
#ifndef CLM_TRAIN_SELFTEST_RUN_H
#define CLM_TRAIN_SELFTEST_RUN_H

#include "train/selftest_case.h"

/* Largest |device - reference| / max(1, |reference|) that passes: the bound that every fast variant
 * is held to. */
#define CLM__SELFTEST_TOLERANCE 1e-4

/* What one variant did in one pass. */
typedef struct clm__selftest_outcome {
  const clm__problem *problem;
  clm__pass pass;
  const char *variant;
  double error;
} clm__selftest_outcome;

/* Runs every usable variant of every pass of a problem and compares it with the reference (ref/);
 * tell gets each outcome. Errors: those of devices, NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__selftest_run(clm__device *device, const clm__problem *problem,
                                            void (*tell)(void *user,
                                                         const clm__selftest_outcome *outcome),
                                            void *user);

#endif
