/* Waiting for one command instead of for all of them. */
#ifndef CLM_DEV_EVENT_H
#define CLM_DEV_EVENT_H

#include "dev/device.h"

/* Enqueues a copy to host memory that must stay until the event is done. size_bytes 0: the event is
 * done when all before it is. *event is taken by the caller (clm__event_release). Errors:
 * DEVICE_FAILED. */
typedef struct clm__event_read {
  cl_mem buffer;
  size_t offset_bytes;
  void *target;
  size_t size_bytes;
} clm__event_read;
CLM_MUST_CHECK clm_status clm__event_enqueue_read(clm__device *device, const clm__event_read *read,
                                                  cl_event *event);

/* The same without a copy, of a buffer made in memory of the host (clm__buffer_create_in): once the
 * event is done the range, at `target` there, is the host's to read and write, until it is given
 * back. Not size_bytes 0. Errors: DEVICE_FAILED. */
CLM_MUST_CHECK clm_status clm__event_enqueue_lend(clm__device *device, const clm__event_read *range,
                                                  cl_event *event);
/* What is enqueued from then on finds it as the host left it. Errors: DEVICE_FAILED. */
CLM_MUST_CHECK clm_status clm__event_give_back(clm__device *device, cl_mem buffer, void *target);

/* Hands what was enqueued to the device, so that its events come without anybody waiting. */
CLM_MUST_CHECK clm_status clm__event_flush(clm__device *device);

/* Whether the command is done; and waits until it is. Errors: DEVICE_FAILED, also where the command
 * itself failed. */
CLM_MUST_CHECK clm_status clm__event_ask(const clm__device *device, cl_event event, bool *is_done);
CLM_MUST_CHECK clm_status clm__event_wait(const clm__device *device, cl_event event);

/* Gives an event back and sets it to NULL; takes NULL. */
void clm__event_release(cl_event *event);

#endif
