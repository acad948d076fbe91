/* The OpenCL devices of this machine. */
#ifndef CLEMATIS_DEVICE_H
#define CLEMATIS_DEVICE_H

#include "clematis/log.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a device says of itself. */
typedef struct clm_device_description {
  char id[16]; /* "gpu0", "cpu0": for --devices */
  char name[128];
  char vendor[128];
  char platform[128];
  char platform_version[128];
  char driver_version[128];
  const char *kind; /* "GPU", "accelerator", "CPU"; static storage */
  int is_default;   /* used where no device is named */
  int is_emulator;
  int is_duplicate; /* the same card is listed before under another platform */
  int compute_units;
  int clock_mhz;
  uint64_t memory_bytes;
  uint64_t buffer_max_bytes;
  uint64_t local_bytes;
  size_t group_max; /* largest work-group */
} clm_device_description;

/* Lists the devices in the order of their ids. *devices is taken by the caller: clm_devices_free.
 * log may be NULL. Threads: any. Errors: NO_DEVICE (none: the message says what to install). */
CLM_API CLM_MUST_CHECK clm_status clm_devices_list(const clm_log *log,
                                                   clm_device_description **devices,
                                                   size_t *count);
/* Frees a list; takes NULL. */
CLM_API void clm_devices_free(clm_device_description *devices);

typedef struct clm_device_speed {
  double gflops;  /* float32 multiply-adds, 10^9 operations a second */
  double gbytes;  /* reading and writing memory, 10^9 bytes a second */
} clm_device_speed;

/* Measures a device for about a second. id: as listed. Errors: NO_DEVICE, DEVICE_FAILED. */
CLM_API CLM_MUST_CHECK clm_status clm_device_measure(const char *id, const clm_log *log,
                                                     clm_device_speed *speed);

/* One check of the self-test. */
typedef struct clm_selftest_result {
  const char *device; /* id; borrowed for the call */
  const char *what;   /* "conv2d.fwd cpu 7x5x3", "gemm 257x129x65" */
  int passed;
  double error;   /* largest relative difference from the reference */
  double allowed;
} clm_selftest_result;

typedef struct clm_selftest_config {
  const char *devices; /* as --devices; NULL: the default ones */
  const clm_log *log;
  void (*on_result)(void *user, const clm_selftest_result *result);
  void *user;
} clm_selftest_config;

/* Runs every variant of every op against plain C loops in double, and GEMM at odd sizes, on every
 * chosen device. Errors: NO_DEVICE, DEVICE_FAILED (a check failed: names the first one). */
CLM_API CLM_MUST_CHECK clm_status clm_selftest(const clm_selftest_config *config);

#ifdef __cplusplus
}
#endif
#endif
