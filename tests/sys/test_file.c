#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "support/folder.h"
#include "sys/file.h"

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
  (void)chmod(folder, 0700);
  remove_folder(folder);
  return 0;
}

static const char *path_of(const char *name)
{
  static char paths[2][1024];
  static int turn;
  turn = 1 - turn;
  (void)snprintf(paths[turn], sizeof paths[turn], "%s/%s", folder, name);
  return paths[turn];
}

static void assert_content(const char *name, const char *expected)
{
  char *content = NULL;
  size_t size = 0;
  assert_int_equal(clm__file_read(path_of(name), SIZE_MAX, &content, &size), CLM_OK);
  assert_int_equal(size, strlen(expected));
  assert_string_equal(content, expected);
  clm__mem_free(content);
}

static void write_text(const char *name, const char *text)
{
  assert_int_equal(clm__file_write(path_of(name), text, strlen(text)), CLM_OK);
}

static size_t count_entries(void)
{
  clm__file_listing listing;
  assert_int_equal(clm__file_list(folder, &listing), CLM_OK);
  const size_t count = listing.count;
  clm__file_listing_fini(&listing);
  return count;
}

/* ---- Reading ---- */

static void what_was_written_is_read(void **state)
{
  (void)state;
  write_text("a", "tulip");
  assert_content("a", "tulip");
  write_text("a", "");
  assert_content("a", "");
  assert_int_equal(count_entries(), 1);
}

static void unreadable_things_are_named_with_the_reason(void **state)
{
  (void)state;
  char *content = NULL;
  size_t size = 0;
  assert_int_equal(clm__file_read(path_of("gone"), 10, &content, &size), CLM_NO_INPUT);
  assert_non_null(strstr(clm_error_last()->message, "gone: No such file"));
  assert_int_equal(clm__file_read(folder, 10, &content, &size), CLM_NO_INPUT);
  assert_non_null(strstr(clm_error_last()->message, "it is a folder"));
  assert_int_equal(mkfifo(path_of("pipe"), 0600), 0);
  assert_int_equal(clm__file_read(path_of("pipe"), 10, &content, &size), CLM_NO_INPUT);
  assert_non_null(strstr(clm_error_last()->message, "not a plain file"));
  write_text("long", "0123456789a");
  assert_int_equal(clm__file_read(path_of("long"), 10, &content, &size), CLM_BAD_DATA);
  assert_non_null(strstr(clm_error_last()->message, "11 bytes, the limit is 10"));
  assert_null(content);
}

static void a_buffer_is_used_again(void **state)
{
  (void)state;
  write_text("long", "0123456789");
  write_text("short", "ab");
  clm__file_buffer buffer = {0};
  assert_int_equal(clm__file_read_into(path_of("long"), 100, &buffer), CLM_OK);
  assert_string_equal(buffer.bytes, "0123456789");
  const uint64_t before = clm__mem_get_counts().allocations;
  assert_int_equal(clm__file_read_into(path_of("short"), 100, &buffer), CLM_OK);
  assert_string_equal(buffer.bytes, "ab");
  assert_int_equal(buffer.size_bytes, 2);
  assert_int_equal(clm__mem_get_counts().allocations, before);
  clm__file_buffer_fini(&buffer);
}

/* ---- Writing ---- */

/* The switch counts from the program's begin: write until its turn comes. */
static void a_full_disk_leaves_the_old_file_whole(void **state)
{
  (void)state;
  char text[32] = "";
  char before[32] = "";
  clm_status status = CLM_OK;
  assert_int_equal(setenv("CLEMATIS_TEST_FAIL_WRITE", "100", 1), 0);
  for (int i = 0; i < 100 && status == CLM_OK; i++) {
    memcpy(before, text, sizeof before);
    (void)snprintf(text, sizeof text, "content %d", i);
    status = clm__file_write(path_of("a"), text, strlen(text));
  }
  assert_int_equal(unsetenv("CLEMATIS_TEST_FAIL_WRITE"), 0);
  assert_int_equal(status, CLM_IO);
  assert_non_null(strstr(clm_error_last()->message, "No space left on device"));
  assert_content("a", before);
  assert_int_equal(count_entries(), 1);
}

static void a_read_only_folder_is_an_io_error(void **state)
{
  (void)state;
  if (geteuid() == 0) {
    print_message("skipped: root may write everywhere\n");
    skip();
  }
  assert_int_equal(chmod(folder, 0500), 0);
  assert_int_equal(clm__file_write(path_of("a"), "x", 1), CLM_IO);
  assert_int_equal(clm__file_append(path_of("a"), "x", 1), CLM_IO);
  assert_int_equal(clm__file_make_folder(path_of("sub")), CLM_IO);
}

static void a_missing_folder_is_an_io_error(void **state)
{
  (void)state;
  assert_int_equal(clm__file_write(path_of("no/a"), "x", 1), CLM_IO);
  assert_non_null(strstr(clm_error_last()->message, "no/a"));
}

static void a_target_that_is_a_folder_is_an_io_error(void **state)
{
  (void)state;
  assert_int_equal(clm__file_make_folder(path_of("sub/x")), CLM_OK);
  assert_int_equal(clm__file_write(path_of("sub"), "x", 1), CLM_IO);
  assert_int_equal(count_entries(), 1);
}

/* A writer that is killed again and again: the file is always one of the two whole contents. */
static void a_killed_writer_leaves_a_whole_file(void **state)
{
  (void)state;
  enum { SIZE = 300000 };
  char *content = malloc(SIZE);
  memset(content, 'a', SIZE);
  assert_int_equal(clm__file_write(path_of("a"), content, SIZE), CLM_OK);
  for (int round = 0; round < 10; round++) {
    const pid_t child = fork();
    if (child == 0) {
      for (int i = 0;; i++) {
        memset(content, 'a' + i % 2, SIZE);
        (void)!clm__file_write(path_of("a"), content, SIZE);
      }
    }
    const struct timespec pause = {.tv_nsec = 5000000L + 3000000L * round};
    (void)nanosleep(&pause, NULL);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    char *read = NULL;
    size_t size = 0;
    assert_int_equal(clm__file_read(path_of("a"), SIZE_MAX, &read, &size), CLM_OK);
    assert_int_equal(size, SIZE);
    for (size_t i = 1; i < SIZE; i++) assert_int_equal(read[i], read[0]);
    clm__mem_free(read);
  }
  free(content);
}

static void appending_makes_and_lengthens_a_file(void **state)
{
  (void)state;
  assert_int_equal(clm__file_append(path_of("log"), "one\n", 4), CLM_OK);
  assert_int_equal(clm__file_append(path_of("log"), "two\n", 4), CLM_OK);
  assert_content("log", "one\ntwo\n");
}

static void temporary_names_differ_and_commit_moves_them(void **state)
{
  (void)state;
  char *first = NULL;
  char *second = NULL;
  assert_int_equal(clm__file_temporary_name(path_of("a"), &first), CLM_OK);
  assert_int_equal(clm__file_temporary_name(path_of("a"), &second), CLM_OK);
  assert_string_not_equal(first, second);
  assert_int_equal(clm__file_append(first, "x", 1), CLM_OK);
  assert_int_equal(clm__file_commit(first, path_of("a")), CLM_OK);
  assert_content("a", "x");
  assert_int_equal(clm__file_commit(second, path_of("a")), CLM_IO);
  assert_content("a", "x");
  clm__mem_free(first);
  clm__mem_free(second);
}

/* ---- Folders and names ---- */

static void a_listing_is_sorted_as_bytes(void **state)
{
  (void)state;
  static const char *const names[] = {".h", "B", "_", "a", "a b", "a-b", "b10", "b9", "\xC3\xA9"};
  const size_t count = sizeof names / sizeof *names;
  for (size_t i = count; i-- > 0;) write_text(names[i], "12");
  assert_int_equal(clm__file_make_folder(path_of("sub")), CLM_OK);
  assert_int_equal(symlink("sub", path_of("to_sub")), 0);
  assert_int_equal(symlink("gone", path_of("to_nothing")), 0);
  clm__file_listing listing;
  assert_int_equal(clm__file_list(folder, &listing), CLM_OK);
  assert_int_equal(listing.count, count + 3);
  for (size_t i = 0; i + 1 < count; i++) {
    assert_string_equal(listing.entries[i].name, names[i]);
    assert_int_equal(listing.entries[i].size_bytes, 2);
    assert_false(listing.entries[i].is_folder || listing.entries[i].is_link);
  }
  const clm__file_entry *sub = &listing.entries[count - 1];
  assert_string_equal(sub[0].name, "sub");
  assert_true(sub[0].is_folder && !sub[0].is_link);
  assert_string_equal(sub[1].name, "to_nothing");
  assert_true(!sub[1].is_folder && sub[1].is_link);
  assert_string_equal(sub[2].name, "to_sub");
  assert_true(sub[2].is_folder && sub[2].is_link);
  assert_string_equal(sub[3].name, names[count - 1]);
  clm__file_listing_fini(&listing);
  assert_int_equal(clm__file_list(path_of("a"), &listing), CLM_NO_INPUT);
  assert_int_equal(clm__file_list(path_of("gone"), &listing), CLM_NO_INPUT);
}

static void folders_are_made_with_those_above(void **state)
{
  (void)state;
  assert_int_equal(clm__file_make_folder(path_of("x/y/z")), CLM_OK);
  assert_int_equal(clm__file_make_folder(path_of("x/y/z")), CLM_OK);
  assert_true(clm__file_is_folder(path_of("x/y/z")));
  write_text("file", "");
  assert_true(clm__file_exists(path_of("file")));
  assert_false(clm__file_is_folder(path_of("file")));
  assert_int_equal(clm__file_make_folder(path_of("file/sub")), CLM_IO);
}

static void removing_takes_files_that_may_be_missing(void **state)
{
  (void)state;
  write_text("a", "x");
  assert_int_equal(clm__file_remove(path_of("a")), CLM_OK);
  assert_false(clm__file_exists(path_of("a")));
  assert_int_equal(clm__file_remove(path_of("a")), CLM_OK);
  assert_int_equal(clm__file_make_folder(path_of("sub")), CLM_OK);
  assert_int_equal(clm__file_remove(path_of("sub")), CLM_IO);
}

static void assert_joined(const char *above, const char *name, const char *expected)
{
  char *path = NULL;
  assert_int_equal(clm__file_join(above, name, &path), CLM_OK);
  assert_string_equal(path, expected);
  clm__mem_free(path);
}

static void names_are_joined_with_one_slash(void **state)
{
  (void)state;
  assert_joined("a", "b", "a/b");
  assert_joined("a/", "b", "a/b");
  assert_joined("/", "b", "/b");
  assert_string_equal(clm__file_base_name("/a/b.jpg"), "b.jpg");
  assert_string_equal(clm__file_base_name("b.jpg"), "b.jpg");
  assert_string_equal(clm__file_base_name("a/"), "");
}

static void assert_cache_folder(const char *own, const char *shared, const char *home,
                                const char *expected)
{
  assert_int_equal(setenv("CLEMATIS_CACHE", own, 1), 0);
  assert_int_equal(setenv("XDG_CACHE_HOME", shared, 1), 0);
  assert_int_equal(setenv("HOME", home, 1), 0);
  char *path = NULL;
  assert_int_equal(clm__file_cache_folder(&path), CLM_OK);
  if (expected == NULL)
    assert_null(path);
  else
    assert_string_equal(path, expected);
  clm__mem_free(path);
}

static void the_cache_folder_follows_the_environment(void **state)
{
  (void)state;
  assert_cache_folder("/own", "/shared", "/home/x", "/own");
  assert_cache_folder("", "/shared", "/home/x", "/shared/clematis");
  assert_cache_folder("", "relative", "/home/x", "/home/x/.cache/clematis");
  assert_cache_folder("", "", "", NULL);
}

#define FILE_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
  const struct CMUnitTest tests[] = {
      FILE_TEST(what_was_written_is_read),
      FILE_TEST(unreadable_things_are_named_with_the_reason),
      FILE_TEST(a_buffer_is_used_again),
      FILE_TEST(a_full_disk_leaves_the_old_file_whole),
      FILE_TEST(a_read_only_folder_is_an_io_error),
      FILE_TEST(a_missing_folder_is_an_io_error),
      FILE_TEST(a_target_that_is_a_folder_is_an_io_error),
      FILE_TEST(a_killed_writer_leaves_a_whole_file),
      FILE_TEST(appending_makes_and_lengthens_a_file),
      FILE_TEST(temporary_names_differ_and_commit_moves_them),
      FILE_TEST(a_listing_is_sorted_as_bytes),
      FILE_TEST(folders_are_made_with_those_above),
      FILE_TEST(removing_takes_files_that_may_be_missing),
      cmocka_unit_test(names_are_joined_with_one_slash),
      cmocka_unit_test(the_cache_folder_follows_the_environment),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
