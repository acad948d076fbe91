/* The shares of a job's replicas over a run, as --shares, the log and checkpoints write them:
 *
 *   1,3                            throughout
 *   500,500;13:700,300;45:650,350  from step 13, from step 45 on others
 *
 * Steps are counted from the first one of the run, which is 1. Measured shares depend on the clock;
 * such a text replays them. */
#ifndef CLM_TRAIN_SHARE_PLAN_H
#define CLM_TRAIN_SHARE_PLAN_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

typedef struct clm__share_plan {
  size_t count;    /* sets of shares, 0: none are given */
  int replicas;    /* shares of a set */
  uint64_t *steps; /* [count] the first step of each, rising */
  double *shares;  /* [count][replicas] relative, above 0 */
} clm__share_plan;

/* Errors: USAGE, NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__share_plan_read(const char *text, int replicas,
                                               clm__share_plan *plan);
void clm__share_plan_fini(clm__share_plan *plan);

/* The set that counts in a step; before the first one begins it is that. */
size_t clm__share_plan_find(const clm__share_plan *plan, uint64_t step);

/* The text of a plan with other shares, "1,3", from a step on: what it says of that step and later
 * ones is dropped, all of it where it is for another number of replicas (or NULL), and shares that
 * count already are not said again. *after is taken by the caller. Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__share_plan_extend(const char *before, uint64_t step,
                                                 const char *shares, char **after);

#endif
