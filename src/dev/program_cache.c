#include "dev/program_cache.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/str.h"
#include "sys/file.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define ENTRY_VERSION 1
#define ENTRY_MAX ((size_t)256 << 20)

/* What a file begins with; the key and the binary follow. Written and read on one machine, so in
 * its own byte order. */
typedef struct entry_header {
  char magic[8];
  uint32_t version;
  uint32_t key_length;
  uint64_t binary_length;
  uint64_t checksum; /* of key and binary */
} entry_header;

static const char entry_magic[8] = "clmkern";

clm_status clm__program_cache_key(const clm__device *device, const char *source,
                                  const char *options, char **key)
{
  const clm__device_info *info = &device->info;
  clm__str text = {0};
  clm_status status =
      clm__str_add(&text,
                   "source %zu bytes %016" PRIx64 "\noptions %s\ndevice %s\nvendor %s\ndriver %s\n"
                   "platform %s\nplatform version %s\n",
                   strlen(source), clm__hash_text(CLM__HASH_START, source), options, info->name,
                   info->vendor, info->driver_version, info->platform, info->platform_version);
  if (status == CLM_OK) status = clm__str_take(&text, key);
  clm__str_fini(&text);
  return status;
}

/* "FOLDER/conv2d.cl-0123456789abcdef", taken by the caller. */
static clm_status join_path(const clm__device *device, const char *file, const char *key,
                            char **path)
{
  clm__str name = {0};
  clm_status status =
      clm__str_add(&name, "%s-%016" PRIx64, file, clm__hash_text(CLM__HASH_START, key));
  if (status == CLM_OK) status = clm__file_join(device->cache_folder, clm__str_get(&name), path);
  clm__str_fini(&name);
  return status;
}

static uint64_t checksum(const char *key, size_t key_length, const void *binary, size_t length)
{
  return clm__hash_bytes(clm__hash_bytes(CLM__HASH_START, key, key_length), binary, length);
}

/* The binary inside a file's content, NULL where the entry is not whole or not of this key. */
static const unsigned char *find_binary(const char *content, size_t size_bytes, const char *key,
                                        size_t *length)
{
  entry_header header;
  const size_t key_length = strlen(key);
  if (size_bytes < sizeof header) return NULL;
  memcpy(&header, content, sizeof header);
  if (memcmp(header.magic, entry_magic, sizeof entry_magic) != 0) return NULL;
  if (header.version != ENTRY_VERSION || header.key_length != key_length) return NULL;
  if (size_bytes - sizeof header < key_length) return NULL;
  if (header.binary_length == 0) return NULL;
  if (header.binary_length != size_bytes - sizeof header - key_length) return NULL;
  const char *stored = content + sizeof header;
  const char *binary = stored + key_length;
  if (memcmp(stored, key, key_length) != 0) return NULL;
  if (header.checksum != checksum(key, key_length, binary, (size_t)header.binary_length))
    return NULL;
  *length = (size_t)header.binary_length;
  return (const unsigned char *)binary;
}

static cl_program build_binary(clm__device *device, const unsigned char *binary, size_t length,
                               const char *options)
{
  cl_int code = CL_SUCCESS, loaded = CL_SUCCESS;
  cl_program program = clCreateProgramWithBinary(device->context, 1, &device->handle, &length,
                                                 &binary, &loaded, &code);
  if (program == NULL || code != CL_SUCCESS) return NULL;
  if (loaded == CL_SUCCESS &&
      clBuildProgram(program, 1, &device->handle, options, NULL, NULL) == CL_SUCCESS)
    return program;
  (void)clReleaseProgram(program);
  return NULL;
}

clm_status clm__program_cache_load(clm__device *device, const char *file, const char *key,
                                   const char *options, cl_program *program)
{
  char *path = NULL, *content = NULL;
  size_t size_bytes = 0, length = 0;
  if (device->cache_folder == NULL) return CLM_OK;
  CLM_TRY(join_path(device, file, key, &path));
  if (clm__file_exists(path) && clm__file_read(path, ENTRY_MAX, &content, &size_bytes) == CLM_OK) {
    const unsigned char *binary = find_binary(content, size_bytes, key, &length);
    if (binary != NULL) *program = build_binary(device, binary, length, options);
    if (*program == NULL) (void)unlink(path);
  }
  clm__mem_free(content);
  clm__mem_free(path);
  return CLM_OK;
}

bool clm__program_cache_has(const clm__device *device, const char *file, const char *key)
{
  char *path = NULL;
  if (join_path(device, file, key, &path) != CLM_OK) {
    clm_error_clear();
    return false;
  }
  const bool exists = clm__file_exists(path);
  clm__mem_free(path);
  return exists;
}

/* Puts header, key and the driver's binary together; taken by the caller. */
static clm_status join_entry(clm__device *device, const char *key, cl_program program,
                             char **content, size_t *size_bytes)
{
  entry_header header = {.version = ENTRY_VERSION, .key_length = (uint32_t)strlen(key)};
  size_t length = 0;
  char *made = NULL;
  memcpy(header.magic, entry_magic, sizeof entry_magic);
  CLM_TRY(clm__cl_check(
      device, clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof length, &length, NULL),
      "clGetProgramInfo"));
  CLM_REQUIRE(length > 0 && length < ENTRY_MAX, CLM_DEVICE_FAILED,
              "device %s has a kernel binary of %zu bytes", device->info.id, length);
  const size_t start = sizeof header + header.key_length;
  CLM_TRY(clm__mem_alloc(start + length, 1, &made));
  unsigned char *binary = (unsigned char *)made + start;
  const clm_status status = clm__cl_check(
      device, clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL),
      "clGetProgramInfo");
  if (status != CLM_OK) {
    clm__mem_free(made);
    return status;
  }
  header.binary_length = length;
  header.checksum = checksum(key, header.key_length, binary, length);
  memcpy(made, &header, sizeof header);
  memcpy(made + sizeof header, key, header.key_length);
  *content = made;
  *size_bytes = start + length;
  return CLM_OK;
}

clm_status clm__program_cache_store(clm__device *device, const char *file, const char *key,
                                    cl_program program)
{
  char *path = NULL, *content = NULL;
  size_t size_bytes = 0;
  clm_status status = CLM_OK;
  CLM_TRY_TO(done, status, clm__file_make_folder(device->cache_folder));
  CLM_TRY_TO(done, status, join_path(device, file, key, &path));
  CLM_TRY_TO(done, status, join_entry(device, key, program, &content, &size_bytes));
  CLM_TRY_TO(done, status, clm__file_write(path, content, size_bytes));
done:
  clm__mem_free(content);
  clm__mem_free(path);
  return status;
}
