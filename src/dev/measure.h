/* What a device reaches: arithmetic and memory. */
#ifndef CLM_DEV_MEASURE_H
#define CLM_DEV_MEASURE_H

#include "dev/device.h"

typedef struct clm__measured {
  double gflops; /* float32, a fused multiply-add counts as two */
  double gbytes; /* GB/s, read and written, in buffers larger than the caches where possible */
  double launch_seconds; /* from enqueuing an empty kernel to its end */
} clm__measured;

/* Measures for about a second; the device does nothing else meanwhile. Errors: those of programs,
 * buffers and launches. */
CLM_MUST_CHECK clm_status clm__measure(clm__device *device, clm__measured *result);

#endif
