#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "support/folder.h"
#include "sys/file.h"
#include "sys/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *folder;

static int set_up(void **state)
{
  (void)state;
  folder = make_folder();
  return 0;
}

static int tear_down(void **state)
{
  (void)state;
  remove_folder(folder);
  return clm__mem_get_counts().blocks_live == 0 ? 0 : -1;
}

static size_t count_entries(void)
{
  clm__file_listing listing = {0};
  assert_int_equal(clm__file_list(folder, &listing), CLM_OK);
  const size_t count = listing.count;
  clm__file_listing_fini(&listing);
  return count;
}

static void what_is_written_is_read_at_its_place(void **state)
{
  (void)state;
  clm__scratch *scratch = NULL;
  char text[8] = "";
  assert_int_equal(clm__scratch_open(folder, 1 << 20, &scratch), CLM_OK);
  assert_int_equal(count_entries(), 0);
  assert_int_equal(clm__scratch_write(scratch, 5000000, "later", 6), CLM_OK);
  assert_int_equal(clm__scratch_write(scratch, 3, "first", 6), CLM_OK);
  assert_int_equal(clm__scratch_read(scratch, 5000000, text, 6), CLM_OK);
  assert_string_equal(text, "later");
  assert_int_equal(clm__scratch_read(scratch, 3, text, 6), CLM_OK);
  assert_string_equal(text, "first");
  assert_int_equal(clm__scratch_read(scratch, 5000001, text, 6), CLM_IO);
  assert_non_null(strstr(clm_error_last()->message, "ends too early"));
  clm__scratch_close(scratch);
  clm__scratch_close(NULL);
}

static void a_file_with_a_name_is_committed(void **state)
{
  (void)state;
  char path[1100], temporary[1200];
  (void)snprintf(path, sizeof path, "%s/file", folder);
  (void)snprintf(temporary, sizeof temporary, "%s.tmp", path);
  clm__scratch *scratch = NULL;
  assert_int_equal(clm__scratch_create(temporary, &scratch), CLM_OK);
  assert_int_equal(clm__scratch_write(scratch, 0, "0123", 4), CLM_OK);
  assert_int_equal(clm__scratch_write(scratch, 1, "ab", 2), CLM_OK);
  assert_int_equal(clm__scratch_flush(scratch), CLM_OK);
  clm__scratch_close(scratch);
  assert_int_equal(clm__file_commit(temporary, path), CLM_OK);
  char *content = NULL;
  size_t size_bytes = 0;
  assert_int_equal(clm__file_read(path, 100, &content, &size_bytes), CLM_OK);
  assert_string_equal(content, "0ab3");
  clm__mem_free(content);
  assert_int_equal(clm__file_remove(path), CLM_OK);
}

static void what_cannot_be_is_told(void **state)
{
  (void)state;
  clm__scratch *scratch = NULL;
  assert_int_equal(clm__scratch_open("/nowhere/at/all", 1, &scratch), CLM_IO);
  assert_non_null(strstr(clm_error_last()->message, "/nowhere/at/all"));
  assert_int_equal(clm__scratch_create("/nowhere/at/all", &scratch), CLM_IO);
  assert_int_equal(clm__scratch_open(folder, UINT64_C(1) << 62, &scratch), CLM_IO);
  assert_non_null(strstr(clm_error_last()->message, "no room"));
  assert_null(scratch);
  assert_int_equal(count_entries(), 0);
  assert_int_equal(clm__scratch_open(folder, 0, &scratch), CLM_OK);
  assert_int_equal(setenv("CLEMATIS_TEST_FAIL_WRITE", "100", 1), 0);
  clm_status status = CLM_OK;
  for (int i = 0; i < 100 && status == CLM_OK; i++) status = clm__scratch_write(scratch, 0, "x", 1);
  assert_int_equal(unsetenv("CLEMATIS_TEST_FAIL_WRITE"), 0);
  assert_int_equal(status, CLM_IO);
  assert_non_null(strstr(clm_error_last()->message, "No space left on device"));
  clm__scratch_close(scratch);
}

static void the_usual_folder(void **state)
{
  (void)state;
  assert_int_equal(setenv("TMPDIR", "/some/where", 1), 0);
  assert_string_equal(clm__scratch_folder(), "/some/where");
  assert_int_equal(setenv("TMPDIR", "", 1), 0);
  assert_string_equal(clm__scratch_folder(), "/var/tmp");
  assert_int_equal(unsetenv("TMPDIR"), 0);
  assert_string_equal(clm__scratch_folder(), "/var/tmp");
  assert_false(clm__scratch_is_memory("/nowhere/at/all"));
  assert_false(clm__scratch_is_memory("/proc"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_written_is_read_at_its_place),
                                     cmocka_unit_test(a_file_with_a_name_is_committed),
                                     cmocka_unit_test(what_cannot_be_is_told),
                                     cmocka_unit_test(the_usual_folder)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
