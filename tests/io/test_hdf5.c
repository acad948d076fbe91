#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/hdf5.h"
#include "model_support.h"

#include <hdf5.h>

static const float numbers[] = {1.0F, -2.5F, 3.25F, 0.0F, 5.0F, 6.0F};

/* A file of ours: /a/vars/0 [2,3], /a/vars/1 scalar, /b/vars/0 an int. */
static char *make_image(size_t *size_bytes)
{
  const clm__shape shape = clm__shape2(2, 3);
  const clm__shape scalar = {0};
  char *bytes = NULL;
  clm__hdf5 *file = NULL;
  assert_int_equal(clm__hdf5_create(&file), CLM_OK);
  assert_int_equal(clm__hdf5_make_group(file, "/a/vars", "a name"), CLM_OK);
  assert_int_equal(clm__hdf5_make_group(file, "/b/vars", NULL), CLM_OK);
  assert_int_equal(clm__hdf5_write_floats(file, "/a/vars/0", &shape, numbers), CLM_OK);
  assert_int_equal(clm__hdf5_write_floats(file, "/a/vars/1", &scalar, numbers + 2), CLM_OK);
  assert_int_equal(clm__hdf5_write_int(file, "/b/vars/0", INT64_MAX), CLM_OK);
  assert_int_equal(clm__hdf5_take_image(file, &bytes, size_bytes), CLM_OK);
  clm__hdf5_close(file);
  return bytes;
}

static void numbers_come_back(void **state)
{
  (void)state;
  size_t size_bytes = 0;
  char *bytes = make_image(&size_bytes);
  clm__hdf5 *file = NULL;
  const clm__shape shape = clm__shape2(2, 3);
  const clm__shape scalar = {0};
  float read[6] = {0};
  int64_t count = 0;
  assert_int_equal(clm__hdf5_open(bytes, size_bytes, "the file", &file), CLM_OK);
  assert_true(clm__hdf5_has(file, "/a/vars/0"));
  assert_false(clm__hdf5_has(file, "/a/vars/2"));
  assert_false(clm__hdf5_has(file, "a"));
  assert_int_equal(clm__hdf5_count(file, "/a/vars"), 2);
  assert_int_equal(clm__hdf5_count(file, "/a/vars/0"), 0);
  assert_int_equal(clm__hdf5_count(file, "/c"), 0);
  assert_int_equal(clm__hdf5_read_floats(file, "/a/vars/0", &shape, read), CLM_OK);
  assert_memory_equal(read, numbers, sizeof numbers);
  assert_int_equal(clm__hdf5_read_floats(file, "/a/vars/1", &scalar, read), CLM_OK);
  assert_true(read[0] == 3.25F);
  assert_int_equal(clm__hdf5_read_int(file, "/b/vars/0", &count), CLM_OK);
  assert_true(count == INT64_MAX);
  clm__hdf5_close(file);
  clm__mem_free(bytes);
}

static void equal_content_makes_equal_files(void **state)
{
  (void)state;
  size_t sizes[2];
  char *a = make_image(&sizes[0]);
  char *b = make_image(&sizes[1]);
  assert_int_equal(sizes[0], sizes[1]);
  assert_memory_equal(a, b, sizes[0]);
  clm__mem_free(a);
  clm__mem_free(b);
}

static void two_files_may_be_open(void **state)
{
  (void)state;
  size_t size_bytes = 0;
  char *bytes = make_image(&size_bytes);
  clm__hdf5 *files[2] = {NULL, NULL};
  assert_int_equal(clm__hdf5_open(bytes, size_bytes, "one", &files[0]), CLM_OK);
  assert_int_equal(clm__hdf5_create(&files[1]), CLM_OK);
  assert_int_equal(clm__hdf5_count(files[0], "/a/vars"), 2);
  assert_int_equal(clm__hdf5_count(files[1], "/a/vars"), 0);
  clm__hdf5_close(files[1]);
  clm__hdf5_close(files[0]);
  clm__hdf5_close(NULL);
  clm__mem_free(bytes);
}

static void wrong_shapes_are_refused(void **state)
{
  static const clm__shape shapes[] = {{2, {3, 2}}, {1, {6}}, {0, {0}}, {3, {2, 3, 1}}, {2, {2, 4}}};
  (void)state;
  size_t size_bytes = 0;
  char *bytes = make_image(&size_bytes);
  clm__hdf5 *file = NULL;
  float read[8] = {0};
  int64_t count = 0;
  assert_int_equal(clm__hdf5_open(bytes, size_bytes, "the file", &file), CLM_OK);
  for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
    expect(clm__hdf5_read_floats(file, "/a/vars/0", &shapes[i], read), CLM_BAD_DATA,
           "the file: /a/vars/0 has not the shape");
  expect(clm__hdf5_read_floats(file, "/a/vars", &shapes[0], read), CLM_BAD_DATA, "no dataset");
  expect(clm__hdf5_read_int(file, "/a/vars/0", &count), CLM_BAD_DATA, "shape scalar");
  clm__hdf5_close(file);
  clm__mem_free(bytes);
}

/* A file made with HDF5 itself, with all that is unusual. */
static hid_t new_file(void)
{
  const hid_t properties = H5Pcreate(H5P_FILE_ACCESS);
  assert_true(H5Pset_fapl_core(properties, 1 << 16, 0) >= 0);
  const hid_t file = H5Fcreate("odd.h5", H5F_ACC_TRUNC, H5P_DEFAULT, properties);
  (void)H5Pclose(properties);
  assert_true(file >= 0);
  return file;
}

static char *close_to_image(hid_t file, size_t *size_bytes)
{
  assert_true(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
  const ssize_t size = H5Fget_file_image(file, NULL, 0);
  assert_true(size > 0);
  char *bytes = malloc((size_t)size);
  assert_non_null(bytes);
  assert_int_equal(H5Fget_file_image(file, bytes, (size_t)size), size);
  (void)H5Fclose(file);
  *size_bytes = (size_t)size;
  return bytes;
}

static void add_dataset(hid_t file, const char *name, hid_t type, hid_t properties)
{
  const hsize_t dims[] = {2, 3};
  const hid_t space = H5Screate_simple(2, dims, NULL);
  const hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
  assert_true(dataset >= 0);
  if (H5Tget_class(type) != H5T_STRING && H5Tget_class(type) != H5T_COMPOUND)
    (void)H5Dwrite(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers);
  (void)H5Dclose(dataset);
  (void)H5Sclose(space);
}

static void add_external(hid_t file)
{
  const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
  assert_true(H5Pset_external(properties, "/etc/passwd", 0, 24) >= 0);
  const hsize_t dims[] = {2, 3};
  const hid_t space = H5Screate_simple(2, dims, NULL);
  const hid_t dataset =
      H5Dcreate2(file, "external", H5T_IEEE_F32LE, space, H5P_DEFAULT, properties, H5P_DEFAULT);
  assert_true(dataset >= 0);
  (void)H5Dclose(dataset);
  (void)H5Sclose(space);
  (void)H5Pclose(properties);
}

static void add_virtual(hid_t file)
{
  const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
  const hsize_t dims[] = {2, 3};
  const hid_t space = H5Screate_simple(2, dims, NULL);
  assert_true(H5Pset_virtual(properties, space, "/tmp/other.h5", "/x", space) >= 0);
  const hid_t dataset =
      H5Dcreate2(file, "virtual", H5T_IEEE_F32LE, space, H5P_DEFAULT, properties, H5P_DEFAULT);
  assert_true(dataset >= 0);
  (void)H5Dclose(dataset);
  (void)H5Sclose(space);
  (void)H5Pclose(properties);
}

static hid_t packed_properties(void)
{
  const hsize_t chunk[] = {1, 2};
  const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
  assert_true(H5Pset_chunk(properties, 2, chunk) >= 0);
  assert_true(H5Pset_shuffle(properties) >= 0);
  assert_true(H5Pset_deflate(properties, 6) >= 0);
  assert_true(H5Pset_fletcher32(properties) >= 0);
  return properties;
}

static char *make_odd_image(size_t *size_bytes)
{
  const hid_t file = new_file();
  const hid_t packed = packed_properties();
  const hid_t text = H5Tcopy(H5T_C_S1);
  assert_true(H5Tset_size(text, 4) >= 0);
  add_dataset(file, "f64", H5T_IEEE_F64BE, H5P_DEFAULT);
  add_dataset(file, "packed", H5T_IEEE_F32LE, packed);
  add_dataset(file, "ints", H5T_STD_I16LE, H5P_DEFAULT);
  add_dataset(file, "text", text, H5P_DEFAULT);
  add_external(file);
  add_virtual(file);
  assert_true(H5Lcreate_soft("/f64", file, "soft", H5P_DEFAULT, H5P_DEFAULT) >= 0);
  assert_true(
      H5Lcreate_external("/tmp/other.h5", "/x", file, "elsewhere", H5P_DEFAULT, H5P_DEFAULT) >= 0);
  assert_true(H5Lcreate_hard(file, "/f64", file, "hard", H5P_DEFAULT, H5P_DEFAULT) >= 0);
  (void)H5Tclose(text);
  (void)H5Pclose(packed);
  return close_to_image(file, size_bytes);
}

static void other_forms_of_numbers_are_converted(void **state)
{
  static const char *const names[] = {"/f64", "/packed", "/hard"};
  static const float whole[] = {1.0F, -2.0F, 3.0F, 0.0F, 5.0F, 6.0F};
  (void)state;
  size_t size_bytes = 0;
  char *bytes = make_odd_image(&size_bytes);
  clm__hdf5 *file = NULL;
  const clm__shape shape = clm__shape2(2, 3);
  float read[6] = {0};
  assert_int_equal(clm__hdf5_open(bytes, size_bytes, "the file", &file), CLM_OK);
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    assert_int_equal(clm__hdf5_read_floats(file, names[i], &shape, read), CLM_OK);
    assert_memory_equal(read, numbers, sizeof numbers);
  }
  assert_int_equal(clm__hdf5_read_floats(file, "/ints", &shape, read), CLM_OK);
  assert_memory_equal(read, whole, sizeof whole);
  clm__hdf5_close(file);
  free(bytes);
}

static void nothing_outside_the_file_is_reached(void **state)
{
  static const struct {
    const char *name;
    const char *words;
  } cases[] = {{"/soft", "no dataset"},
               {"/elsewhere", "no dataset"},
               {"/external", "virtual, external"},
               {"/virtual", "virtual, external"},
               {"/text", "holds no numbers"}};
  (void)state;
  size_t size_bytes = 0;
  char *bytes = make_odd_image(&size_bytes);
  clm__hdf5 *file = NULL;
  const clm__shape shape = clm__shape2(2, 3);
  float read[6] = {0};
  assert_int_equal(clm__hdf5_open(bytes, size_bytes, "the file", &file), CLM_OK);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    expect(clm__hdf5_read_floats(file, cases[i].name, &shape, read), CLM_BAD_DATA, cases[i].words);
  clm__hdf5_close(file);
  free(bytes);
}

static herr_t print_nothing(hid_t stack, void *user)
{
  (void)stack;
  (void)user;
  return 0;
}

static void the_printer_of_the_process_is_put_back(void **state)
{
  int user = 0;
  H5E_auto2_t printer = NULL;
  void *printer_user = NULL;
  clm__hdf5 *file = NULL;
  (void)state;
  (void)H5Eset_auto2(H5E_DEFAULT, print_nothing, &user);
  expect(clm__hdf5_open("rubbish", 7, "the file", &file), CLM_BAD_DATA,
         "the file is not a valid HDF5 file");
  expect(clm__hdf5_open("", 0, "the file", &file), CLM_BAD_DATA, "the file is empty");
  assert_int_equal(clm__hdf5_create(&file), CLM_OK);
  clm__hdf5_close(file);
  (void)H5Eget_auto2(H5E_DEFAULT, &printer, &printer_user);
  assert_ptr_equal(printer_user, &user);
  assert_true(printer == print_nothing);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_come_back),
      cmocka_unit_test(equal_content_makes_equal_files),
      cmocka_unit_test(two_files_may_be_open),
      cmocka_unit_test(wrong_shapes_are_refused),
      cmocka_unit_test(other_forms_of_numbers_are_converted),
      cmocka_unit_test(nothing_outside_the_file_is_reached),
      cmocka_unit_test(the_printer_of_the_process_is_put_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
