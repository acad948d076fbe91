#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "support/folder.h"
#include "sys/file.h"
#include "train/run_folder.h"

#include <stdio.h>
#include <string.h>

typedef struct fixture {
  char *scratch;
  char out[1024];
} fixture;

static fixture test;

static int set_up(void **state)
{
  test.scratch = make_folder();
  (void)snprintf(test.out, sizeof test.out, "%s/deep/my run", test.scratch);
  *state = &test;
  return 0;
}

static int tear_down(void **state)
{
  (void)state;
  remove_folder(test.scratch);
  return clm__mem_get_counts().blocks_live == 0 ? 0 : -1;
}

static void open_folder(bool resume, clm_status expected)
{
  clm__run_folder folder;
  const clm_status status = clm__run_folder_open(&folder, test.out, resume);
  if (status != expected) fail_msg("%s: %s", clm_status_name(status), clm_error_last()->message);
  if (status == CLM_OK) clm__run_folder_fini(&folder);
}

static void a_missing_folder_is_made(void **state)
{
  (void)state;
  open_folder(false, CLM_OK);
  assert_true(clm__file_is_folder(test.out));
}

static void a_start_that_failed_may_be_repeated(void **state)
{
  (void)state;
  open_folder(false, CLM_OK);
  open_folder(false, CLM_OK);
}

static void a_run_is_not_overwritten(void **state)
{
  (void)state;
  const char *const names[] = {"model.keras", "history.csv", "checkpoints/images-1.keras"};
  for (size_t i = 0; i < 3; i++) {
    open_folder(false, CLM_OK);
    char path[2048];
    (void)snprintf(path, sizeof path, "%s/%s", test.out, names[i]);
    assert_int_equal(clm__file_write(path, "x", 1), CLM_OK);
    open_folder(false, CLM_USAGE);
    assert_non_null(strstr(clm_error_last()->message, "--resume"));
    open_folder(true, CLM_OK);
    assert_int_equal(clm__file_remove(path), CLM_OK);
  }
}

static void what_a_killed_run_left_is_removed(void **state)
{
  (void)state;
  const char *const left[] = {"history.csv.12.3.tmp", "checkpoints/images-7.keras.31335.36.tmp"};
  const char *const kept[] = {"notes.tmp", "x.1.tmp", "12.3.tmp", "checkpoints/a.keras"};
  char path[2048];
  open_folder(false, CLM_OK);
  for (size_t i = 0; i < 6; i++) {
    (void)snprintf(path, sizeof path, "%s/%s", test.out, i < 2 ? left[i] : kept[i - 2]);
    assert_int_equal(clm__file_write(path, "x", 1), CLM_OK);
  }
  open_folder(true, CLM_OK);
  for (size_t i = 0; i < 6; i++) {
    (void)snprintf(path, sizeof path, "%s/%s", test.out, i < 2 ? left[i] : kept[i - 2]);
    if (clm__file_exists(path) != (i >= 2)) fail_msg("%s", path);
  }
}

static void resuming_needs_a_folder(void **state)
{
  (void)state;
  open_folder(true, CLM_NO_INPUT);
  clm__run_folder folder;
  assert_int_equal(clm__run_folder_open(&folder, NULL, true), CLM_USAGE);
}

static void a_file_in_its_place_is_told(void **state)
{
  (void)state;
  char path[1100];
  (void)snprintf(path, sizeof path, "%s/deep", test.scratch);
  assert_int_equal(clm__file_write(path, "x", 1), CLM_OK);
  open_folder(false, CLM_IO);
  assert_non_null(strstr(clm_error_last()->message, "/deep"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_missing_folder_is_made, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_start_that_failed_may_be_repeated, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_run_is_not_overwritten, set_up, tear_down),
      cmocka_unit_test_setup_teardown(what_a_killed_run_left_is_removed, set_up, tear_down),
      cmocka_unit_test_setup_teardown(resuming_needs_a_folder, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_file_in_its_place_is_told, set_up, tear_down)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
