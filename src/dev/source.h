/* The OpenCL sources and tuning values that the build put into the library. */
#ifndef CLM_DEV_SOURCE_H
#define CLM_DEV_SOURCE_H

#include <stddef.h>

typedef struct clm__source {
  const char *name; /* file name in cl/, such as "conv2d.cl"; NULL ends the table */
  const char *text; /* NUL-terminated */
  size_t size_bytes;
} clm__source;

extern const clm__source clm__sources[];

/* The text of a file in cl/, NULL where there is none of that name. Static storage. */
const char *clm__source_find(const char *name);

#endif
