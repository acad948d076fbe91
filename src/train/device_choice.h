/* From the public run configuration to an opened device and its tuning values. */
#ifndef CLM_TRAIN_DEVICE_CHOICE_H
#define CLM_TRAIN_DEVICE_CHOICE_H

#include "clematis/model.h"
#include "comm/comm.h"
#include "dev/tune.h"

/* Opens the device that the configuration names (the first of several, and says so)
 * and reads tuning values. Both are taken by the caller. Errors: NO_DEVICE, USAGE, BAD_DATA. */
CLM_MUST_CHECK clm_status clm__device_choice_open(const clm_run_config *config,
                                                  clm__device **device, clm__tune **tune);

/* Opens the devices of this rank: those that the configuration names, divided evenly among the
 * ranks of its host. Fewer CPUs than ranks are split or shared, which is told; GPUs never are. Not
 * collective. *devices is taken by the caller (clm__device_choice_close_all). Errors: NO_DEVICE,
 * USAGE, BAD_DATA. */
typedef struct clm__device_wish {
  const clm_run_config *config; /* borrowed for the call */
  const clm__comm *comm;        /* likewise */
  clm__trace *trace; /* that the devices write; borrowed until they are closed; may be NULL */
} clm__device_wish;
CLM_MUST_CHECK clm_status clm__device_choice_open_all(const clm__device_wish *wish,
                                                      clm__device ***devices, int *device_count,
                                                      clm__tune **tune);
/* Takes NULL. */
void clm__device_choice_close_all(clm__device **devices, int device_count);

/* Opens every device that the configuration names, one after the other, and calls visit with it;
 * the first failure ends it. Errors: NO_DEVICE, and those of visit. */
CLM_MUST_CHECK clm_status clm__device_choice_each(
    const clm_run_config *config, clm_status (*visit)(void *user, clm__device *device), void *user);

#endif
