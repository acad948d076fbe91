#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "data/tree.h"

/* ---- The check of the files ---- */

static void make_bad_tree(void)
{
  put_golden("a/1.jpg", "src/jpeg_420.jpg");
  put_golden("a/2.png", "src/png_rgb8.png");
  put_golden("a/named_jpg_is_png.jpg", "src/png_named_as_jpeg.jpg");
  put_golden("a/truncated.jpg", "bad/truncated.jpg");
  put_golden("b/1.jpg", "src/jpeg_grey.jpg");
  put_golden("b/named_jpg_is_gif.jpg", "src/gif_37x53.gif");
  put_golden("b/crc.png", "bad/bad_crc.png");
  put_empty("b/empty.jpg");
  put_file("b/text.jpg", "<!DOCTYPE html>", 15);
}

static const char *fault_of(const clm__dataset *dataset, const char *path)
{
  for (size_t i = 0; i < dataset->all_count; i++)
    if (strcmp(dataset->samples[i].path, path) == 0) return dataset->samples[i].fault;
  fail_msg("%s is not listed", path);
  return NULL;
}

typedef struct messages {
  int count;
  char first[256];
} messages;

static void receive(void *user, clm_log_level level, const char *message)
{
  messages *seen = user;
  assert_int_equal(level, CLM_LOG_WARNING);
  if (seen->count++ == 0) (void)snprintf(seen->first, sizeof seen->first, "%s", message);
}

static void bad_files_are_found_and_named(void **state)
{
  (void)state;
  make_bad_tree();
  for (int threads = 1; threads <= 8; threads *= 2) {
    clm__dataset *dataset = open_tree(&(clm__dataset_config){0});
    messages seen = {0};
    const clm_log log = {receive, &seen};
    const clm__dataset_check_config config = {.threads = threads, .log = &log};
    assert_int_equal(clm__dataset_check(dataset, &config), CLM_OK);
    assert_int_equal(seen.count, 5);
    assert_non_null(strstr(seen.first, "left out a/truncated.jpg: truncated JPEG"));
    assert_null(fault_of(dataset, "a/1.jpg"));
    assert_null(fault_of(dataset, "a/named_jpg_is_png.jpg"));
    assert_string_equal(fault_of(dataset, "b/empty.jpg"), "empty file");
    assert_string_equal(fault_of(dataset, "b/text.jpg"),
                        "not a picture: it begins with \"<!DOCTYPE ht\"");
    assert_string_equal(fault_of(dataset, "b/named_jpg_is_gif.jpg"),
                        "GIF is not supported: convert it to JPEG or PNG");
    assert_string_equal(fault_of(dataset, "b/crc.png"), "damaged PNG (IHDR: CRC error)");
    clm__dataset_close(dataset);
  }
}

static void faulty_samples_leave_their_subset_in_order(void **state)
{
  (void)state;
  make_bad_tree();
  clm__dataset *dataset =
      open_tree(&(clm__dataset_config){.validation_split = 0.4, .seed = 3, .shuffle = true});
  char before[9][64];
  for (size_t i = 0; i < 9; i++)
    (void)snprintf(before[i], sizeof before[i], "%s", dataset->samples[i].path);
  const size_t train_before = dataset->train_count;
  assert_int_equal(clm__dataset_check(dataset, &(clm__dataset_check_config){0}), CLM_OK);
  size_t all_count = 0;
  clm__dataset_drop_faulty(dataset, &all_count);
  assert_int_equal(all_count, 9);
  assert_int_equal(dataset->count, 4);
  size_t at = 0;
  for (size_t i = 0; i < 9; i++) {
    if (i == train_before) assert_int_equal(dataset->train_count, at);
    if (fault_of(dataset, before[i]) == NULL)
      assert_string_equal(dataset->samples[at++].path, before[i]);
  }
  for (size_t i = 4; i < 9; i++) assert_non_null(dataset->samples[i].fault);
  for (size_t i = 5; i < 9; i++)
    assert_true(strcmp(dataset->samples[i - 1].path, dataset->samples[i].path) < 0);
  clm__dataset_drop_faulty(dataset, &all_count);
  assert_int_equal(all_count, 9);
  assert_int_equal(dataset->count, 4);
  clm__dataset_close(dataset);
}

static void strict_names_the_first_bad_file_for_any_number_of_threads(void **state)
{
  (void)state;
  make_bad_tree();
  for (int threads = 1; threads <= 8; threads *= 2)
    for (int round = 0; round < 10; round++) {
      clm__dataset *dataset = open_tree(&(clm__dataset_config){0});
      const clm__dataset_check_config config = {.threads = threads, .strict = true};
      assert_int_equal(clm__dataset_check(dataset, &config), CLM_BAD_DATA);
      assert_non_null(strstr(clm_error_last()->message, "/a/truncated.jpg: truncated JPEG"));
      clm__dataset_close(dataset);
    }
}

static void a_class_that_loses_all_its_pictures_stops_the_run(void **state)
{
  (void)state;
  put_golden("a/1.jpg", "src/jpeg_420.jpg");
  put_empty("b/1.jpg");
  put_empty("b/2.jpg");
  clm__dataset *dataset = open_tree(&(clm__dataset_config){0});
  assert_int_equal(clm__dataset_check(dataset, &(clm__dataset_check_config){0}), CLM_BAD_DATA);
  assert_non_null(strstr(clm_error_last()->message,
                         "none of the 2 pictures of class b can be used; b/1.jpg: empty file"));
  clm__dataset_close(dataset);
}

static void no_usable_picture_at_all_stops_the_run(void **state)
{
  (void)state;
  put_empty("a/1.jpg");
  put_empty("b/2.jpg");
  clm__dataset *dataset = open_tree(&(clm__dataset_config){0});
  assert_int_equal(clm__dataset_check(dataset, &(clm__dataset_check_config){0}), CLM_BAD_DATA);
  assert_non_null(strstr(clm_error_last()->message, "none of the 2 pictures in"));
  clm__dataset_close(dataset);
}

static void files_that_cannot_be_opened_are_faults(void **state)
{
  (void)state;
  put_golden("a/1.jpg", "src/jpeg_420.jpg");
  assert_int_equal(symlink("gone", path_in_tree("a/2.jpg")), 0);
  assert_int_equal(mkfifo(path_in_tree("a/3.jpg"), 0600), 0);
  clm__dataset *dataset = open_tree(&(clm__dataset_config){0});
  assert_int_equal(clm__dataset_check(dataset, &(clm__dataset_check_config){0}), CLM_OK);
  assert_string_equal(fault_of(dataset, "a/2.jpg"), "cannot open: No such file or directory");
  assert_string_equal(fault_of(dataset, "a/3.jpg"), "cannot read: it is not a plain file");
  clm__dataset_close(dataset);
}

static void count_progress(void *user, size_t done, size_t count)
{
  size_t *last = user;
  assert_true(done >= *last && done <= count);
  *last = done;
}

static void progress_ends_with_all_files(void **state)
{
  (void)state;
  make_bad_tree();
  clm__dataset *dataset = open_tree(&(clm__dataset_config){0});
  size_t last = 0;
  const clm__dataset_check_config config = {
      .threads = 2, .progress = count_progress, .progress_user = &last};
  assert_int_equal(clm__dataset_check(dataset, &config), CLM_OK);
  assert_int_equal(last, 9);
  clm__dataset_close(dataset);
}

static void memory_that_runs_out_during_the_check_is_no_fault_of_a_file(void **state)
{
  (void)state;
  put_golden("a/1.jpg", "src/jpeg_420.jpg");
  clm__dataset *dataset = open_tree(&(clm__dataset_config){0});
  char next[32];
  for (uint64_t nth = 1; nth <= 3; nth++) {
    (void)snprintf(next, sizeof next, "%llu",
                   (unsigned long long)(clm__mem_get_counts().allocations + nth));
    assert_int_equal(setenv("CLEMATIS_TEST_FAIL_ALLOC", next, 1), 0);
    assert_int_equal(clm__dataset_check(dataset, &(clm__dataset_check_config){0}), CLM_NO_MEMORY);
    assert_null(dataset->samples[0].fault);
  }
  assert_int_equal(unsetenv("CLEMATIS_TEST_FAIL_ALLOC"), 0);
  assert_int_equal(clm__dataset_check(dataset, &(clm__dataset_check_config){0}), CLM_OK);
  clm__dataset_close(dataset);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      TREE_TEST(bad_files_are_found_and_named),
      TREE_TEST(faulty_samples_leave_their_subset_in_order),
      TREE_TEST(strict_names_the_first_bad_file_for_any_number_of_threads),
      TREE_TEST(a_class_that_loses_all_its_pictures_stops_the_run),
      TREE_TEST(no_usable_picture_at_all_stops_the_run),
      TREE_TEST(files_that_cannot_be_opened_are_faults),
      TREE_TEST(progress_ends_with_all_files),
      TREE_TEST(memory_that_runs_out_during_the_check_is_no_fault_of_a_file),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
