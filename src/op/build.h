/* Making kernels from the files of cl/: the one way in for ops, losses and optimizers. */
#ifndef CLM_OP_BUILD_H
#define CLM_OP_BUILD_H

#include "dev/program.h"

/* What to build. Plain data; all texts are borrowed for the call, `kernel` until
 * clm__kernel_fini. */
typedef struct clm__build {
  const char *file;    /* in cl/ */
  const char *options; /* "-DROWS=4 -DCOLUMNS=7" */
  const char *variant; /* "plain"; only told, changes nothing */
  const char *kernel;  /* its name in the file */
} clm__build;

/* Builds the file and makes the kernel; taken by the caller (clm__kernel_fini). Where the
 * environment variable CLEMATIS_TEST_LIST_KERNELS names a file, a line
 * "FILE<TAB>OPTIONS<TAB>VARIANT" is added to it, so that other compilers can be given what the
 * tests built. Threads: any. Errors: DEVICE_FAILED, INTERNAL, IO. */
CLM_MUST_CHECK clm_status clm__build_kernel(clm__device *device, const clm__build *build,
                                            clm__kernel *kernel);

#endif
