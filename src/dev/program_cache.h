/* Kernel binaries on disk: one file a program in the device's cache folder. Whatever is wrong with
 * an entry, it is a miss. */
#ifndef CLM_DEV_PROGRAM_CACHE_H
#define CLM_DEV_PROGRAM_CACHE_H

#include "dev/device.h"

#include <stdbool.h>

/* Everything that can change a binary, as text that the caller takes. */
CLM_MUST_CHECK clm_status clm__program_cache_key(const clm__device *device, const char *source,
                                                 const char *options, char **key);

/* The built program of a key into *program, which stays NULL where there is no sound entry; one
 * that is not sound is removed. `file` is the kernel file's name. Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__program_cache_load(clm__device *device, const char *file,
                                                  const char *key, const char *options,
                                                  cl_program *program);

/* Whether there is an entry, of this process or of another. */
bool clm__program_cache_has(const clm__device *device, const char *file, const char *key);

/* Writes the entry of a program. Errors: IO, DEVICE_FAILED, NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__program_cache_store(clm__device *device, const char *file,
                                                   const char *key, cl_program program);

#endif
