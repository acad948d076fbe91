#include "dev/buffer.h"

#include "base/error.h"
#include "base/num.h"
#include "dev/profile.h"

#include <inttypes.h>

#define SIZE_STEP 64 /* sizes are rounded up to it, so that vectors at the end stay inside */

static clm_status create(clm__device *device, void *memory, size_t size_bytes, cl_mem *buffer)
{
  const clm__device_info *info = &device->info;
  cl_int code = CL_SUCCESS;
  CLM_REQUIRE(size_bytes > 0, CLM_INTERNAL, "a buffer of 0 bytes was asked for");
  CLM_REQUIRE(size_bytes <= info->buffer_max_bytes, CLM_DEVICE_MEMORY,
              "device %s (%s): a buffer of %zu bytes is needed, the largest possible one has "
              "%" PRIu64 " of the %" PRIu64 " bytes of memory; a smaller batch needs less",
              info->id, info->name, size_bytes, info->buffer_max_bytes, info->memory_bytes);
  cl_mem_flags flags = CL_MEM_READ_WRITE;
  if (memory != NULL)
    flags |= CL_MEM_USE_HOST_PTR;
  else if (info->has_unified_memory)
    flags |= CL_MEM_ALLOC_HOST_PTR;
  const size_t rounded = clm__round_up(size_bytes, SIZE_STEP);
  cl_mem made = clCreateBuffer(device->context, flags, rounded, memory, &code);
  CLM_TRY(clm__cl_check(device, code, "clCreateBuffer"));
  atomic_fetch_add(&device->counts.buffers_created, 1);
  clm_status status = clm__buffer_fill(device, made, 0, rounded, 0.0F);
  if (status == CLM_OK) status = clm__device_finish(device);
  if (status != CLM_OK) {
    clm__buffer_release(&made);
    return clm__error_prefix(status, "while reserving %zu bytes: ", size_bytes);
  }
  *buffer = made;
  return CLM_OK;
}

clm_status clm__buffer_create(clm__device *device, size_t size_bytes, cl_mem *buffer)
{
  return create(device, NULL, size_bytes, buffer);
}

clm_status clm__buffer_create_in(clm__device *device, void *memory, size_t size_bytes,
                                 cl_mem *buffer)
{
  return create(device, memory, size_bytes, buffer);
}

clm_status clm__buffer_view(clm__device *device, cl_mem parent, size_t offset_bytes,
                            size_t size_bytes, cl_mem *view)
{
  const cl_buffer_region region = {offset_bytes, size_bytes};
  cl_int code = CL_SUCCESS;
  CLM_REQUIRE(offset_bytes % device->info.base_align_bytes == 0, CLM_INTERNAL,
              "a view at byte %zu, which is no multiple of the %zu of device %s", offset_bytes,
              device->info.base_align_bytes, device->info.id);
  cl_mem made =
      clCreateSubBuffer(parent, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
  CLM_TRY(clm__cl_check(device, code, "clCreateSubBuffer"));
  atomic_fetch_add(&device->counts.buffers_created, 1);
  *view = made;
  return CLM_OK;
}

void clm__buffer_release(cl_mem *buffer)
{
  if (*buffer != NULL) (void)clReleaseMemObject(*buffer);
  *buffer = NULL;
}

/* NOLINTNEXTLINE(readability-function-size): the parameters of OpenCL's own call */
clm_status clm__buffer_write(clm__device *device, cl_mem buffer, size_t offset_bytes,
                             const void *source, size_t size_bytes, bool blocking)
{
  if (size_bytes == 0) return CLM_OK;
  const cl_int code =
      clEnqueueWriteBuffer(device->queue, buffer, blocking, offset_bytes, size_bytes, source, 0,
                           NULL, clm__profile_next(device, "upload", size_bytes));
  atomic_fetch_add(&device->counts.bytes_to_device, size_bytes);
  if (blocking) atomic_fetch_add(&device->counts.finishes, 1);
  return clm__cl_check(device, code, "clEnqueueWriteBuffer");
}

/* NOLINTNEXTLINE(readability-function-size): the parameters of OpenCL's own call */
clm_status clm__buffer_read(clm__device *device, cl_mem buffer, size_t offset_bytes, void *target,
                            size_t size_bytes, bool blocking)
{
  if (size_bytes == 0) return CLM_OK;
  const cl_int code =
      clEnqueueReadBuffer(device->queue, buffer, blocking, offset_bytes, size_bytes, target, 0,
                          NULL, clm__profile_next(device, "download", size_bytes));
  atomic_fetch_add(&device->counts.bytes_from_device, size_bytes);
  if (blocking) atomic_fetch_add(&device->counts.finishes, 1);
  return clm__cl_check(device, code, "clEnqueueReadBuffer");
}

clm_status clm__buffer_fill(clm__device *device, cl_mem buffer, size_t offset_bytes,
                            size_t size_bytes, float value)
{
  if (size_bytes == 0) return CLM_OK;
  const cl_int code =
      clEnqueueFillBuffer(device->queue, buffer, &value, sizeof value, offset_bytes, size_bytes, 0,
                          NULL, clm__profile_next(device, "fill", size_bytes));
  return clm__cl_check(device, code, "clEnqueueFillBuffer");
}
