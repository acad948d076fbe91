/* An HDF5 driver that reads a file's image where it lies in memory.
 *
 * HDF5's own driver for memory copies the image, answers reads beyond its end with zeros, and turns
 * on a cache of metadata that a damaged address makes read through a null pointer (HDF5 1.10,
 * H5F__accum_read). This one does none of it: a read that is not wholly within the image fails. */
#ifndef CLM_IO_HDF5_IMAGE_H
#define CLM_IO_HDF5_IMAGE_H

#include "base/error.h"

#include <stddef.h>

#include <hdf5.h>

/* Opens the image to read only; it must live until the file is closed (H5Fclose), which also closes
 * all that was opened within it. what: names it in errors. Errors: BAD_DATA, NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__hdf5_image_open(const void *bytes, size_t size_bytes,
                                               const char *what, hid_t *file);

#endif
