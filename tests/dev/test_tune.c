#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "dev/tune.h"
#include "support/folder.h"
#include "sys/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct place {
  char *folder;
  char *path;
} place;

static int setup(void **state)
{
  static place made;
  made.folder = make_folder();
  if (clm__file_join(made.folder, "tuning.txt", &made.path) != CLM_OK) return -1;
  *state = &made;
  return 0;
}

static int teardown(void **state)
{
  place *made = *state;
  clm__mem_free(made->path);
  remove_folder(made->folder);
  return 0;
}

static const clm__device_info card = {.name = "Fast Card 9000",
                                      .vendor = "Card Makers Inc.",
                                      .driver_version = "5.2",
                                      .kind = CLM__DEVICE_GPU,
                                      .vector_width = 4};
static const clm__device_info processor = {
    .name = "cpu-haswell|x", .vendor = "GenuineIntel", .kind = CLM__DEVICE_CPU};

static clm__tune *open_text(const place *at, const char *text)
{
  clm__tune *tune = NULL;
  assert_int_equal(clm__file_write(at->path, text, strlen(text)), CLM_OK);
  if (clm__tune_open(at->path, &tune) != CLM_OK) fail_msg("%s", clm_error_last()->message);
  return tune;
}

static void check(const clm__tune *tune, const clm__device_info *info, const char *shape,
                  const char *expected)
{
  clm__tune_values values;
  char text[256];
  clm__tune_find(tune, info, "conv2d.fwd", shape, &values);
  snprintf(text, sizeof text, "%s %s", values.variant, values.defines);
  assert_string_equal(text, expected);
}

static void test_most_precise_line_counts(void **state)
{
  static const char *const lines[] = {
      "conv2d.fwd | * | * | any",
      "conv2d.fwd | 8x8x3-4 | * | any_shape",
      "conv2d.fwd | * | gpu | kind",
      "conv2d.fwd | * | GPU:4 | width",
      "conv2d.fwd | * | card makers/GPU | vendor",
      "conv2d.fwd | * | Fast* | family",
      "conv2d.fwd | * | Fast Card* | longer",
      "conv2d.fwd | * | fast card 9000 | exact",
      "conv2d.fwd | * | Fast Card 9000, driver 5.2 | driver",
      "conv2d.fwd | 8x8x3-4 | Fast Card 9000, driver 5.2 | exact_shape TILE=4  VEC=8",
  };
  static const char *const expected[] = {
      "any ",    "any_shape ", "kind ",  "width ",  "vendor ",
      "family ", "longer ",    "exact ", "driver ", "exact_shape TILE=4 VEC=8"};
  enum { COUNT = sizeof lines / sizeof lines[0] };
  /* The order of the lines does not matter: the last one stands first here. */
  char text[2048] = "";
  for (int i = 0; i < COUNT; i++) {
    char before[1024];
    snprintf(before, sizeof before, "%s", text);
    snprintf(text, sizeof text, "%s\n%s", lines[i], before);
    clm__tune *tune = open_text(*state, text);
    check(tune, &card, "8x8x3-4", expected[i]);
    clm__tune_close(tune);
  }
}

static void test_what_does_not_fit_is_passed_over(void **state)
{
  clm__tune *tune = open_text(*state, "# a comment\n\n"
                                      "conv2d.bwd_w | * | * | other_pass\n"
                                      "conv2d.fwd | 1x1x1-1 | * | other_shape\n"
                                      "conv2d.fwd | * | cpu | other_kind\n"
                                      "conv2d.fwd | * | Card Makers/cpu | vendor_other_kind\n"
                                      "conv2d.fwd | * | gpu:8 | other_width\n"
                                      "conv2d.fwd | * | Fast Card 9000, driver 5.1 | driver\n"
                                      "conv2d.fwd | * | Slow* | other_family\n"
                                      "conv2d.fwd | * | Fast Card | not_the_whole_name\r\n");
  check(tune, &card, "8x8x3-4", " ");
  check(tune, &processor, "8x8x3-4", "other_kind ");
  clm__tune_close(tune);
}

static void test_later_line_of_equals_counts(void **state)
{
  clm__tune *tune = open_text(*state, "conv2d.fwd|*|gpu|first\nconv2d.fwd|*|gpu|second A=1");
  check(tune, &card, "1x1", "second A=1");
  clm__tune_close(tune);
}

static void test_no_tune_and_no_file(void **state)
{
  const place *at = *state;
  clm__tune *tune = NULL;
  check(NULL, &card, "1x1", " ");
  assert_int_equal(clm__tune_open(at->path, &tune), CLM_OK);
  check(tune, &card, "1x1", " ");
  clm__tune_close(tune);
  clm__tune_close(NULL);
}

static void test_default_path_is_the_cache_folder(void **state)
{
  const place *at = *state;
  clm__tune *tune = open_text(at, "conv2d.fwd | * | * | mine");
  clm__tune_close(tune);
  setenv("CLEMATIS_CACHE", at->folder, 1);
  assert_int_equal(clm__tune_open(NULL, &tune), CLM_OK);
  unsetenv("CLEMATIS_CACHE");
  check(tune, &card, "1x1", "mine ");
  clm__tune_close(tune);
}

static void test_wrong_lines_are_named(void **state)
{
  static const char *const lines[] = {
      "conv2d.fwd",
      "conv2d.fwd | * | *",
      "conv2d.fwd | * | * |",
      " | * | * | v",
      "conv2d.fwd | | * | v",
      "conv2d.fwd | * | | v",
      "conv2d.fwd | * | * | v | w",
      "conv2d.fwd | * | * | v TILE",
      "conv2d.fwd | * | * | v TILE=",
      "conv2d.fwd | * | * | v =4",
      "conv2d.fwd | * | * | v tile=4",
      "conv2d.fwd | * | * | v 4T=4",
      "conv2d.fwd | * | * | v TILE=4;x",
      "conv2d.fwd | * | * | v T=-1",
      "conv2d.fwd | * | * | a_name_of_a_variant_that_does_not_fit_in_its_field",
  };
  const place *at = *state;
  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
    char text[256];
    clm__tune *tune = NULL;
    snprintf(text, sizeof text, "# first\n%s\n", lines[i]);
    assert_int_equal(clm__file_write(at->path, text, strlen(text)), CLM_OK);
    assert_int_equal(clm__tune_open(at->path, &tune), CLM_BAD_DATA);
    assert_non_null(strstr(clm_error_last()->message, "tuning.txt, line 2: "));
    assert_null(tune);
  }
}

static void test_recorded_values_are_found(void **state)
{
  const place *at = *state;
  clm__tune *tune = open_text(at, "# mine\nconv2d.fwd | * | * | any\nold.op | * | * | kept");
  assert_int_equal(
      clm__tune_record(tune, &card, "conv2d.fwd", "8x8x3-4", &(clm__tune_values){"tile", "TILE=4"}),
      CLM_OK);
  assert_int_equal(
      clm__tune_record(tune, &processor, "conv2d.fwd", "8x8x3-4", &(clm__tune_values){"cpu", ""}),
      CLM_OK);
  assert_int_equal(
      clm__tune_record(tune, &card, "conv2d.fwd", "8x8x3-4", &(clm__tune_values){"tile", "TILE=6"}),
      CLM_OK);
  for (int i = 0; i < 2; i++) {
    assert_true(clm__tune_has(tune, &card, "conv2d.fwd", "8x8x3-4"));
    assert_false(clm__tune_has(tune, &card, "conv2d.fwd", "9x9x3-4"));
    assert_false(clm__tune_has(tune, &card, "conv2d.bwd_w", "8x8x3-4"));
    assert_string_equal(clm__tune_path(tune), at->path);
    check(tune, &card, "8x8x3-4", "tile TILE=6");
    check(tune, &card, "9x9x3-4", "any ");
    check(tune, &processor, "8x8x3-4", "cpu ");
    clm__tune_close(tune);
    assert_int_equal(clm__tune_open(at->path, &tune), CLM_OK);
  }
  clm__tune_close(tune);
  char *text = NULL;
  size_t size = 0;
  assert_int_equal(clm__file_read(at->path, 4096, &text, &size), CLM_OK);
  assert_string_equal(text, "# mine\nconv2d.fwd | * | * | any\nold.op | * | * | kept\n"
                            "conv2d.fwd | 8x8x3-4 | cpu-haswell x | cpu\n"
                            "conv2d.fwd | 8x8x3-4 | Fast Card 9000, driver 5.2 | tile TILE=6\n");
  clm__mem_free(text);
}

static void test_record_makes_the_folder(void **state)
{
  const place *at = *state;
  clm__tune *tune = NULL;
  char *folder = NULL, *path = NULL;
  assert_int_equal(clm__file_join(at->folder, "deeper", &folder), CLM_OK);
  assert_int_equal(clm__file_join(folder, "tuning.txt", &path), CLM_OK);
  assert_int_equal(clm__tune_open(path, &tune), CLM_OK);
  assert_int_equal(
      clm__tune_record(tune, &card, "conv2d.fwd", "*", &(clm__tune_values){"tile", ""}), CLM_OK);
  assert_true(clm__file_exists(path));
  clm__tune_close(tune);
  clm__mem_free(path);
  clm__mem_free(folder);
}

static void test_wrong_values_are_not_recorded(void **state)
{
  const place *at = *state;
  clm__tune *tune = open_text(at, "conv2d.fwd | * | * | any\n");
  const clm__tune_values good = {"tile", ""};
  assert_int_equal(clm__tune_record(tune, &card, "conv2d.fwd", "1|1", &good), CLM_BAD_DATA);
  assert_int_equal(clm__tune_record(tune, &card, "conv2d.fwd\n", "1", &good), CLM_BAD_DATA);
  assert_int_equal(clm__tune_record(tune, &card, "#conv2d.fwd", "1", &good), CLM_BAD_DATA);
  assert_int_equal(
      clm__tune_record(tune, &card, "conv2d.fwd", "1", &(clm__tune_values){"tile", "x"}),
      CLM_BAD_DATA);
  assert_int_equal(clm__tune_record(tune, &card, "conv2d.fwd", "1", &(clm__tune_values){"", ""}),
                   CLM_BAD_DATA);
  check(tune, &card, "1", "any ");
  clm__tune_close(tune);
}

/* What is shipped suits every CPU: matrix products are slow there with CLBlast's own parameters. */
static void test_shipped_values(void **state)
{
  (void)state;
  clm__tune *tune = NULL;
  clm__tune_values values;
  clm__device_info info = processor;
  assert_int_equal(clm__tune_open_shipped(&tune), CLM_OK);
  for (info.vector_width = 1; info.vector_width <= 16; info.vector_width *= 2) {
    char vector[16];
    snprintf(vector, sizeof vector, "VWM=%d ", info.vector_width < 4 ? 4 : info.vector_width);
    clm__tune_find(tune, &info, "gemm", "*", &values);
    assert_string_equal(values.variant, "clblast");
    assert_non_null(strstr(values.defines, vector));
  }
  clm__tune_find(tune, &card, "gemm", "*", &values);
  assert_string_equal(values.variant, "");
  assert_null(clm__tune_path(tune));
  clm__tune_close(tune);
}

/* The switch counts the writes of the whole program, so this records until its turn comes. */
static void test_failed_write_keeps_the_file(void **state)
{
  enum { TURN = 100 };
  const place *at = *state;
  clm__tune *tune = open_text(at, "conv2d.fwd | * | * | any\n");
  clm_status status = CLM_OK;
  char defines[16];
  int last = 0;
  setenv("CLEMATIS_TEST_FAIL_WRITE", "100", 1);
  for (int i = 1; i <= TURN && status == CLM_OK; i++) {
    clm__tune_values values = {.variant = "tile"};
    last = i;
    snprintf(values.defines, sizeof values.defines, "N=%d", i);
    status = clm__tune_record(tune, &card, "conv2d.fwd", "1", &values);
  }
  unsetenv("CLEMATIS_TEST_FAIL_WRITE");
  assert_int_equal(status, CLM_IO);
  assert_true(last > 1);
  snprintf(defines, sizeof defines, "tile N=%d", last - 1);
  check(tune, &card, "1", defines);
  clm__tune_close(tune);
  assert_int_equal(clm__tune_open(at->path, &tune), CLM_OK);
  check(tune, &card, "1", defines);
  clm__tune_close(tune);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_most_precise_line_counts, setup, teardown),
      cmocka_unit_test_setup_teardown(test_what_does_not_fit_is_passed_over, setup, teardown),
      cmocka_unit_test_setup_teardown(test_later_line_of_equals_counts, setup, teardown),
      cmocka_unit_test_setup_teardown(test_no_tune_and_no_file, setup, teardown),
      cmocka_unit_test_setup_teardown(test_default_path_is_the_cache_folder, setup, teardown),
      cmocka_unit_test_setup_teardown(test_wrong_lines_are_named, setup, teardown),
      cmocka_unit_test_setup_teardown(test_recorded_values_are_found, setup, teardown),
      cmocka_unit_test_setup_teardown(test_record_makes_the_folder, setup, teardown),
      cmocka_unit_test_setup_teardown(test_wrong_values_are_not_recorded, setup, teardown),
      cmocka_unit_test(test_shipped_values),
      cmocka_unit_test_setup_teardown(test_failed_write_keeps_the_file, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
