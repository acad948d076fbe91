#include "io/hdf5.h"

#include "base/mem.h"
#include "io/hdf5_image.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <hdf5.h>

/* Of the process, as the HDF5 library's state is. */
static pthread_mutex_t library_lock = PTHREAD_MUTEX_INITIALIZER;

struct clm__hdf5 {
  hid_t id;
  const char *what;
  void *image;         /* of a new file, once it is closed */
  H5E_auto2_t printer; /* of the process, put back at the end */
  void *printer_user;
};

#define PATH_SIZE 512

void clm__hdf5_enter(void) { (void)pthread_mutex_lock(&library_lock); }

void clm__hdf5_leave(void) { (void)pthread_mutex_unlock(&library_lock); }

static void silence(clm__hdf5 *file)
{
  (void)H5Eget_auto2(H5E_DEFAULT, &file->printer, &file->printer_user);
  (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

/* ---- the memory of a new file: ours, so that the image is taken over and not copied ---- */

static void *allocate_image(size_t size_bytes, H5FD_file_image_op_t operation, void *user)
{
  (void)operation;
  (void)user;
  char *memory = NULL;
  if (clm__mem_alloc(size_bytes, 1, &memory) != CLM_OK) return NULL;
  return memory;
}

static void *resize_image(void *memory, size_t size_bytes, H5FD_file_image_op_t operation,
                          void *user)
{
  (void)operation;
  (void)user;
  if (clm__mem_resize(size_bytes, 1, &memory) != CLM_OK) return NULL;
  return memory;
}

static herr_t free_image(void *memory, H5FD_file_image_op_t operation, void *user)
{
  clm__hdf5 *file = user;
  if (operation == H5FD_FILE_IMAGE_OP_FILE_CLOSE)
    file->image = memory;
  else
    clm__mem_free(memory);
  return 0;
}

static void *share_user(void *user) { return user; }

static herr_t keep_user(void *user)
{
  (void)user;
  return 0;
}

static herr_t use_own_memory(hid_t properties, clm__hdf5 *file)
{
  H5FD_file_image_callbacks_t calls = {.image_malloc = allocate_image,
                                       .image_memcpy = NULL,
                                       .image_realloc = resize_image,
                                       .image_free = free_image,
                                       .udata_copy = share_user,
                                       .udata_free = keep_user,
                                       .udata = file};
  return H5Pset_file_image_callbacks(properties, &calls);
}

/* ---- opening ---- */

static hid_t create_image(clm__hdf5 *file)
{
  /* Never a file on disk; HDF5 tells open images in memory apart by their names. */
  char name[64];
  (void)snprintf(name, sizeof name, "clematis-image-%p", (void *)file);
  const size_t step_bytes = (size_t)1 << 20;
  const hid_t properties = H5Pcreate(H5P_FILE_ACCESS);
  hid_t made = -1;
  if (properties < 0) return properties;
  if (H5Pset_fapl_core(properties, step_bytes, 0) >= 0 &&
      H5Pset_fclose_degree(properties, H5F_CLOSE_STRONG) >= 0 &&
      use_own_memory(properties, file) >= 0)
    made = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, properties);
  (void)H5Pclose(properties);
  return made;
}

static clm_status start(const char *what, clm__hdf5 **file)
{
  CLM_TRY(clm__mem_alloc(1, sizeof **file, file));
  (*file)->id = -1;
  (*file)->what = what;
  silence(*file);
  return CLM_OK;
}

clm_status clm__hdf5_open(const void *bytes, size_t size_bytes, const char *what, clm__hdf5 **file)
{
  clm__hdf5 *made = NULL;
  CLM_REQUIRE(size_bytes > 0, CLM_BAD_DATA, "%s is empty", what);
  CLM_TRY(start(what, &made));
  const clm_status status = clm__hdf5_image_open(bytes, size_bytes, what, &made->id);
  if (status == CLM_OK)
    *file = made;
  else
    clm__hdf5_close(made);
  return status;
}

clm_status clm__hdf5_create(clm__hdf5 **file)
{
  clm__hdf5 *made = NULL;
  CLM_TRY(start("a new file in memory", &made));
  made->id = create_image(made);
  if (made->id < 0) {
    clm__hdf5_close(made);
    CLM_FAIL(CLM_NO_MEMORY, "cannot begin an HDF5 file");
  }
  *file = made;
  return CLM_OK;
}

void clm__hdf5_close(clm__hdf5 *file)
{
  if (file == NULL) return;
  if (file->id >= 0) (void)H5Fclose(file->id);
  (void)H5Eset_auto2(H5E_DEFAULT, file->printer, file->printer_user);
  clm__mem_free(file->image);
  clm__mem_free(file);
}

/* Whether every part of the path is a hard link, which cannot lead out of the file. */
bool clm__hdf5_has(const clm__hdf5 *file, const char *path)
{
  char part[PATH_SIZE];
  const size_t length = strlen(path);
  if (length >= sizeof part || path[0] != '/') return false;
  for (size_t end = 1; end <= length; end++) {
    if (path[end] != '/' && path[end] != '\0') continue;
    memcpy(part, path, end);
    part[end] = '\0';
    H5L_info_t info;
    if (H5Lexists(file->id, part, H5P_DEFAULT) <= 0) return false;
    if (H5Lget_info(file->id, part, &info, H5P_DEFAULT) < 0) return false;
    if (info.type != H5L_TYPE_HARD) return false;
  }
  return true;
}

/* Opens what lies at the path where it is of this type; negative otherwise. */
static hid_t open_object(const clm__hdf5 *file, const char *path, H5I_type_t type)
{
  if (!clm__hdf5_has(file, path)) return -1;
  const hid_t object = H5Oopen(file->id, path, H5P_DEFAULT);
  if (object < 0 || H5Iget_type(object) == type) return object;
  (void)H5Oclose(object);
  return -1;
}

size_t clm__hdf5_count(const clm__hdf5 *file, const char *path)
{
  const hid_t group = open_object(file, path, H5I_GROUP);
  if (group < 0) return 0;
  H5G_info_t info;
  const bool known = H5Gget_info(group, &info) >= 0;
  (void)H5Oclose(group);
  return known ? (size_t)info.nlinks : 0;
}

/* Whether the dataset's data lie within the file and need no plug-in to be read. */
static bool is_plain_storage(hid_t dataset)
{
  const hid_t properties = H5Dget_create_plist(dataset);
  if (properties < 0) return false;
  const H5D_layout_t layout = H5Pget_layout(properties);
  bool plain = layout == H5D_CONTIGUOUS || layout == H5D_COMPACT || layout == H5D_CHUNKED;
  plain = plain && H5Pget_external_count(properties) == 0;
  const int filters = H5Pget_nfilters(properties);
  for (int i = 0; plain && i < filters; i++) {
    unsigned flags = 0;
    size_t values = 0;
    const H5Z_filter_t filter =
        H5Pget_filter2(properties, (unsigned)i, &flags, &values, NULL, 0, NULL, NULL);
    plain = filter == H5Z_FILTER_DEFLATE || filter == H5Z_FILTER_SHUFFLE ||
            filter == H5Z_FILTER_FLETCHER32;
  }
  (void)H5Pclose(properties);
  return plain && filters >= 0;
}

static bool is_number(hid_t dataset)
{
  const hid_t type = H5Dget_type(dataset);
  if (type < 0) return false;
  const H5T_class_t class = H5Tget_class(type);
  const size_t size = H5Tget_size(type);
  (void)H5Tclose(type);
  return (class == H5T_FLOAT || class == H5T_INTEGER) && size >= 1 && size <= 8;
}

static clm_status check_shape(const clm__hdf5 *file, const char *path, hid_t dataset,
                              const clm__shape *shape)
{
  char wanted[CLM__SHAPE_TEXT_SIZE];
  hsize_t dims[H5S_MAX_RANK] = {0};
  const hid_t space = H5Dget_space(dataset);
  CLM_REQUIRE(space >= 0, CLM_BAD_DATA, "%s: the shape of %s is damaged", file->what, path);
  const H5S_class_t class = H5Sget_simple_extent_type(space);
  const int rank = H5Sget_simple_extent_dims(space, dims, NULL);
  (void)H5Sclose(space);
  bool equal = (class == H5S_SCALAR || class == H5S_SIMPLE) && rank == shape->rank;
  for (int i = 0; equal && i < rank; i++) equal = dims[i] == (hsize_t)shape->dims[i];
  CLM_REQUIRE(equal, CLM_BAD_DATA, "%s: %s has not the shape %s that the model needs", file->what,
              path, clm__shape_text(shape, wanted));
  return CLM_OK;
}

static clm_status check_dataset(const clm__hdf5 *file, const char *path, hid_t dataset,
                                const clm__shape *shape)
{
  CLM_TRY(check_shape(file, path, dataset, shape));
  CLM_REQUIRE(is_number(dataset), CLM_BAD_DATA, "%s: %s holds no numbers", file->what, path);
  CLM_REQUIRE(is_plain_storage(dataset), CLM_BAD_DATA,
              "%s: %s is kept in a way that is not read (virtual, external or packed by a plug-in)",
              file->what, path);
  return CLM_OK;
}

static clm_status read_values(const clm__hdf5 *file, const char *path, const clm__shape *shape,
                              hid_t type, void *values)
{
  const hid_t dataset = open_object(file, path, H5I_DATASET);
  CLM_REQUIRE(dataset >= 0, CLM_BAD_DATA, "%s has no dataset %s", file->what, path);
  clm_status status = check_dataset(file, path, dataset, shape);
  if (status == CLM_OK && H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0)
    status = clm__error_fail(CLM_BAD_DATA, __FILE__, __LINE__, __func__,
                             "%s: the data of %s are damaged", file->what, path);
  (void)H5Oclose(dataset);
  return status;
}

clm_status clm__hdf5_read_floats(const clm__hdf5 *file, const char *path, const clm__shape *shape,
                                 float *values)
{
  return read_values(file, path, shape, H5T_NATIVE_FLOAT, values);
}

clm_status clm__hdf5_read_int(const clm__hdf5 *file, const char *path, int64_t *value)
{
  const clm__shape scalar = {0};
  int64_t read = 0;
  CLM_TRY(read_values(file, path, &scalar, H5T_NATIVE_INT64, &read));
  *value = read;
  return CLM_OK;
}

/* h5py's text attribute: one string of variable length in UTF-8. */
static clm_status write_name(hid_t group, const char *name)
{
  const hid_t type = H5Tcopy(H5T_C_S1);
  const hid_t space = H5Screate(H5S_SCALAR);
  bool done = type >= 0 && space >= 0 && H5Tset_size(type, H5T_VARIABLE) >= 0 &&
              H5Tset_cset(type, H5T_CSET_UTF8) >= 0;
  const hid_t attribute =
      done ? H5Acreate2(group, "name", type, space, H5P_DEFAULT, H5P_DEFAULT) : -1;
  done = attribute >= 0 && H5Awrite(attribute, type, &name) >= 0;
  if (attribute >= 0) (void)H5Aclose(attribute);
  if (space >= 0) (void)H5Sclose(space);
  if (type >= 0) (void)H5Tclose(type);
  CLM_REQUIRE(done, CLM_NO_MEMORY, "cannot write the name of %s", name);
  return CLM_OK;
}

clm_status clm__hdf5_make_group(clm__hdf5 *file, const char *path, const char *name)
{
  const hid_t properties = H5Pcreate(H5P_LINK_CREATE);
  hid_t group = -1;
  if (properties >= 0 && H5Pset_create_intermediate_group(properties, 1) >= 0)
    group = H5Gcreate2(file->id, path, properties, H5P_DEFAULT, H5P_DEFAULT);
  if (properties >= 0) (void)H5Pclose(properties);
  CLM_REQUIRE(group >= 0, CLM_NO_MEMORY, "cannot make the HDF5 group %s", path);
  const clm_status status = name != NULL ? write_name(group, name) : CLM_OK;
  (void)H5Gclose(group);
  return status;
}

/* Without the time of writing, so that equal models make equal files. */
static hid_t create_dataset(clm__hdf5 *file, const char *path, const clm__shape *shape, hid_t type)
{
  hsize_t dims[CLM__RANK_MAX] = {0};
  for (int i = 0; i < shape->rank; i++) dims[i] = (hsize_t)shape->dims[i];
  const hid_t space =
      shape->rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(shape->rank, dims, NULL);
  const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
  hid_t dataset = -1;
  if (space >= 0 && properties >= 0 && H5Pset_obj_track_times(properties, false) >= 0)
    dataset = H5Dcreate2(file->id, path, type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
  if (properties >= 0) (void)H5Pclose(properties);
  if (space >= 0) (void)H5Sclose(space);
  return dataset;
}

/* type: in the file; memory_type: of values. */
static clm_status write_values(clm__hdf5 *file, const char *path, const clm__shape *shape,
                               const hid_t types[2], const void *values)
{
  const hid_t dataset = create_dataset(file, path, shape, types[0]);
  bool done = dataset >= 0;
  done = done && H5Dwrite(dataset, types[1], H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;
  if (dataset >= 0) done = H5Dclose(dataset) >= 0 && done;
  CLM_REQUIRE(done, CLM_NO_MEMORY, "cannot write the HDF5 dataset %s", path);
  return CLM_OK;
}

clm_status clm__hdf5_write_floats(clm__hdf5 *file, const char *path, const clm__shape *shape,
                                  const float *values)
{
  const hid_t types[] = {H5T_IEEE_F32LE, H5T_NATIVE_FLOAT};
  return write_values(file, path, shape, types, values);
}

clm_status clm__hdf5_write_int(clm__hdf5 *file, const char *path, int64_t value)
{
  const clm__shape scalar = {0};
  const hid_t types[] = {H5T_STD_I64LE, H5T_NATIVE_INT64};
  return write_values(file, path, &scalar, types, &value);
}

clm_status clm__hdf5_take_image(clm__hdf5 *file, char **bytes, size_t *size_bytes)
{
  ssize_t size = -1;
  if (H5Fflush(file->id, H5F_SCOPE_GLOBAL) >= 0) size = H5Fget_file_image(file->id, NULL, 0);
  const bool closed = H5Fclose(file->id) >= 0;
  file->id = -1;
  CLM_REQUIRE(size > 0 && closed && file->image != NULL, CLM_NO_MEMORY,
              "cannot finish the HDF5 file");
  *bytes = file->image;
  *size_bytes = (size_t)size;
  file->image = NULL;
  return CLM_OK;
}
