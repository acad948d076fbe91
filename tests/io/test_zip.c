#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/zip.h"
#include "model_support.h"

#include <zip.h>

static char *folder;
static char path[512];

static int set_up(void **state)
{
  (void)state;
  folder = make_folder();
  (void)snprintf(path, sizeof path, "%s/file.zip", folder);
  return 0;
}

static int tear_down(void **state)
{
  (void)state;
  remove_folder(folder);
  return 0;
}

static const clm__zip_member some[] = {
    {"first.txt", "hello", 5}, {"empty", "", 0}, {"second.bin", "\0\1\2\3\4\5\6\7", 8}};

static void members_come_back(void **state)
{
  (void)state;
  assert_int_equal(clm__zip_write(path, some, 3), CLM_OK);
  clm__zip *zip = NULL;
  assert_int_equal(clm__zip_open(path, &zip), CLM_OK);
  for (int i = 0; i < 3; i++) {
    char *bytes = NULL;
    size_t size_bytes = 99;
    assert_true(clm__zip_has(zip, some[i].name));
    assert_int_equal(clm__zip_read(zip, some[i].name, 100, &bytes, &size_bytes), CLM_OK);
    assert_int_equal(size_bytes, some[i].size_bytes);
    assert_memory_equal(bytes, some[i].bytes, size_bytes);
    assert_int_equal(bytes[size_bytes], 0);
    clm__mem_free(bytes);
  }
  assert_false(clm__zip_has(zip, "third"));
  clm__zip_close(zip);
  clm__zip_close(NULL);
}

/* As Keras writes archives: in order, stored, without data descriptors. */
static void archives_look_like_those_of_keras(void **state)
{
  (void)state;
  assert_int_equal(clm__zip_write(path, some, 3), CLM_OK);
  size_t size_bytes = 0;
  char *bytes = read_whole(path, &size_bytes);
  const unsigned char *at = (const unsigned char *)bytes;
  for (int i = 0; i < 3; i++) {
    const size_t length = strlen(some[i].name);
    assert_memory_equal(at, "PK\3\4", 4);
    assert_int_equal(at[6] & 8, 0);
    assert_int_equal(at[8] | at[9], 0);
    assert_int_equal(at[18], some[i].size_bytes);
    assert_int_equal(at[22], some[i].size_bytes);
    assert_memory_equal(at + 30, some[i].name, length);
    const size_t extra = (size_t)at[28] | (size_t)at[29] << 8;
    at += 30 + length + extra + some[i].size_bytes;
  }
  assert_memory_equal(at, "PK\1\2", 4);
  clm__mem_free(bytes);
}

static void wrong_members_are_refused(void **state)
{
  (void)state;
  char *bytes = NULL;
  size_t size_bytes = 0;
  clm__zip *zip = NULL;
  assert_int_equal(clm__zip_write(path, some, 3), CLM_OK);
  assert_int_equal(clm__zip_open(path, &zip), CLM_OK);
  expect(clm__zip_read(zip, "third", 100, &bytes, &size_bytes), CLM_BAD_DATA, "no member third");
  expect(clm__zip_read(zip, "first.txt", 4, &bytes, &size_bytes), CLM_BAD_DATA,
         "too large: 5 bytes, the limit is 4");
  assert_null(bytes);
  clm__zip_close(zip);
  zip = NULL;
  expect(clm__zip_open("/nowhere/file.zip", &zip), CLM_NO_INPUT, "/nowhere/file.zip");
  expect(clm__zip_open(folder, &zip), CLM_BAD_DATA, folder);
  expect(clm__zip_open_bytes("PK\3\4rubbish", 11, &zip), CLM_BAD_DATA, "archive");
  assert_null(zip);
}

/* Reads every member of a damaged copy; returns whether all is well. */
static bool reads_well(const char *bytes, size_t size_bytes)
{
  clm__zip *zip = NULL;
  if (clm__zip_open_bytes(bytes, size_bytes, &zip) != CLM_OK) return false;
  bool well = true;
  for (int i = 0; i < 3; i++) {
    char *member = NULL;
    size_t member_bytes = 0;
    if (clm__zip_read(zip, some[i].name, 1000, &member, &member_bytes) != CLM_OK)
      well = false;
    else if (member_bytes != some[i].size_bytes || memcmp(member, some[i].bytes, member_bytes) != 0)
      fail_msg("a changed member passed");
    clm__mem_free(member);
  }
  clm__zip_close(zip);
  return well;
}

static void no_change_of_the_content_passes(void **state)
{
  (void)state;
  assert_int_equal(clm__zip_write(path, some, 3), CLM_OK);
  size_t size_bytes = 0;
  char *bytes = read_whole(path, &size_bytes);
  assert_true(reads_well(bytes, size_bytes));
  for (size_t i = 0; i < size_bytes; i++) {
    assert_false(reads_well(bytes, i));
    for (int bit = 0; bit < 8; bit++) {
      bytes[i] = (char)(bytes[i] ^ (1 << bit));
      (void)reads_well(bytes, size_bytes);
      bytes[i] = (char)(bytes[i] ^ (1 << bit));
    }
  }
  clm__mem_free(bytes);
}

/* An archive of one member of zeros, deflated. */
static char *make_bomb(size_t zeros, size_t *size_bytes)
{
  char *content = calloc(1, zeros);
  assert_non_null(content);
  int code = 0;
  zip_t *archive = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, &code);
  assert_non_null(archive);
  zip_source_t *source = zip_source_buffer(archive, content, zeros, 0);
  const zip_int64_t index = zip_file_add(archive, "bomb", source, 0);
  assert_int_equal(index, 0);
  assert_int_equal(zip_set_file_compression(archive, 0, ZIP_CM_DEFLATE, 9), 0);
  assert_int_equal(zip_close(archive), 0);
  free(content);
  return read_whole(path, size_bytes);
}

static void bombs_are_refused(void **state)
{
  (void)state;
  size_t size_bytes = 0;
  char *bytes = make_bomb((size_t)64 << 20, &size_bytes);
  assert_true(size_bytes < 100000);
  clm__zip *zip = NULL;
  char *member = NULL;
  size_t member_bytes = 0;
  assert_int_equal(clm__zip_open_bytes(bytes, size_bytes, &zip), CLM_OK);
  expect(clm__zip_read(zip, "bomb", SIZE_MAX, &member, &member_bytes), CLM_BAD_DATA,
         "over 100 times");
  clm__zip_close(zip);
  clm__mem_free(bytes);
  bytes = make_bomb(100000, &size_bytes);
  assert_int_equal(clm__zip_open_bytes(bytes, size_bytes, &zip), CLM_OK);
  assert_int_equal(clm__zip_read(zip, "bomb", SIZE_MAX, &member, &member_bytes), CLM_OK);
  assert_int_equal(member_bytes, 100000);
  clm__mem_free(member);
  clm__zip_close(zip);
  clm__mem_free(bytes);
}

/* The directory claims another size than the packed data have. */
static void lies_about_the_size_are_seen(void **state)
{
  static const uint32_t claims[] = {99999, 100001, 10, 0};
  (void)state;
  size_t size_bytes = 0;
  char *bytes = make_bomb(100000, &size_bytes);
  size_t directory = 0;
  while (memcmp(bytes + directory, "PK\1\2", 4) != 0) directory++;
  for (size_t i = 0; i < sizeof claims / sizeof claims[0]; i++) {
    clm__zip *zip = NULL;
    char *member = NULL;
    size_t member_bytes = 0;
    memcpy(bytes + directory + 24, &claims[i], 4);
    memcpy(bytes + 22, &claims[i], 4);
    if (clm__zip_open_bytes(bytes, size_bytes, &zip) == CLM_OK)
      assert_int_equal(clm__zip_read(zip, "bomb", SIZE_MAX, &member, &member_bytes), CLM_BAD_DATA);
    assert_null(member);
    clm__zip_close(zip);
  }
  clm__mem_free(bytes);
}

static void a_full_disk_leaves_the_old_file(void **state)
{
  (void)state;
  assert_int_equal(clm__zip_write(path, some, 3), CLM_OK);
  /* However many writes came before, this one comes. */
  clm_status status = CLM_OK;
  (void)setenv("CLEMATIS_TEST_FAIL_WRITE", "200", 1);
  for (int i = 0; i < 200 && status == CLM_OK; i++) status = clm__zip_write(path, some, 3);
  (void)unsetenv("CLEMATIS_TEST_FAIL_WRITE");
  expect(status, CLM_IO, "cannot write");
  size_t after_bytes = 0;
  char *after = read_whole(path, &after_bytes);
  assert_true(reads_well(after, after_bytes));
  clm__file_listing listing = {0};
  assert_int_equal(clm__file_list(folder, &listing), CLM_OK);
  assert_int_equal(listing.count, 1);
  clm__file_listing_fini(&listing);
  clm__mem_free(after);
  expect(clm__zip_write("/nowhere/file.zip", some, 3), CLM_IO, "/nowhere/file.zip");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(members_come_back),
      cmocka_unit_test(archives_look_like_those_of_keras),
      cmocka_unit_test(wrong_members_are_refused),
      cmocka_unit_test(no_change_of_the_content_passes),
      cmocka_unit_test(bombs_are_refused),
      cmocka_unit_test(lies_about_the_size_are_seen),
      cmocka_unit_test(a_full_disk_leaves_the_old_file),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
