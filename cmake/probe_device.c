/* Ends with 0 where an OpenCL program finds a device. Built by ./dev setup before all else. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

int main(void)
{
  cl_platform_id platforms[16];
  cl_uint count = 0;
  if (clGetPlatformIDs(16, platforms, &count) != CL_SUCCESS) return 1;
  for (cl_uint i = 0; i < count && i < 16; i++) {
    cl_uint devices = 0;
    const cl_int status = clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 0, NULL, &devices);
    if (status == CL_SUCCESS && devices > 0) return 0;
  }
  return 1;
}
