#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "data/tree.h"
#include "support/folder.h"
#include "sys/file.h"

static void assert_open_fails(clm_status status, const char *first, const char *second)
{
  clm__dataset *dataset = NULL;
  const clm__dataset_config config = {.folder = tree};
  assert_int_equal(clm__dataset_open(&config, &dataset), status);
  assert_null(dataset);
  const char *message = clm_error_last()->message;
  if (strstr(message, first) == NULL || strstr(message, second) == NULL)
    fail_msg("\"%s\" does not say \"%s\" and \"%s\"", message, first, second);
}

/* "label<TAB>path" lines of one subset. */
static char *list_samples(const clm__dataset *dataset, size_t first, size_t stop)
{
  clm__str text = {0};
  for (size_t i = first; i < stop; i++)
    assert_int_equal(
        clm__str_add(&text, "%d\t%s\n", dataset->samples[i].label, dataset->samples[i].path),
        CLM_OK);
  char *list = NULL;
  assert_int_equal(clm__str_take(&text, &list), CLM_OK);
  return list;
}

static char *read_golden_list(const char *name)
{
  char path[1024];
  (void)snprintf(path, sizeof path, "%s/golden/split/%s", tests_folder(), name);
  char *content = NULL;
  size_t size = 0;
  assert_int_equal(clm__file_read(path, SIZE_MAX, &content, &size), CLM_OK);
  return content;
}

static void assert_lists_equal(const clm__dataset *dataset, const char *training,
                               const char *validation)
{
  char *actual = list_samples(dataset, 0, dataset->train_count);
  char *expected = read_golden_list(training);
  assert_string_equal(actual, expected);
  clm__mem_free(actual);
  clm__mem_free(expected);
  if (validation == NULL) return;
  actual = list_samples(dataset, dataset->train_count, dataset->count);
  expected = read_golden_list(validation);
  assert_string_equal(actual, expected);
  clm__mem_free(actual);
  clm__mem_free(expected);
}

/* ---- Order and split ---- */

static void split_of_the_photographs_equals_keras(void **state)
{
  (void)state;
  const char *photos = photos_folder();
  if (photos == NULL) skip();
  static const struct {
    clm__dataset_config config;
    const char *training;
    const char *validation;
  } cases[] = {
      {{.validation_split = 0.2, .seed = 123, .shuffle = true},
       "split0.2_seed123_training.txt",
       "split0.2_seed123_validation.txt"},
      {{.validation_split = 0.1, .seed = 7, .shuffle = true},
       "split0.1_seed7_training.txt",
       "split0.1_seed7_validation.txt"},
      {{.validation_split = 0.2},
       "split0.2_noshuffle_training.txt",
       "split0.2_noshuffle_validation.txt"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    clm__dataset_config config = cases[i].config;
    config.folder = photos;
    clm__dataset *dataset = NULL;
    assert_int_equal(clm__dataset_open(&config, &dataset), CLM_OK);
    assert_int_equal(dataset->class_count, 5);
    assert_lists_equal(dataset, cases[i].training, cases[i].validation);
    clm__dataset_close(dataset);
  }
}

/* The photographs' names without the photographs: every clone can check the shuffle. */
static void split_of_listed_names_equals_keras(void **state)
{
  (void)state;
  char *lists[] = {read_golden_list("split0.2_seed123_training.txt"),
                   read_golden_list("split0.2_seed123_validation.txt")};
  for (int i = 0; i < 2; i++) {
    for (char *line = strtok(lists[i], "\n"); line != NULL; line = strtok(NULL, "\n"))
      put_empty(strchr(line, '\t') + 1);
    clm__mem_free(lists[i]);
  }
  clm__dataset *dataset =
      open_tree(&(clm__dataset_config){.validation_split = 0.2, .seed = 123, .shuffle = true});
  assert_lists_equal(dataset, "split0.2_seed123_training.txt", "split0.2_seed123_validation.txt");
  clm__dataset_close(dataset);
  dataset = open_tree(&(clm__dataset_config){.validation_split = 0.1, .seed = 7, .shuffle = true});
  assert_lists_equal(dataset, "split0.1_seed7_training.txt", "split0.1_seed7_validation.txt");
  clm__dataset_close(dataset);
}

/* Keras lists dot files and walks dot folders below a class; here they are left out before the
 * split (docs/data.md), so the golden tree is made without its two listed ones, and the golden
 * lists that hold them do not apply. */
static void make_golden_tree(bool with_dot_entries)
{
  char *list = read_golden_list("tree.txt");
  for (char *line = strtok(list, "\n"); line != NULL; line = strtok(NULL, "\n")) {
    const bool hidden = strstr(line, "/.") != NULL || line[0] == '.';
    if (with_dot_entries || !hidden) put_empty(line);
  }
  clm__mem_free(list);
}

static void remove_dot_lines(char *list)
{
  char *to = list;
  for (const char *line = list; *line != '\0';) {
    const char *end = strchr(line, '\n') + 1;
    const char *dot = strstr(line, "/.");
    const size_t length = (size_t)(end - line);
    if (dot == NULL || dot >= end) {
      memmove(to, line, length);
      to += length;
    }
    line = end;
  }
  *to = '\0';
}

static void awkward_names_are_listed_in_keras_order(void **state)
{
  (void)state;
  make_golden_tree(true);
  clm__dataset *dataset = open_tree(&(clm__dataset_config){0});
  char *expected = read_golden_list("tree_noshuffle.txt");
  remove_dot_lines(expected);
  char *actual = list_samples(dataset, 0, dataset->count);
  assert_string_equal(actual, expected);
  clm__mem_free(actual);
  clm__mem_free(expected);
  static const char *const names[] = {"B", "_c", "a b", "b", "empty"};
  assert_int_equal(dataset->class_count, 5);
  for (int i = 0; i < 5; i++) assert_string_equal(dataset->class_names[i], names[i]);
  /* .hidden.jpg, notes.txt, 4.webp, .d, readme.md, .skip, top.jpg */
  assert_int_equal(dataset->ignored_entries, 7);
  clm__dataset_close(dataset);
}

static void dot_entries_do_not_move_other_files(void **state)
{
  (void)state;
  const clm__dataset_config config = {.validation_split = 0.3, .seed = 5, .shuffle = true};
  make_golden_tree(false);
  clm__dataset *without = open_tree(&config);
  make_golden_tree(true);
  clm__dataset *with = open_tree(&config);
  assert_int_equal(clm__dataset_digest(with), clm__dataset_digest(without));
  assert_int_equal(with->count, 11);
  assert_int_equal(with->count - with->train_count, 3);
  clm__dataset_close(without);
  clm__dataset_close(with);
}

static void notebook_and_desktop_files_are_no_class_and_no_sample(void **state)
{
  (void)state;
  static const char *const names[] = {".ipynb_checkpoints/a.jpg",
                                      ".DS_Store",
                                      "x/.DS_Store",
                                      "x/Thumbs.db",
                                      "x/._1.jpg",
                                      "x/1.jpg",
                                      "y/2.JPG",
                                      "y/.hidden/3.jpg"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) put_empty(names[i]);
  clm__dataset *dataset = open_tree(&(clm__dataset_config){0});
  assert_int_equal(dataset->class_count, 2);
  assert_int_equal(dataset->count, 2);
  assert_int_equal(dataset->ignored_entries, 6);
  clm__dataset_close(dataset);
}

static void make_three_classes(int each)
{
  for (int c = 0; c < 3; c++)
    for (int i = 0; i < each; i++) {
      char name[32];
      (void)snprintf(name, sizeof name, "%c/%d.png", 'a' + c, i);
      put_empty(name);
    }
}

static void the_split_is_disjoint_and_complete(void **state)
{
  (void)state;
  make_three_classes(10);
  for (int kind = CLM__SPLIT_KERAS; kind <= CLM__SPLIT_STRATIFIED; kind++) {
    clm__dataset *dataset = open_tree(&(clm__dataset_config){
        .validation_split = 0.2, .seed = 9, .shuffle = true, .split = (clm__split_kind)kind});
    assert_int_equal(dataset->count, 30);
    assert_int_equal(dataset->train_count, 24);
    for (size_t i = 0; i < 30; i++)
      for (size_t k = 0; k < i; k++)
        assert_string_not_equal(dataset->samples[i].path, dataset->samples[k].path);
    clm__dataset_close(dataset);
  }
}

static void a_stratified_split_validates_every_class(void **state)
{
  (void)state;
  make_three_classes(10);
  put_empty("single/1.jpg");
  put_empty("pair/1.jpg");
  put_empty("pair/2.jpg");
  for (uint32_t seed = 0; seed < 20; seed++) {
    clm__dataset *dataset = open_tree(&(clm__dataset_config){.validation_split = 0.2,
                                                             .seed = seed,
                                                             .shuffle = seed > 0,
                                                             .split = CLM__SPLIT_STRATIFIED});
    clm__class_counts counts[5];
    clm__dataset_count_classes(dataset, counts);
    for (int c = 0; c < 3; c++) {
      assert_int_equal(counts[c].train, 8);
      assert_int_equal(counts[c].validation, 2);
    }
    assert_int_equal(counts[3].train, 1);
    assert_int_equal(counts[3].validation, 1);
    assert_int_equal(counts[4].train, 1);
    assert_int_equal(counts[4].validation, 0);
    clm__dataset_close(dataset);
  }
}

static void unlabelled_pictures_need_no_folders(void **state)
{
  (void)state;
  put_empty("2.jpg");
  put_empty("1.png");
  put_empty("sub/0.jpg");
  clm__dataset *dataset = open_tree(&(clm__dataset_config){.unlabelled = true});
  assert_int_equal(dataset->class_count, 0);
  assert_int_equal(dataset->count, 3);
  assert_string_equal(dataset->samples[0].path, "1.png");
  assert_string_equal(dataset->samples[1].path, "2.jpg");
  assert_string_equal(dataset->samples[2].path, "sub/0.jpg");
  assert_int_equal(dataset->samples[2].label, -1);
  clm__dataset_close(dataset);
}

static void linked_folders_are_walked_only_on_request(void **state)
{
  (void)state;
  put_empty("x/1.jpg");
  put_empty("y/2.jpg");
  char target[2048];
  (void)snprintf(target, sizeof target, "%s/y", tree);
  assert_int_equal(symlink(target, path_in_tree("x/link")), 0);
  assert_int_equal(symlink(target, path_in_tree("z")), 0);
  /* Round and round: x/loop -> x */
  assert_int_equal(symlink(".", path_in_tree("x/loop")), 0);
  clm__dataset *dataset = open_tree(&(clm__dataset_config){0});
  assert_int_equal(dataset->class_count, 3);
  assert_int_equal(dataset->count, 3);
  clm__dataset_close(dataset);
  dataset = open_tree(&(clm__dataset_config){.follow_links = true});
  assert_int_equal(dataset->count, 4);
  assert_string_equal(dataset->samples[1].path, "x/link/2.jpg");
  clm__dataset_close(dataset);
}

static void one_class_and_one_picture_are_enough(void **state)
{
  (void)state;
  put_empty("only/1.jpg");
  clm__dataset *dataset =
      open_tree(&(clm__dataset_config){.validation_split = 0.2, .seed = 123, .shuffle = true});
  assert_int_equal(dataset->class_count, 1);
  assert_int_equal(dataset->train_count, 1);
  assert_int_equal(dataset->count, 1);
  clm__dataset_close(dataset);
}

/* ---- Folders that cannot be used ---- */

static void a_missing_folder_is_no_input(void **state)
{
  (void)state;
  clm__dataset *dataset = NULL;
  const clm__dataset_config config = {.folder = path_in_tree("nowhere")};
  assert_int_equal(clm__dataset_open(&config, &dataset), CLM_NO_INPUT);
  assert_non_null(strstr(clm_error_last()->message, "nowhere: No such file"));
}

static void pictures_without_class_folders_show_the_wanted_layout(void **state)
{
  (void)state;
  put_empty("1.jpg");
  put_empty("2.jpg");
  put_empty("notes.txt");
  assert_open_fails(CLM_BAD_DATA, "it holds 2 pictures and 1 other entries", "/roses/1.jpg");
}

static void class_folders_without_pictures_are_named(void **state)
{
  (void)state;
  put_empty("roses/1.webp");
  put_empty("tulips/readme.txt");
  assert_open_fails(CLM_BAD_DATA, "no pictures in the 2 class folders", "(roses, tulips)");
}

static void an_empty_folder_is_bad_data(void **state)
{
  (void)state;
  assert_open_fails(CLM_BAD_DATA, "no class folders", "0 pictures");
  clm__dataset *dataset = NULL;
  const clm__dataset_config config = {.folder = tree, .unlabelled = true};
  assert_int_equal(clm__dataset_open(&config, &dataset), CLM_BAD_DATA);
  assert_non_null(strstr(clm_error_last()->message, "no file below it ends in .jpg"));
}

static void a_split_outside_its_range_is_a_usage_error(void **state)
{
  (void)state;
  put_empty("x/1.jpg");
  static const double splits[] = {-0.1, 1.0, 2.0, NAN};
  for (size_t i = 0; i < sizeof splits / sizeof *splits; i++) {
    clm__dataset *dataset = NULL;
    const clm__dataset_config config = {.folder = tree, .validation_split = splits[i]};
    assert_int_equal(clm__dataset_open(&config, &dataset), CLM_USAGE);
  }
}

static void every_refused_allocation_is_an_error(void **state)
{
  (void)state;
  make_three_classes(3);
  const clm__dataset_config config = {
      .folder = tree, .validation_split = 0.5, .shuffle = true, .split = CLM__SPLIT_STRATIFIED};
  const uint64_t live = clm__mem_get_counts().blocks_live;
  clm_status status = CLM_NO_MEMORY;
  int refused = 0;
  for (uint64_t nth = 1; status == CLM_NO_MEMORY; nth++) {
    char text[32];
    (void)snprintf(text, sizeof text, "%llu",
                   (unsigned long long)(clm__mem_get_counts().allocations + nth));
    assert_int_equal(setenv("CLEMATIS_TEST_FAIL_ALLOC", text, 1), 0);
    clm__dataset *dataset = NULL;
    status = clm__dataset_open(&config, &dataset);
    assert_true(status == CLM_OK || (status == CLM_NO_MEMORY && dataset == NULL));
    if (status == CLM_NO_MEMORY) refused++;
    clm__dataset_close(dataset);
    assert_int_equal(clm__mem_get_counts().blocks_live, live);
  }
  assert_int_equal(unsetenv("CLEMATIS_TEST_FAIL_ALLOC"), 0);
  assert_true(refused > 20);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(split_of_the_photographs_equals_keras),
      TREE_TEST(split_of_listed_names_equals_keras),
      TREE_TEST(awkward_names_are_listed_in_keras_order),
      TREE_TEST(dot_entries_do_not_move_other_files),
      TREE_TEST(notebook_and_desktop_files_are_no_class_and_no_sample),
      TREE_TEST(the_split_is_disjoint_and_complete),
      TREE_TEST(a_stratified_split_validates_every_class),
      TREE_TEST(unlabelled_pictures_need_no_folders),
      TREE_TEST(linked_folders_are_walked_only_on_request),
      TREE_TEST(one_class_and_one_picture_are_enough),
      TREE_TEST(a_missing_folder_is_no_input),
      TREE_TEST(pictures_without_class_folders_show_the_wanted_layout),
      TREE_TEST(class_folders_without_pictures_are_named),
      TREE_TEST(an_empty_folder_is_bad_data),
      TREE_TEST(a_split_outside_its_range_is_a_usage_error),
      TREE_TEST(every_refused_allocation_is_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
