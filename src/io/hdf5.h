/* HDF5 files in memory, only as far as Keras' weights need them. Not for several threads at once,
 * as the HDF5 library has one lock or none: clm__hdf5_enter keeps other threads out. Paths are
 * absolute ("/layers/dense/vars/0"); every part of one must be a plain link, so that nothing
 * outside the file is ever reached. */
#ifndef CLM_IO_HDF5_H
#define CLM_IO_HDF5_H

#include "base/error.h"
#include "base/shape.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct clm__hdf5 clm__hdf5;

/* Waits until no other thread is between these two; the same thread must not enter again. */
void clm__hdf5_enter(void);
void clm__hdf5_leave(void);

/* Opens a file's image, which must live until clm__hdf5_close. `what` names it in errors and must
 * live as long. Errors: BAD_DATA, NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__hdf5_open(const void *bytes, size_t size_bytes, const char *what,
                                         clm__hdf5 **file);
/* An empty file to write to. */
CLM_MUST_CHECK clm_status clm__hdf5_create(clm__hdf5 **file);
void clm__hdf5_close(clm__hdf5 *file);

/* Whether there is an object at the path, reached by plain links. */
bool clm__hdf5_has(const clm__hdf5 *file, const char *path);
/* The number of links in a group, 0 where there is no such group. */
size_t clm__hdf5_count(const clm__hdf5 *file, const char *path);

/* Reads a dataset of exactly this shape; other number types are converted. Errors: BAD_DATA
 * (missing, another shape, no numbers, kept outside the file, damaged). */
CLM_MUST_CHECK clm_status clm__hdf5_read_floats(const clm__hdf5 *file, const char *path,
                                                const clm__shape *shape, float *values);
/* Reads one number. */
CLM_MUST_CHECK clm_status clm__hdf5_read_int(const clm__hdf5 *file, const char *path,
                                             int64_t *value);

/* Makes a group and those above it; name NULL: without Keras' attribute "name". Errors: NO_MEMORY.
 */
CLM_MUST_CHECK clm_status clm__hdf5_make_group(clm__hdf5 *file, const char *path, const char *name);
/* Writes a new dataset into an existing group. Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__hdf5_write_floats(clm__hdf5 *file, const char *path,
                                                 const clm__shape *shape, const float *values);
CLM_MUST_CHECK clm_status clm__hdf5_write_int(clm__hdf5 *file, const char *path, int64_t value);
/* The image of what was written, taken by the caller (clm__mem_free); the file can only be closed
 * then. Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__hdf5_take_image(clm__hdf5 *file, char **bytes, size_t *size_bytes);

#endif
