#include "io/hdf5_image.h"

#include "base/mem.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

/* What the property list carries to image_open. */
typedef struct image_info {
  const char *bytes;
  size_t size_bytes;
  bool *no_memory; /* what image_open tells, beside HDF5 */
} image_info;

typedef struct image_file {
  H5FD_t base; /* HDF5's part, first */
  const char *bytes;
  size_t size_bytes;
  haddr_t end_of_allocation;
} image_file;

static const image_file *of(const H5FD_t *file) { return (const image_file *)(const void *)file; }

static H5FD_t *image_open(const char *name, unsigned flags, hid_t properties, haddr_t address_max)
{
  (void)name;
  (void)address_max;
  const image_info *info = H5Pget_driver_info(properties);
  image_file *made = NULL;
  if (info == NULL || (flags & H5F_ACC_RDWR) != 0) return NULL;
  *info->no_memory = clm__mem_alloc(1, sizeof *made, &made) != CLM_OK;
  if (*info->no_memory) return NULL;
  made->bytes = info->bytes;
  made->size_bytes = info->size_bytes;
  return &made->base;
}

static herr_t image_close(H5FD_t *file)
{
  clm__mem_free(file);
  return 0;
}

/* None of HDF5's features: each read comes here, and no image is another one. */
static herr_t image_query(const H5FD_t *file, unsigned long *features)
{
  (void)file;
  *features = 0;
  return 0;
}

static haddr_t image_get_eoa(const H5FD_t *file, H5FD_mem_t type)
{
  (void)type;
  return of(file)->end_of_allocation;
}

static herr_t image_set_eoa(H5FD_t *file, H5FD_mem_t type, haddr_t address)
{
  (void)type;
  ((image_file *)(void *)file)->end_of_allocation = address;
  return 0;
}

static haddr_t image_get_eof(const H5FD_t *file, H5FD_mem_t type)
{
  (void)type;
  return (haddr_t)of(file)->size_bytes;
}

static herr_t image_read(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t address,
                         size_t size_bytes, void *buffer)
{
  (void)type;
  (void)transfer;
  const image_file *image = of(file);
  if (address > image->size_bytes || size_bytes > image->size_bytes - (size_t)address) return -1;
  if (size_bytes > 0) memcpy(buffer, image->bytes + address, size_bytes);
  return 0;
}

static herr_t image_write(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t address,
                          size_t size_bytes, const void *buffer)
{
  (void)file;
  (void)type;
  (void)transfer;
  (void)address;
  (void)size_bytes;
  (void)buffer;
  return -1;
}

static const H5FD_class_t driver = {
#ifdef H5FD_CLASS_VERSION
    .version = H5FD_CLASS_VERSION,
    .value = (H5FD_class_value_t)256, /* those below are HDF5's own */
#endif
    .name = "clematis-image",
    .maxaddr = INT64_MAX,
    .fc_degree = H5F_CLOSE_STRONG,
    .fapl_size = sizeof(image_info),
    .open = image_open,
    .close = image_close,
    .query = image_query,
    .get_eoa = image_get_eoa,
    .set_eoa = image_set_eoa,
    .get_eof = image_get_eof,
    .read = image_read,
    .write = image_write,
    .fl_map = H5FD_FLMAP_SINGLE,
};

clm_status clm__hdf5_image_open(const void *bytes, size_t size_bytes, const char *what, hid_t *file)
{
  bool no_memory = false;
  const image_info info = {.bytes = bytes, .size_bytes = size_bytes, .no_memory = &no_memory};
  const hid_t driver_id = H5FDregister(&driver);
  const hid_t properties = driver_id >= 0 ? H5Pcreate(H5P_FILE_ACCESS) : -1;
  hid_t opened = -1;
  if (properties >= 0 && H5Pset_driver(properties, driver_id, &info) >= 0 &&
      H5Pset_fclose_degree(properties, H5F_CLOSE_STRONG) >= 0)
    opened = H5Fopen(what, H5F_ACC_RDONLY, properties);
  if (properties >= 0) (void)H5Pclose(properties);
  /* The open file keeps the driver. */
  if (driver_id >= 0) (void)H5FDunregister(driver_id);
  CLM_REQUIRE(!no_memory, CLM_NO_MEMORY, "no memory to open %s", what);
  CLM_REQUIRE(opened >= 0, CLM_BAD_DATA, "%s is not a valid HDF5 file", what);
  *file = opened;
  return CLM_OK;
}
