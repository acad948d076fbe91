/* Asking one OpenCL device what it is. */
#ifndef CLM_DEV_DEVICE_QUERY_H
#define CLM_DEV_DEVICE_QUERY_H

#include "dev/device.h"

/* Asks a device for everything but its id and whether it is a duplicate. `reason` is why it cannot
 * be used, NULL where it can; static storage. platform and platform_version are set by the caller
 * beforehand. */
void clm__device_query(cl_device_id handle, clm__device_info *info, const char **reason);

/* Whether a text contains a part, in any case of letters. */
bool clm__device_text_has(const char *text, const char *part);

/* A text of a device into text[size], "" where it does not answer. */
void clm__device_query_text(cl_device_id handle, cl_device_info what, char *text, size_t size);

#endif
