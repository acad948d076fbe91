#include "dev/device_query.h"

#include "base/mem.h"
#include "base/testswitch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLATFORMS_MAX 64
#define DEVICES_MAX 256 /* a platform */

typedef struct platform {
  cl_platform_id handle;
  char name[128];
  char version[128];
} platform;

typedef struct list {
  clm__device_info *infos;
  size_t count;
} list;

static void query_platform_text(cl_platform_id handle, cl_platform_info what, char *text,
                                size_t size)
{
  char whole[1024] = "";
  if (clGetPlatformInfo(handle, what, sizeof whole - 1, whole, NULL) != CL_SUCCESS)
    snprintf(whole, sizeof whole, "unnamed");
  snprintf(text, size, "%s", whole);
}

static int compare_platforms(const void *left, const void *right)
{
  const platform *a = left, *b = right;
  const int by_name = strcmp(a->name, b->name);
  return by_name != 0 ? by_name : strcmp(a->version, b->version);
}

static size_t find_platforms(platform platforms[PLATFORMS_MAX])
{
  cl_platform_id handles[PLATFORMS_MAX];
  cl_uint count = 0;
  if (clm__testswitch_is("CLEMATIS_TEST_NO_PLATFORM", "1")) return 0;
  if (clGetPlatformIDs(PLATFORMS_MAX, handles, &count) != CL_SUCCESS) return 0;
  if (count > PLATFORMS_MAX) count = PLATFORMS_MAX;
  for (cl_uint i = 0; i < count; i++) {
    platforms[i].handle = handles[i];
    query_platform_text(handles[i], CL_PLATFORM_NAME, platforms[i].name, sizeof platforms[i].name);
    query_platform_text(handles[i], CL_PLATFORM_VERSION, platforms[i].version,
                        sizeof platforms[i].version);
  }
  qsort(platforms, count, sizeof platforms[0], compare_platforms);
  return count;
}

static clm_status add_device(list *all, const platform *from, cl_device_id handle,
                             const clm_log *log)
{
  clm__device_info info = {.platform_handle = from->handle};
  const char *reason = NULL;
  snprintf(info.platform, sizeof info.platform, "%s", from->name);
  snprintf(info.platform_version, sizeof info.platform_version, "%s", from->version);
  clm__device_query(handle, &info, &reason);
  if (reason != NULL) {
    clm__log(log, CLM_LOG_WARNING, "the device %s of the platform %s is left out: %s", info.name,
             info.platform, reason);
    return CLM_OK;
  }
  CLM_TRY(clm__mem_resize(all->count + 1, sizeof info, &all->infos));
  all->infos[all->count++] = info;
  return CLM_OK;
}

static clm_status add_platform(list *all, const platform *from, const clm_log *log)
{
  cl_device_id handles[DEVICES_MAX];
  cl_uint count = 0;
  const cl_device_type types = CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR | CL_DEVICE_TYPE_CPU;
  const cl_int code = clGetDeviceIDs(from->handle, types, DEVICES_MAX, handles, &count);
  if (code != CL_SUCCESS) {
    if (code != CL_DEVICE_NOT_FOUND)
      clm__log(log, CLM_LOG_WARNING, "the OpenCL platform %s does not list its devices: %s",
               from->name, clm__cl_code_name(code));
    return CLM_OK;
  }
  for (cl_uint i = 0; i < count && i < DEVICES_MAX; i++)
    CLM_TRY(add_device(all, from, handles[i], log));
  return CLM_OK;
}

/* Two entries of one platform are never the same card: parts of a GPU share its PCI address. */
static bool is_same_card(const clm__device_info *a, const clm__device_info *b)
{
  if (a->kind != b->kind || a->platform_handle == b->platform_handle) return false;
  if (a->is_emulator || b->is_emulator) return false;
  if (a->kind == CLM__DEVICE_CPU) return true;
  return (a->pci[0] != '\0' && strcmp(a->pci, b->pci) == 0) ||
         (a->uuid[0] != '\0' && strcmp(a->uuid, b->uuid) == 0);
}

void clm__device_number(clm__device_info *infos, size_t count)
{
  static const char *const prefixes[] = {
      [CLM__DEVICE_CPU] = "cpu", [CLM__DEVICE_GPU] = "gpu", [CLM__DEVICE_ACCELERATOR] = "acc"};
  int next[3] = {0};
  for (size_t i = 0; i < count; i++) {
    clm__device_info *info = &infos[i];
    snprintf(info->id, sizeof info->id, "%s%d", prefixes[info->kind], next[info->kind]++);
    info->is_duplicate = false;
    for (size_t k = 0; k < i && !info->is_duplicate; k++)
      info->is_duplicate = is_same_card(info, &infos[k]);
  }
}

/* GPUs, accelerators, CPUs; the order within a kind stays. */
static clm_status order_kinds(list *all)
{
  static const clm__device_kind kinds[] = {CLM__DEVICE_GPU, CLM__DEVICE_ACCELERATOR,
                                           CLM__DEVICE_CPU};
  clm__device_info *ordered = NULL;
  size_t next = 0;
  CLM_TRY(clm__mem_alloc(all->count, sizeof *ordered, &ordered));
  for (size_t kind = 0; kind < sizeof kinds / sizeof kinds[0]; kind++)
    for (size_t i = 0; i < all->count; i++)
      if (all->infos[i].kind == kinds[kind]) ordered[next++] = all->infos[i];
  clm__mem_free(all->infos);
  all->infos = ordered;
  return CLM_OK;
}

clm_status clm__device_list(const clm_log *log, clm__device_info **infos, size_t *count)
{
  platform platforms[PLATFORMS_MAX];
  list all = {0};
  clm_status status = CLM_OK;
  const size_t platform_count = find_platforms(platforms);
  CLM_REQUIRE(platform_count > 0, CLM_NO_DEVICE,
              "no OpenCL platform was found; for the CPU install pocl-opencl-icd, for a GPU the "
              "OpenCL driver of its vendor; `clinfo -l` shows what is installed");
  for (size_t i = 0; i < platform_count; i++)
    CLM_TRY_TO(failed, status, add_platform(&all, &platforms[i], log));
  if (all.count == 0)
    CLM_FAIL_TO(failed, status, CLM_NO_DEVICE,
                "none of the %zu OpenCL platforms (%s ...) has a usable device; for the CPU "
                "install pocl-opencl-icd, for a GPU the OpenCL driver of its vendor",
                platform_count, platforms[0].name);
  CLM_TRY_TO(failed, status, order_kinds(&all));
  clm__device_number(all.infos, all.count);
  *infos = all.infos;
  *count = all.count;
  return CLM_OK;
failed:
  clm__mem_free(all.infos);
  return status;
}
