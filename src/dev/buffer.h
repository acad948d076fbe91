/* Device memory: every buffer of the library is made here and counted. */
#ifndef CLM_DEV_BUFFER_H
#define CLM_DEV_BUFFER_H

#include "dev/device.h"

/* A buffer of size_bytes > 0, touched once so that its pages exist; *buffer is taken by the caller
 * (clm__buffer_release). With unified memory it is host-visible without copies. Errors:
 * DEVICE_MEMORY (needed, largest and available bytes are told), DEVICE_FAILED. */
CLM_MUST_CHECK clm_status clm__buffer_create(clm__device *device, size_t size_bytes,
                                             cl_mem *buffer);

/* The same in memory of the caller's, which begins at a multiple of 64 bytes, has room for
 * size_bytes rounded up to one, outlives the buffer, and belongs to the device but for what is lent
 * (clm__event_enqueue_lend). Of use where the device is the host's own CPU. */
CLM_MUST_CHECK clm_status clm__buffer_create_in(clm__device *device, void *memory,
                                                size_t size_bytes, cl_mem *buffer);

/* A part of a buffer; offset_bytes is a multiple of info.base_align_bytes. Lives as long as its
 * parent. Taken by the caller. */
CLM_MUST_CHECK clm_status clm__buffer_view(clm__device *device, cl_mem parent, size_t offset_bytes,
                                           size_t size_bytes, cl_mem *view);

/* Gives a buffer or view back and sets it to NULL; takes NULL. */
void clm__buffer_release(cl_mem *buffer);

/* Copies host memory to the start of a buffer. blocking false: `source` must stay until the next
 * finish. Errors: DEVICE_FAILED. */
CLM_MUST_CHECK clm_status clm__buffer_write(clm__device *device, cl_mem buffer, size_t offset_bytes,
                                            const void *source, size_t size_bytes, bool blocking);
CLM_MUST_CHECK clm_status clm__buffer_read(clm__device *device, cl_mem buffer, size_t offset_bytes,
                                           void *target, size_t size_bytes, bool blocking);

/* Fills size_bytes (a multiple of 4) at offset_bytes with a float value. Enqueues only. */
CLM_MUST_CHECK clm_status clm__buffer_fill(clm__device *device, cl_mem buffer, size_t offset_bytes,
                                           size_t size_bytes, float value);

#endif
