#include "dev/event.h"

#include "base/error.h"
#include "dev/profile.h"

clm_status clm__event_enqueue_read(clm__device *device, const clm__event_read *read,
                                   cl_event *event)
{
  cl_event made = NULL;
  if (read->size_bytes == 0) {
    const cl_int code = clEnqueueMarkerWithWaitList(device->queue, 0, NULL, &made);
    CLM_TRY(clm__cl_check(device, code, "clEnqueueMarkerWithWaitList"));
  } else {
    cl_event *slot = clm__profile_next(device, "gradients", read->size_bytes);
    const cl_int code =
        clEnqueueReadBuffer(device->queue, read->buffer, CL_FALSE, read->offset_bytes,
                            read->size_bytes, read->target, 0, NULL, &made);
    CLM_TRY(clm__cl_check(device, code, "clEnqueueReadBuffer"));
    clm__profile_share(slot, made);
    atomic_fetch_add(&device->counts.bytes_from_device, read->size_bytes);
  }
  *event = made;
  return CLM_OK;
}

clm_status clm__event_enqueue_lend(clm__device *device, const clm__event_read *range,
                                   cl_event *event)
{
  cl_int code = CL_SUCCESS;
  cl_event made = NULL;
  const void *place =
      clEnqueueMapBuffer(device->queue, range->buffer, CL_FALSE, CL_MAP_READ | CL_MAP_WRITE,
                         range->offset_bytes, range->size_bytes, 0, NULL, &made, &code);
  CLM_TRY(clm__cl_check(device, code, "clEnqueueMapBuffer"));
  *event = made;
  CLM_REQUIRE(place == range->target, CLM_DEVICE_FAILED,
              "device %s (%s) does not compute in the memory that it was given", device->info.id,
              device->info.name);
  return CLM_OK;
}

clm_status clm__event_give_back(clm__device *device, cl_mem buffer, void *target)
{
  const cl_int code = clEnqueueUnmapMemObject(device->queue, buffer, target, 0, NULL, NULL);
  return clm__cl_check(device, code, "clEnqueueUnmapMemObject");
}

clm_status clm__event_flush(clm__device *device)
{
  return clm__cl_check(device, clFlush(device->queue), "clFlush");
}

clm_status clm__event_ask(const clm__device *device, cl_event event, bool *is_done)
{
  cl_int state = CL_QUEUED;
  const cl_int code =
      clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
  CLM_TRY(clm__cl_check(device, code, "clGetEventInfo"));
  if (state < 0) return clm__cl_check(device, state, "a command");
  *is_done = state == CL_COMPLETE;
  return CLM_OK;
}

clm_status clm__event_wait(const clm__device *device, cl_event event)
{
  return clm__cl_check(device, clWaitForEvents(1, &event), "clWaitForEvents");
}

void clm__event_release(cl_event *event)
{
  if (*event != NULL) (void)clReleaseEvent(*event);
  *event = NULL;
}
