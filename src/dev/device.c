#include "dev/device.h"

#include "base/mem.h"
#include "dev/device_query.h"
#include "dev/profile.h"
#include "dev/program.h"
#include "dev/program_table.h"
#include "sys/file.h"

#include <stdio.h>
#include <string.h>

/* Splits the device equally and keeps the part that was chosen. */
static clm_status open_part(clm__device *device, const clm__device_choice *choice)
{
  const int units = device->info.compute_units / choice->part_count;
  const cl_device_partition_property how[] = {CL_DEVICE_PARTITION_EQUALLY, units, 0};
  cl_device_id *parts = NULL;
  cl_uint count = 0;
  CLM_REQUIRE(units > 0, CLM_NO_DEVICE, "device %s has %d compute units and cannot be split in %d",
              device->info.id, device->info.compute_units, choice->part_count);
  CLM_TRY(clm__cl_check(device, clCreateSubDevices(device->info.handle, how, 0, NULL, &count),
                        "clCreateSubDevices"));
  CLM_REQUIRE((cl_uint)choice->part < count, CLM_NO_DEVICE, "device %s cannot be split in %d",
              device->info.id, choice->part_count);
  CLM_TRY(clm__mem_alloc(count, sizeof *parts, &parts));
  const cl_int code = clCreateSubDevices(device->info.handle, how, count, parts, NULL);
  for (cl_uint i = 0; code == CL_SUCCESS && i < count; i++) {
    if (i == (cl_uint)choice->part)
      device->handle = parts[i];
    else
      (void)clReleaseDevice(parts[i]);
  }
  clm__mem_free(parts);
  return clm__cl_check(device, code, "clCreateSubDevices");
}

/* Makes info tell of the part: its name, its compute units and its share of the memory. */
static void describe_part(clm__device_info *info, const clm__device_choice *choice)
{
  char id[sizeof info->id];
  snprintf(id, sizeof id, "%s/%d.%d", info->id, choice->part_count, choice->part);
  memcpy(info->id, id, sizeof id);
  info->compute_units /= choice->part_count;
  info->memory_bytes /= (uint64_t)choice->part_count;
  if (info->buffer_max_bytes > info->memory_bytes) info->buffer_max_bytes = info->memory_bytes;
}

static clm_status open_cache(clm__device *device)
{
  char *folder = NULL;
  CLM_TRY(clm__file_cache_folder(&folder));
  if (folder == NULL) return CLM_OK;
  const clm_status status = clm__file_join(folder, "kernels", &device->cache_folder);
  clm__mem_free(folder);
  return status;
}

static clm_status open_queue(clm__device *device, clm__trace *trace)
{
  const cl_command_queue_properties wish = trace != NULL ? CL_QUEUE_PROFILING_ENABLE : 0;
  cl_int code = CL_SUCCESS;
  device->queue = clCreateCommandQueue(device->context, device->handle, wish, &code);
  CLM_TRY(clm__cl_check(device, code, "clCreateCommandQueue"));
  return trace != NULL ? clm__profile_create(device, trace) : CLM_OK;
}

static clm_status fill_device(clm__device *device, const clm__device_choice *choice,
                              const clm__device_options *options)
{
  cl_int code = CL_SUCCESS;
  device->handle = device->info.handle;
  if (choice->part_count > 1) {
    CLM_TRY(open_part(device, choice));
    describe_part(&device->info, choice);
  }
  const cl_context_properties properties[] = {
      CL_CONTEXT_PLATFORM, (cl_context_properties)device->info.platform_handle, 0};
  device->context = clCreateContext(properties, 1, &device->handle, NULL, NULL, &code);
  CLM_TRY(clm__cl_check(device, code, "clCreateContext"));
  CLM_TRY(open_queue(device, options->trace));
  return clm__program_table_create(&device->programs);
}

clm_status clm__device_open(const clm__device_info *info, const clm__device_choice *choice,
                            const clm__device_options *options, clm__device **device)
{
  clm__device *opened = NULL;
  clm_status status = CLM_OK;
  CLM_TRY(clm__mem_alloc(1, sizeof *opened, &opened));
  opened->info = *info;
  opened->log = options->log;
  if (pthread_mutex_init(&opened->lock, NULL) != 0) {
    clm__mem_free(opened);
    CLM_FAIL(CLM_NO_MEMORY, "the system makes no lock for device %s", info->id);
  }
  CLM_TRY_TO(failed, status, fill_device(opened, choice, options));
  if (!options->no_cache) CLM_TRY_TO(failed, status, open_cache(opened));
  *device = opened;
  return CLM_OK;
failed:
  clm__device_close(opened);
  return status;
}

void clm__device_close(clm__device *device)
{
  if (device == NULL) return;
  if (device->queue != NULL) (void)clFinish(device->queue);
  clm__program_store_last(device);
  if (device->forget != NULL) device->forget();
  clm__profile_destroy(device);
  clm__program_table_destroy(device->programs);
  if (device->queue != NULL) (void)clReleaseCommandQueue(device->queue);
  if (device->context != NULL) (void)clReleaseContext(device->context);
  if (device->handle != NULL && device->handle != device->info.handle)
    (void)clReleaseDevice(device->handle);
  (void)pthread_mutex_destroy(&device->lock);
  clm__mem_free(device->cache_folder);
  clm__mem_free(device);
}

clm_status clm__device_finish(clm__device *device)
{
  atomic_fetch_add(&device->counts.finishes, 1);
  CLM_TRY(clm__cl_check(device, clFinish(device->queue), "clFinish"));
  clm__profile_collect(device);
  return CLM_OK;
}
