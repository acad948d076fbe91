#include "dev/device_query.h"

#include "base/mem.h"
#include "base/num.h"
#include "base/testswitch.h"

#include <CL/cl_ext.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Vendors' attributes that Khronos' header lacks (cl_nv_device_attribute_query). */
#define NV_PCI_BUS_ID 0x4008
#define NV_PCI_SLOT_ID 0x4009
#define NV_PCI_DOMAIN_ID 0x400A

/* The answer of CL_DEVICE_TOPOLOGY_AMD where type is 1 (PCIe). */
typedef struct amd_topology {
  cl_uint type;
  unsigned char unused[17];
  unsigned char bus, device, function;
} amd_topology;

bool clm__device_text_has(const char *text, const char *part)
{
  const size_t length = strlen(part);
  for (; *text != '\0'; text++)
    if (strncasecmp(text, part, length) == 0) return true;
  return length == 0;
}

/* Copies a text without the blanks around it that some drivers send. */
static void copy_trimmed(const char *from, char *text, size_t size)
{
  while (*from == ' ') from++;
  size_t length = strlen(from);
  while (length > 0 && from[length - 1] == ' ') length--;
  length = clm__min_size(length, size - 1);
  memcpy(text, from, length);
  text[length] = '\0';
}

void clm__device_query_text(cl_device_id handle, cl_device_info what, char *text, size_t size)
{
  size_t needed = 0;
  char *whole = NULL;
  text[0] = '\0';
  if (clGetDeviceInfo(handle, what, 0, NULL, &needed) != CL_SUCCESS) return;
  if (clm__mem_alloc(needed + 1, 1, &whole) != CLM_OK) return;
  if (clGetDeviceInfo(handle, what, needed, whole, NULL) == CL_SUCCESS)
    copy_trimmed(whole, text, size);
  clm__mem_free(whole);
}

/* A number of at most 8 bytes, 0 where the device does not answer. */
static uint64_t query_number(cl_device_id handle, cl_device_info what, size_t size)
{
  uint32_t small = 0;
  uint64_t large = 0;
  void *target = size == sizeof small ? (void *)&small : (void *)&large;
  if (clGetDeviceInfo(handle, what, size, target, NULL) != CL_SUCCESS) return 0;
  return size == sizeof small ? small : large;
}

static uint64_t query_uint(cl_device_id handle, cl_device_info what)
{
  return query_number(handle, what, sizeof(cl_uint));
}

static int query_int(cl_device_id handle, cl_device_info what)
{
  const uint64_t value = query_uint(handle, what);
  return value > INT_MAX ? INT_MAX : (int)value;
}

static bool query_extension(cl_device_id handle, const char *name)
{
  size_t needed = 0;
  char *all = NULL;
  if (clGetDeviceInfo(handle, CL_DEVICE_EXTENSIONS, 0, NULL, &needed) != CL_SUCCESS) return false;
  if (clm__mem_alloc(needed + 1, 1, &all) != CLM_OK) return false;
  bool found = clGetDeviceInfo(handle, CL_DEVICE_EXTENSIONS, needed, all, NULL) == CL_SUCCESS;
  found = found && strstr(all, name) != NULL;
  clm__mem_free(all);
  return found;
}

static void query_pci(cl_device_id handle, clm__device_info *info)
{
  cl_device_pci_bus_info_khr khr;
  amd_topology amd;
  cl_uint domain = 0, bus = 0, device = 0, function = 0;
  if (query_extension(handle, "cl_khr_pci_bus_info") &&
      clGetDeviceInfo(handle, CL_DEVICE_PCI_BUS_INFO_KHR, sizeof khr, &khr, NULL) == CL_SUCCESS) {
    domain = khr.pci_domain, bus = khr.pci_bus;
    device = khr.pci_device, function = khr.pci_function;
  } else if (query_extension(handle, "cl_nv_device_attribute_query")) {
    const cl_uint slot = (cl_uint)query_uint(handle, NV_PCI_SLOT_ID);
    domain = (cl_uint)query_uint(handle, NV_PCI_DOMAIN_ID);
    bus = (cl_uint)query_uint(handle, NV_PCI_BUS_ID);
    device = slot >> 3, function = slot & 7;
  } else if (query_extension(handle, "cl_amd_device_attribute_query") &&
             clGetDeviceInfo(handle, CL_DEVICE_TOPOLOGY_AMD, sizeof amd, &amd, NULL) ==
                 CL_SUCCESS &&
             amd.type == 1) {
    bus = amd.bus, device = amd.device, function = amd.function;
  } else {
    return;
  }
  snprintf(info->pci, sizeof info->pci, "%04x:%02x:%02x.%x", domain, bus, device, function);
}

static void query_uuid(cl_device_id handle, clm__device_info *info)
{
  unsigned char uuid[CL_UUID_SIZE_KHR];
  static const unsigned char zero[CL_UUID_SIZE_KHR] = {0};
  if (!query_extension(handle, "cl_khr_device_uuid")) return;
  if (clGetDeviceInfo(handle, CL_DEVICE_UUID_KHR, sizeof uuid, uuid, NULL) != CL_SUCCESS) return;
  if (memcmp(uuid, zero, sizeof uuid) == 0) return;
  for (size_t i = 0; i < sizeof uuid; i++) snprintf(info->uuid + 2 * i, 3, "%02x", uuid[i]);
}

static void query_memory(cl_device_id handle, clm__device_info *info)
{
  const uint64_t memory = query_number(handle, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(cl_ulong));
  const uint64_t buffer = query_number(handle, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(cl_ulong));
  info->memory_bytes = clm__testswitch_number("CLEMATIS_TEST_MEMORY", memory);
  info->buffer_max_bytes = clm__testswitch_number("CLEMATIS_TEST_MAX_BUFFER", buffer);
  if (info->buffer_max_bytes > info->memory_bytes) info->buffer_max_bytes = info->memory_bytes;
  info->local_bytes = query_number(handle, CL_DEVICE_LOCAL_MEM_SIZE, sizeof(cl_ulong));
  info->has_unified_memory = query_uint(handle, CL_DEVICE_HOST_UNIFIED_MEMORY) != 0;
  info->base_align_bytes = (size_t)query_uint(handle, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;
  if (info->base_align_bytes < sizeof(float)) info->base_align_bytes = sizeof(float);
}

static void query_groups(cl_device_id handle, clm__device_info *info)
{
  size_t items[16] = {0};
  const size_t dims = (size_t)query_uint(handle, CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS);
  const size_t group = (size_t)query_number(handle, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(size_t));
  const size_t limit = (size_t)clm__testswitch_number("CLEMATIS_TEST_MAX_GROUP", SIZE_MAX);
  info->group_max = clm__max_size(clm__min_size(group, limit), 1);
  if (dims <= sizeof items / sizeof items[0])
    (void)clGetDeviceInfo(handle, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof items, items, NULL);
  for (int i = 0; i < 3; i++)
    info->item_max[i] = clm__min_size(items[i] == 0 ? 1 : items[i], info->group_max);
}

/* What cannot run our kernels, or only as a debugging aid. */
static bool is_emulator(const clm__device_info *info)
{
  static const char *const words[] = {"emulat", "llvmpipe", "softpipe", "swiftshader",
                                      "software rasterizer"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (clm__device_text_has(info->name, words[i])) return true;
  return false;
}

static const char *find_reason(cl_device_id handle)
{
  char version[128];
  int major = 0, minor = 0;
  clm__device_query_text(handle, CL_DEVICE_VERSION, version, sizeof version);
  if (sscanf(version, "OpenCL %d.%d", &major, &minor) != 2)
    return "it does not tell its OpenCL version";
  if (major < 1 || (major == 1 && minor < 2)) return "it lacks OpenCL 1.2";
  if (query_uint(handle, CL_DEVICE_AVAILABLE) == 0) return "its driver says it is not available";
  if (query_uint(handle, CL_DEVICE_COMPILER_AVAILABLE) == 0) return "its driver has no compiler";
  if (query_uint(handle, CL_DEVICE_ENDIAN_LITTLE) == 0) return "it is big-endian";
  return NULL;
}

/* CPUs: what the hardware has, since drivers that vectorise by themselves prefer 1. */
static int query_vector_width(cl_device_id handle, clm__device_kind kind)
{
  const int preferred = query_int(handle, CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT);
  const int native = query_int(handle, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT);
  return clm__max_int(kind == CLM__DEVICE_CPU ? clm__max_int(preferred, native) : preferred, 1);
}

void clm__device_query(cl_device_id handle, clm__device_info *info, const char **reason)
{
  cl_device_type type = query_number(handle, CL_DEVICE_TYPE, sizeof type);
  const uint64_t floats = query_number(handle, CL_DEVICE_SINGLE_FP_CONFIG, sizeof(cl_ulong));
  info->handle = handle;
  info->kind = (type & CL_DEVICE_TYPE_CPU) != 0   ? CLM__DEVICE_CPU
               : (type & CL_DEVICE_TYPE_GPU) != 0 ? CLM__DEVICE_GPU
                                                  : CLM__DEVICE_ACCELERATOR;
  clm__device_query_text(handle, CL_DEVICE_NAME, info->name, sizeof info->name);
  clm__device_query_text(handle, CL_DEVICE_VENDOR, info->vendor, sizeof info->vendor);
  clm__device_query_text(handle, CL_DRIVER_VERSION, info->driver_version,
                         sizeof info->driver_version);
  info->is_emulator = is_emulator(info);
  info->has_subgroups =
      query_extension(handle, "cl_khr_subgroups") || query_extension(handle, "cl_intel_subgroups");
  info->has_exact_divide = (floats & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
  info->compute_units = clm__max_int(query_int(handle, CL_DEVICE_MAX_COMPUTE_UNITS), 1);
  info->clock_mhz = query_int(handle, CL_DEVICE_MAX_CLOCK_FREQUENCY);
  info->vector_width = query_vector_width(handle, info->kind);
  query_pci(handle, info);
  query_uuid(handle, info);
  query_memory(handle, info);
  query_groups(handle, info);
  *reason = find_reason(handle);
}
