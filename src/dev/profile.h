/* When the commands of a device ran, by the device's own clock: for a trace. A device that was
 * opened without a trace has no profile and pays nothing. */
#ifndef CLM_DEV_PROFILE_H
#define CLM_DEV_PROFILE_H

#include "dev/device.h"

/* Takes room for the commands between two finishes, and a lane of the trace. */
CLM_MUST_CHECK clm_status clm__profile_create(clm__device *device, clm__trace *trace);
void clm__profile_destroy(clm__device *device);

/* What the next kernels belong to: layer and pass, or a name and NULL. Texts live as long as the
 * trace. */
void clm__profile_label(clm__device *device, const char *layer, const char *pass);

/* Where a command that is about to be enqueued leaves its event; NULL where it is not wanted. name:
 * of a kernel, else "upload", ...; bytes: 0 of a kernel. */
cl_event *clm__profile_next(clm__device *device, const char *name, size_t bytes);

/* Lets a command whose event its caller keeps leave it there too; takes NULL. */
void clm__profile_share(cl_event *place, cl_event event);

/* Turns the commands since the last call, which are done, into spans: clm__device_finish does. */
void clm__profile_collect(clm__device *device);

#endif
