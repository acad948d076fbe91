/* OpenCL devices: finding, choosing, opening. */
#ifndef CLM_DEV_DEVICE_H
#define CLM_DEV_DEVICE_H

#include "base/log.h"
#include "sys/trace.h"

#include <CL/cl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum clm__device_kind {
  CLM__DEVICE_CPU,
  CLM__DEVICE_GPU,
  CLM__DEVICE_ACCELERATOR
} clm__device_kind;

/* What a device says of itself, after the limits of the test switches. Plain data. */
typedef struct clm__device_info {
  char id[16]; /* "gpu0", "cpu0", "acc0": kind and number in listing order; stable */
  char name[128];
  char vendor[128];
  char platform[128];
  char platform_version[128];
  char driver_version[128];
  char pci[32];  /* "0000:01:00.0", "" where unknown: tells one card seen twice, */
  char uuid[40]; /* as this does */
  clm__device_kind kind;
  bool is_emulator;        /* FPGA emulators and software rasterisers: must be named */
  bool is_duplicate;       /* the same card, or the CPU, stands earlier under another platform */
  bool has_unified_memory; /* host and device share memory: mapping copies nothing */
  bool has_subgroups;
  bool has_exact_divide;   /* correctly rounded division and square root on request */
  bool has_wrong_products; /* the check of matrix products failed: set after opening */
  int compute_units;
  int clock_mhz;
  int vector_width;        /* floats: the hardware's for CPUs, else the preferred; at least 1 */
  size_t group_max;        /* largest work-group */
  size_t item_max[3];      /* largest work-group in each dimension */
  size_t base_align_bytes; /* of sub-buffers */
  uint64_t memory_bytes;
  uint64_t buffer_max_bytes;
  uint64_t local_bytes;
  cl_platform_id platform_handle;
  cl_device_id handle;
} clm__device_info;

/* Lists all devices of all platforms: GPUs, accelerators, then CPUs, each numbered in the order of
 * the platforms' names, so that ids do not depend on how the drivers were found. *infos is taken by
 * the caller (clm__mem_free). A platform that fails to answer and a device that cannot be used are
 * named in a WARNING. Errors: NO_DEVICE where there is no platform or no device (says what to
 * install). */
CLM_MUST_CHECK clm_status clm__device_list(const clm_log *log, clm__device_info **infos,
                                           size_t *count);

/* Gives ids to devices in their order and marks those that stand earlier under another platform;
 * clm__device_list does so. */
void clm__device_number(clm__device_info *infos, size_t count);

/* Chooses devices. spec NULL or "all": every GPU and accelerator once, the CPU only where there is
 * none; "all,cpu" adds it; else ids, kinds ("gpu", "acc", "cpu") or parts of names of devices and
 * platforms, separated by commas, in any case; "cpu0/2" splits a device in two sub-devices, which
 * are named "cpu0/2.0" and "cpu0/2.1". A card under two platforms is taken once unless both ids are
 * given. Emulators must be named. `chosen` are indexes into infos and parts; taken by the caller.
 * Errors: NO_DEVICE where a word matches nothing (the message lists what there is), USAGE where a
 * split is malformed or a device is named whole and split. */
typedef struct clm__device_choice {
  size_t index;   /* in infos */
  int part;       /* 0..part_count-1 */
  int part_count; /* 1: the whole device */
} clm__device_choice;
CLM_MUST_CHECK clm_status clm__device_select(const clm__device_info *infos, size_t count,
                                             const char *spec, clm__device_choice **chosen,
                                             size_t *chosen_count);

/* Work done so far; a test asserts that a step adds nothing to some of these. */
typedef struct clm__device_counts {
  atomic_uint_fast64_t buffers_created;
  atomic_uint_fast64_t programs_built;  /* from source */
  atomic_uint_fast64_t programs_loaded; /* from the disk */
  atomic_uint_fast64_t kernels_enqueued;
  atomic_uint_fast64_t finishes; /* and blocking copies */
  atomic_uint_fast64_t bytes_to_device;
  atomic_uint_fast64_t bytes_from_device;
} clm__device_counts;

/* An opened device: one context, one in-order queue. */
typedef struct clm__device {
  clm__device_info info;
  cl_context context;
  cl_command_queue queue;
  cl_device_id handle; /* the device or the sub-device */
  clm__device_counts counts;
  struct clm__program_table *programs; /* built ones, shared by all who ask for the same */
  pthread_mutex_t lock;                /* guards programs */
  bool is_blas_prepared;
  void (*forget)(void); /* drops what a library kept for the context; NULL: nothing was kept */
  char *cache_folder;   /* of kernel binaries; NULL: not kept */
  struct clm__profile *profile; /* NULL: no trace is wanted */
  /* Called once, when the first program is about to be compiled, from whichever thread compiles it;
   * NULL: nobody wants to know. */
  void (*on_compile)(void *user);
  void *on_compile_user;
  const clm_log *log; /* borrowed until the device is closed */
} clm__device;

typedef struct clm__device_options {
  bool no_cache;      /* keep no kernel binaries on disk */
  const clm_log *log; /* borrowed until the device is closed; may be NULL */
  clm__trace *trace;  /* likewise: its queue then tells when commands ran */
} clm__device_options;

/* Opens a chosen device; its info then describes the part: id, compute units, share of the memory.
 * Errors: NO_DEVICE, DEVICE_FAILED, NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__device_open(const clm__device_info *info,
                                           const clm__device_choice *choice,
                                           const clm__device_options *options,
                                           clm__device **device);
void clm__device_close(clm__device *device);

/* Waits until all that was enqueued is done; counted. Errors: DEVICE_FAILED. */
CLM_MUST_CHECK clm_status clm__device_finish(clm__device *device);

/* The name of an OpenCL code, such as "CL_OUT_OF_RESOURCES". */
const char *clm__cl_code_name(cl_int code);

/* Fails with the call's and the code's name and the device where code is not CL_SUCCESS:
 * DEVICE_MEMORY for the memory codes, DEVICE_FAILED for the others. */
CLM_MUST_CHECK clm_status clm__cl_check(const clm__device *device, cl_int code, const char *call);

#endif
