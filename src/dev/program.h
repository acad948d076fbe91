/* OpenCL programs: a file of cl/ behind prelude.cl, built with options, kept on disk as a binary.
 *
 * The key of a binary is everything that can change it: both sources, options, device, driver and
 * platform version, and the version of this format. A damaged or foreign entry is a miss. Entries
 * are written under a temporary name and renamed, so that processes may share the folder.
 * docs/devices.md says when they are written and why then. */
#ifndef CLM_DEV_PROGRAM_H
#define CLM_DEV_PROGRAM_H

#include "dev/device.h"

typedef struct clm__program clm__program;

/* The program of cl/<file> with `options` ("-DH=90 -DW=90"); built at most once a device, from the
 * disk where possible. Owned by the device; valid until it is closed. Threads: any; different
 * programs are built at the same time. Errors: DEVICE_FAILED with device, file, and the first lines
 * of the build log; INTERNAL where the file is unknown. */
CLM_MUST_CHECK clm_status clm__program_get(clm__device *device, const char *file,
                                           const char *options, clm__program **program);

/* The same for a text that is not in cl/; `file` is the name it goes by and tells texts apart. */
CLM_MUST_CHECK clm_status clm__program_get_text(clm__device *device, const char *file,
                                                const char *text, const char *options,
                                                clm__program **program);

/* Writes the binaries of programs that are not on disk yet until seconds_max have passed; what is
 * begun is finished. Closing a device does so with CLM__STORE_SECONDS, which suffices for all
 * programs of most drivers, and a tenth of the time that it was open (docs/devices.md). Call it
 * when every kernel has run once: some drivers finish their work as late as that. A binary that
 * cannot be written is told as a DETAIL. Threads: one at a time with the other calls. */
#define CLM__STORE_SECONDS 2.0
void clm__program_store(clm__device *device, double seconds_max);

/* A kernel with its own arguments. */
typedef struct clm__kernel {
  cl_kernel handle;
  clm__device *device;
  const char *name; /* static storage or the caller's, borrowed */
  cl_uint argument_count;
  size_t group_max;         /* of this kernel on this device, after the test switch */
  size_t group_required[3]; /* what reqd_work_group_size says in the source, else 0 */
} clm__kernel;

/* Makes a kernel of a program; `name` is borrowed until clm__kernel_fini. Errors: DEVICE_FAILED. */
CLM_MUST_CHECK clm_status clm__kernel_init(clm__program *program, const char *name,
                                           clm__kernel *kernel);
/* Frees the handle; takes a zeroed one. */
void clm__kernel_fini(clm__kernel *kernel);

#endif
