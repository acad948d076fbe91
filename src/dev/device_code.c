#include "dev/device.h"

#include "base/error.h"

#define CODE_MAP(X)                                                                                \
  X(CL_SUCCESS)                                                                                    \
  X(CL_DEVICE_NOT_FOUND)                                                                           \
  X(CL_DEVICE_NOT_AVAILABLE)                                                                       \
  X(CL_COMPILER_NOT_AVAILABLE)                                                                     \
  X(CL_MEM_OBJECT_ALLOCATION_FAILURE)                                                              \
  X(CL_OUT_OF_RESOURCES)                                                                           \
  X(CL_OUT_OF_HOST_MEMORY)                                                                         \
  X(CL_PROFILING_INFO_NOT_AVAILABLE)                                                               \
  X(CL_MEM_COPY_OVERLAP)                                                                           \
  X(CL_IMAGE_FORMAT_MISMATCH)                                                                      \
  X(CL_IMAGE_FORMAT_NOT_SUPPORTED)                                                                 \
  X(CL_BUILD_PROGRAM_FAILURE)                                                                      \
  X(CL_MAP_FAILURE)                                                                                \
  X(CL_MISALIGNED_SUB_BUFFER_OFFSET)                                                               \
  X(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)                                                  \
  X(CL_COMPILE_PROGRAM_FAILURE)                                                                    \
  X(CL_LINKER_NOT_AVAILABLE)                                                                       \
  X(CL_LINK_PROGRAM_FAILURE)                                                                       \
  X(CL_DEVICE_PARTITION_FAILED)                                                                    \
  X(CL_KERNEL_ARG_INFO_NOT_AVAILABLE)                                                              \
  X(CL_INVALID_VALUE)                                                                              \
  X(CL_INVALID_DEVICE_TYPE)                                                                        \
  X(CL_INVALID_PLATFORM)                                                                           \
  X(CL_INVALID_DEVICE)                                                                             \
  X(CL_INVALID_CONTEXT)                                                                            \
  X(CL_INVALID_QUEUE_PROPERTIES)                                                                   \
  X(CL_INVALID_COMMAND_QUEUE)                                                                      \
  X(CL_INVALID_HOST_PTR)                                                                           \
  X(CL_INVALID_MEM_OBJECT)                                                                         \
  X(CL_INVALID_BINARY)                                                                             \
  X(CL_INVALID_BUILD_OPTIONS)                                                                      \
  X(CL_INVALID_PROGRAM)                                                                            \
  X(CL_INVALID_PROGRAM_EXECUTABLE)                                                                 \
  X(CL_INVALID_KERNEL_NAME)                                                                        \
  X(CL_INVALID_KERNEL_DEFINITION)                                                                  \
  X(CL_INVALID_KERNEL)                                                                             \
  X(CL_INVALID_ARG_INDEX)                                                                          \
  X(CL_INVALID_ARG_VALUE)                                                                          \
  X(CL_INVALID_ARG_SIZE)                                                                           \
  X(CL_INVALID_KERNEL_ARGS)                                                                        \
  X(CL_INVALID_WORK_DIMENSION)                                                                     \
  X(CL_INVALID_WORK_GROUP_SIZE)                                                                    \
  X(CL_INVALID_WORK_ITEM_SIZE)                                                                     \
  X(CL_INVALID_GLOBAL_OFFSET)                                                                      \
  X(CL_INVALID_EVENT_WAIT_LIST)                                                                    \
  X(CL_INVALID_EVENT)                                                                              \
  X(CL_INVALID_OPERATION)                                                                          \
  X(CL_INVALID_BUFFER_SIZE)                                                                        \
  X(CL_INVALID_GLOBAL_WORK_SIZE)                                                                   \
  X(CL_INVALID_PROPERTY)                                                                           \
  X(CL_INVALID_COMPILER_OPTIONS)                                                                   \
  X(CL_INVALID_LINKER_OPTIONS)                                                                     \
  X(CL_INVALID_DEVICE_PARTITION_COUNT)

const char *clm__cl_code_name(cl_int code)
{
  switch (code) {
#define CODE_CASE(name)                                                                            \
  case name:                                                                                       \
    return #name;
    CODE_MAP(CODE_CASE)
#undef CODE_CASE
  case -1001:
    return "CL_PLATFORM_NOT_FOUND_KHR";
  default:
    return "an unknown code";
  }
}

clm_status clm__cl_check(const clm__device *device, cl_int code, const char *call)
{
  if (code == CL_SUCCESS) return CLM_OK;
  const bool is_memory = code == CL_MEM_OBJECT_ALLOCATION_FAILURE ||
                         code == CL_OUT_OF_HOST_MEMORY || code == CL_INVALID_BUFFER_SIZE;
  CLM_FAIL(is_memory ? CLM_DEVICE_MEMORY : CLM_DEVICE_FAILED, "device %s (%s): %s gave %s (%d)",
           device->info.id, device->info.name, call, clm__cl_code_name(code), (int)code);
}
