#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "data/tree.h"

static void make_small_tree(void)
{
  put_golden("a/1.jpg", "src/jpeg_420.jpg");
  put_golden("a/deep/2.png", "src/png_rgb8.png");
  put_golden("a/cut.jpg", "bad/truncated.jpg");
  put_golden("b/1.jpg", "src/jpeg_grey.jpg");
  put_empty("b/empty.jpg");
  put_empty("b/.hidden");
}

static clm__dataset *open_checked(void)
{
  clm__dataset *dataset = open_tree(&(clm__dataset_config){.validation_split = 0.4, .seed = 3});
  size_t all_count = 0;
  assert_int_equal(clm__dataset_check(dataset, &(clm__dataset_check_config){0}), CLM_OK);
  clm__dataset_drop_faulty(dataset, &all_count);
  return dataset;
}

static void assert_equal(const clm__dataset *a, const clm__dataset *b)
{
  assert_true(clm__dataset_digest(a) == clm__dataset_digest(b));
  assert_int_equal(a->all_count, b->all_count);
  assert_int_equal(a->count, b->count);
  assert_int_equal(a->ignored_entries, b->ignored_entries);
  for (size_t i = 0; i < a->all_count; i++) {
    assert_string_equal(a->samples[i].path, b->samples[i].path);
    assert_int_equal(a->samples[i].label, b->samples[i].label);
    if (i >= a->count) assert_string_equal(a->samples[i].fault, b->samples[i].fault);
  }
}

static void a_list_comes_back_as_it_was(void **state)
{
  (void)state;
  make_small_tree();
  clm__dataset *dataset = open_checked();
  assert_int_equal(dataset->all_count - dataset->count, 2);
  char *bytes = NULL;
  size_t size_bytes = 0;
  assert_int_equal(clm__dataset_pack(dataset, &bytes, &size_bytes), CLM_OK);
  clm__dataset *copy = NULL;
  assert_int_equal(clm__dataset_unpack(bytes, size_bytes, "elsewhere", &copy), CLM_OK);
  assert_string_equal(copy->folder, "elsewhere");
  assert_equal(dataset, copy);
  clm__dataset_close(copy);
  clm__dataset_close(dataset);
  clm__mem_free(bytes);
}

/* Any cut and any changed byte is refused or gives a list that can be used. */
static void hostile_bytes_do_no_harm(void **state)
{
  (void)state;
  make_small_tree();
  clm__dataset *dataset = open_checked();
  char *bytes = NULL;
  size_t size_bytes = 0;
  assert_int_equal(clm__dataset_pack(dataset, &bytes, &size_bytes), CLM_OK);
  clm__dataset *copy = NULL;
  for (size_t at = 0; at < size_bytes; at++) {
    assert_int_equal(clm__dataset_unpack(bytes, at, "x", &copy), CLM_BAD_DATA);
    for (int change = 1; change < 256; change += 53) {
      bytes[at] = (char)(bytes[at] ^ change);
      if (clm__dataset_unpack(bytes, size_bytes, "x", &copy) == CLM_OK) {
        assert_true(copy->train_count <= copy->count && copy->count <= copy->all_count);
        (void)clm__dataset_digest(copy);
        clm__dataset_close(copy);
      }
      bytes[at] = (char)(bytes[at] ^ change);
    }
  }
  clm__dataset_close(dataset);
  clm__mem_free(bytes);
}

static void assert_path_refused(const char *path, const char *reason)
{
  char *name[] = {(char[]){"a"}};
  char text[32];
  (void)snprintf(text, sizeof text, "%s", path);
  clm__sample sample = {.path = text};
  const clm__dataset dataset = {
      .class_names = name, .class_count = 1, .samples = &sample, .count = 1, .all_count = 1};
  char *bytes = NULL;
  size_t size_bytes = 0;
  clm__dataset *copy = NULL;
  assert_int_equal(clm__dataset_pack(&dataset, &bytes, &size_bytes), CLM_OK);
  assert_int_equal(clm__dataset_unpack(bytes, size_bytes, "x", &copy),
                   reason == NULL ? CLM_OK : CLM_BAD_DATA);
  if (reason == NULL)
    clm__dataset_close(copy);
  else
    assert_non_null(strstr(clm_error_last()->message, reason));
  clm__mem_free(bytes);
}

static void no_path_leads_out_of_the_folder(void **state)
{
  (void)state;
  assert_path_refused("a/1.jpg", NULL);
  assert_path_refused("a/..b/..1.jpg", NULL);
  assert_path_refused("/etc/passwd", "leads elsewhere");
  assert_path_refused("a/../../secret", "leads elsewhere");
  assert_path_refused("..", "leads elsewhere");
  assert_path_refused("", "leads elsewhere");
}

/* ---- A check that is shared ---- */

static void parts_find_what_one_check_finds(void **state)
{
  (void)state;
  make_small_tree();
  clm__dataset *whole = open_checked();
  for (size_t parts = 1; parts <= 7; parts += 2) {
    clm__dataset *dataset = open_tree(&(clm__dataset_config){.validation_split = 0.4, .seed = 3});
    for (size_t part = 0; part < parts; part++)
      assert_int_equal(
          clm__dataset_check_part(dataset, &(clm__dataset_check_config){0}, part, parts), CLM_OK);
    assert_int_equal(clm__dataset_judge(dataset, false, NULL), CLM_OK);
    assert_int_equal(clm__dataset_judge(dataset, true, NULL), CLM_BAD_DATA);
    size_t all_count = 0;
    clm__dataset_drop_faulty(dataset, &all_count);
    assert_equal(whole, dataset);
    clm__dataset_close(dataset);
  }
  clm__dataset_close(whole);
}

static void a_file_that_only_rank_0_has_is_no_bad_file(void **state)
{
  (void)state;
  make_small_tree();
  clm__dataset *dataset = open_tree(&(clm__dataset_config){0});
  assert_int_equal(unlink(path_in_tree("a/1.jpg")), 0);
  assert_int_equal(clm__dataset_check_part(dataset, &(clm__dataset_check_config){0}, 0, 2), CLM_OK);
  /* The list is in the order of names. */
  dataset->samples[1].path[2] = 'x';
  assert_int_equal(clm__dataset_check_part(dataset, &(clm__dataset_check_config){0}, 1, 2),
                   CLM_NO_INPUT);
  assert_non_null(strstr(clm_error_last()->message, "every rank must see the same folder"));
  clm__dataset_close(dataset);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      TREE_TEST(a_list_comes_back_as_it_was),
      TREE_TEST(hostile_bytes_do_no_harm),
      cmocka_unit_test(no_path_leads_out_of_the_folder),
      TREE_TEST(parts_find_what_one_check_finds),
      TREE_TEST(a_file_that_only_rank_0_has_is_no_bad_file),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
