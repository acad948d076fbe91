#include "dev/launch.h"

#include "base/error.h"
#include "base/num.h"
#include "dev/profile.h"

#include <stdio.h>

clm__launch clm__launch_begin(clm__kernel *kernel)
{
  return (clm__launch){.kernel = kernel, .code = CL_SUCCESS};
}

static void push(clm__launch *launch, size_t size_bytes, const void *value)
{
  const cl_int code = clSetKernelArg(launch->kernel->handle, launch->next, size_bytes, value);
  if (launch->code == CL_SUCCESS && launch->next < launch->kernel->argument_count)
    launch->code = code;
  launch->next++;
}

void clm__launch_buffer(clm__launch *launch, cl_mem buffer)
{
  push(launch, sizeof buffer, buffer != NULL ? &buffer : NULL);
}

void clm__launch_int(clm__launch *launch, int value)
{
  const cl_int argument = value;
  push(launch, sizeof argument, &argument);
}

void clm__launch_uint(clm__launch *launch, uint32_t value) { push(launch, sizeof value, &value); }

void clm__launch_float(clm__launch *launch, float value) { push(launch, sizeof value, &value); }

void clm__launch_local(clm__launch *launch, size_t size_bytes) { push(launch, size_bytes, NULL); }

/* One size for each number of dimensions, so that drivers that compile a kernel anew for each size
 * (as PoCL does) do so once. CPUs spread longer groups over their vectors (docs/devices.md). */
static void choose_group(const clm__kernel *kernel, int dims, size_t group[3])
{
  const bool is_cpu = kernel->device->info.kind == CLM__DEVICE_CPU;
  const size_t line[3] = {is_cpu ? 128 : 64, 1, 1}, tile[3] = {16, 4, 1};
  const size_t *wish = dims == 1 ? line : tile;
  size_t left = kernel->group_max;
  for (int i = 0; i < dims; i++) {
    const size_t limit = clm__min_size(left, kernel->device->info.item_max[i]);
    group[i] = clm__max_size(clm__min_size(wish[i], limit), 1);
    left /= group[i];
    if (kernel->group_required[0] != 0) group[i] = kernel->group_required[i];
  }
}

static clm_status check(const clm__launch *launch, int dims, const size_t group[3])
{
  const clm__kernel *kernel = launch->kernel;
  size_t size = 1;
  CLM_REQUIRE(launch->code == CL_SUCCESS, CLM_INTERNAL, "device %s: an argument of kernel %s: %s",
              kernel->device->info.id, kernel->name, clm__cl_code_name(launch->code));
  CLM_REQUIRE(launch->next == kernel->argument_count, CLM_INTERNAL,
              "kernel %s takes %u arguments and was given %u", kernel->name, kernel->argument_count,
              launch->next);
  for (int i = 0; i < dims; i++) size *= group[i];
  CLM_REQUIRE(size >= 1 && size <= kernel->group_max, CLM_INTERNAL,
              "kernel %s was to run in groups of %zu, device %s takes 1 to %zu", kernel->name, size,
              kernel->device->info.id, kernel->group_max);
  return CLM_OK;
}

clm_status clm__launch_run(clm__launch *launch, int dims, const size_t *items, const size_t *group)
{
  const clm__kernel *kernel = launch->kernel;
  clm__device *device = kernel->device;
  size_t local[3] = {1, 1, 1}, global[3] = {1, 1, 1};
  char call[128];
  CLM_REQUIRE(dims >= 1 && dims <= 3, CLM_INTERNAL, "kernel %s was to run in %d dimensions",
              kernel->name, dims);
  choose_group(kernel, dims, local);
  for (int i = 0; group != NULL && i < dims; i++) local[i] = group[i];
  CLM_TRY(check(launch, dims, local));
  for (int i = 0; i < dims; i++) {
    if (items[i] == 0) return CLM_OK;
    global[i] = clm__round_up(items[i], local[i]);
  }
  const cl_int code =
      clEnqueueNDRangeKernel(device->queue, kernel->handle, (cl_uint)dims, NULL, global, local, 0,
                             NULL, clm__profile_next(device, kernel->name, 0));
  if (code != CL_SUCCESS) {
    snprintf(call, sizeof call, "clEnqueueNDRangeKernel of %s", kernel->name);
    return clm__cl_check(device, code, call);
  }
  atomic_fetch_add(&device->counts.kernels_enqueued, 1);
  return CLM_OK;
}
