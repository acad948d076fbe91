/* Tuning values: data, not code. A text file of lines
 *
 *   op.pass | shape | device | variant [NAME=value ...]
 *
 * of which the most precise that fits is taken: the user's file before the shipped one
 * (cl/tuning.txt), then the device, then the shape. docs/tuning.md describes the words. The op
 * "gemm" of shape "*" is CLBlast (dev/blas.h). */
#ifndef CLM_DEV_TUNE_H
#define CLM_DEV_TUNE_H

#include "dev/device.h"

typedef struct clm__tune clm__tune;

/* Reads the shipped values and the user's file (path NULL: tuning.txt in the cache folder; a
 * missing one is fine). Errors: BAD_DATA with file and line, NO_INPUT, IO, NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__tune_open(const char *path, clm__tune **tune);
/* The shipped values alone; recording is an error. */
CLM_MUST_CHECK clm_status clm__tune_open_shipped(clm__tune **tune);
void clm__tune_close(clm__tune *tune);

#define CLM__TUNE_WORD_SIZE 64 /* of an op and pass, and of a shape */
#define CLM__TUNE_VARIANT_SIZE 32
#define CLM__TUNE_DEFINES_SIZE 256
typedef struct clm__tune_values {
  char variant[CLM__TUNE_VARIANT_SIZE]; /* "" where nothing is recorded */
  char defines[CLM__TUNE_DEFINES_SIZE]; /* "TILE=4 VEC=8", "" for the kernel's defaults */
} clm__tune_values;

/* What is recorded for "conv2d.fwd", "180x180x3-16" on a device; values->variant is "" where
 * nothing fits. tune may be NULL. */
void clm__tune_find(const clm__tune *tune, const clm__device_info *info, const char *op_pass,
                    const char *shape, clm__tune_values *values);

/* Whether the user's file has a line for exactly this device, driver and shape. */
bool clm__tune_has(const clm__tune *tune, const clm__device_info *info, const char *op_pass,
                   const char *shape);

/* The user's file; NULL where there is no place for one. Borrowed. */
const char *clm__tune_path(const clm__tune *tune);

/* Records values for exactly this device and driver, in memory and in the user's file, where a line
 * for the same op, shape, device and driver is replaced and all others stay. Errors: BAD_DATA (a
 * word that the format cannot hold), IO (also where there is no folder to write to), NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__tune_record(clm__tune *tune, const clm__device_info *info,
                                           const char *op_pass, const char *shape,
                                           const clm__tune_values *values);

#endif
