/* Enqueuing a kernel: arguments are pushed in order and counted, never numbered by hand.
 *
 *   clm__launch launch = clm__launch_begin(&kernel);
 *   clm__launch_buffer(&launch, y);
 *   clm__launch_int(&launch, batch);
 *   CLM_TRY(clm__launch_run(&launch, 2, (size_t[]){width, height * batch}, NULL));
 *
 * Errors of the pushes are kept and reported by the run. */
#ifndef CLM_DEV_LAUNCH_H
#define CLM_DEV_LAUNCH_H

#include "dev/program.h"

typedef struct clm__launch {
  clm__kernel *kernel;
  cl_uint next; /* argument */
  cl_int code;  /* first failure */
} clm__launch;

clm__launch clm__launch_begin(clm__kernel *kernel);
void clm__launch_buffer(clm__launch *launch, cl_mem buffer); /* NULL is a null pointer there */
void clm__launch_int(clm__launch *launch, int value);
void clm__launch_uint(clm__launch *launch, uint32_t value);
void clm__launch_float(clm__launch *launch, float value);
void clm__launch_local(clm__launch *launch, size_t size_bytes); /* local memory */

/* Enqueues with at least items[0..dims) work-items (1 <= dims <= 3): sizes are rounded up to the
 * group, so kernels test their bounds. group NULL: chosen for the device within the kernel's
 * limit. A given group larger than the limit is an error (INTERNAL): ask kernel.group_max before.
 * Any item count of 0 enqueues nothing. Errors: DEVICE_FAILED, INTERNAL (argument count). */
CLM_MUST_CHECK clm_status clm__launch_run(clm__launch *launch, int dims, const size_t *items,
                                          const size_t *group);

#endif
