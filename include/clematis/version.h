/* The library's version. */
#ifndef CLEMATIS_VERSION_H
#define CLEMATIS_VERSION_H

#include "clematis/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* "0.1.0"; static storage. Threads: any. */
CLM_API const char *clm_version(void);

/* What the library was built with, one name and version a line; static storage. Threads: any. */
CLM_API const char *clm_version_details(void);

#ifdef __cplusplus
}
#endif
#endif
