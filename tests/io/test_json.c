#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "io/json.h"

static clm__json *parse(const char *text)
{
  clm__json *json = NULL;
  if (clm__json_parse(text, strlen(text), "the text", &json) != CLM_OK)
    fail_msg("%s", clm_error_last()->message);
  return json;
}

static void expect(clm_status status, clm_status wanted, const char *words)
{
  assert_int_equal(status, wanted);
  if (strstr(clm_error_last()->message, words) == NULL)
    fail_msg("\"%s\" is not in \"%s\"", words, clm_error_last()->message);
}

static void errors_tell_line_and_column(void **state)
{
  clm__json *json = NULL;
  (void)state;
  const char *text = "{\n  \"a\": 1,\n  \"b\": }\n";
  expect(clm__json_parse(text, strlen(text), "config.json", &json), CLM_BAD_DATA,
         "config.json is not valid JSON: line 3, column 8");
  expect(clm__json_parse("", 0, "x", &json), CLM_BAD_DATA, "line 1");
  expect(clm__json_parse("[1", 2, "x", &json), CLM_BAD_DATA, "x is not valid");
  expect(clm__json_parse("[NaN]", 5, "x", &json), CLM_BAD_DATA, "x is not valid");
  expect(clm__json_parse("[1e999]", 7, "x", &json), CLM_BAD_DATA, "x is not valid");
  expect(clm__json_parse("[\"\xff\"]", 5, "x", &json), CLM_BAD_DATA, "x is not valid");
  expect(clm__json_parse("[1]\0", 4, "x", &json), CLM_BAD_DATA, "x is not valid");
  assert_null(json);
}

static void deep_nesting_is_refused(void **state)
{
  enum { DEPTH = 1000000 };
  clm__json *json = NULL;
  (void)state;
  char *text = malloc(DEPTH);
  assert_non_null(text);
  memset(text, '[', DEPTH);
  expect(clm__json_parse(text, DEPTH, "x", &json), CLM_BAD_DATA, "depth");
  free(text);
}

static void values_are_found_and_checked(void **state)
{
  (void)state;
  clm__json *json = parse("\xef\xbb\xbf{\"layers\": [{\"config\": {\"size\": [3, 4.0, 2.5], "
                          "\"name\": \"a\", \"on\": true, \"none\": null}}]}");
  const clm__json_at root = clm__json_root(json);
  const clm__json_at layers = clm__json_find(&root, "layers");
  const clm__json_at layer = clm__json_item(&layers, 0);
  const clm__json_at config = clm__json_find(&layer, "config");
  const clm__json_at size = clm__json_find(&config, "size");
  const clm__json_at name = clm__json_find(&config, "name");
  const clm__json_at on = clm__json_find(&config, "on");
  const clm__json_at none = clm__json_find(&config, "none");
  const clm__json_at absent = clm__json_find(&config, "absent");
  const clm__json_at entries[] = {clm__json_item(&size, 0), clm__json_item(&size, 1),
                                  clm__json_item(&size, 2), clm__json_item(&size, 3)};
  int64_t number = 0;
  double real = 0.0;
  bool flag = false;
  const char *text = NULL;
  assert_int_equal(clm__json_count(&size), 3);
  assert_int_equal(clm__json_count(&config), 4);
  assert_int_equal(clm__json_count(&name), 0);
  assert_int_equal(clm__json_get_int(&entries[0], 1, 9, &number), CLM_OK);
  assert_int_equal(number, 3);
  assert_int_equal(clm__json_get_int(&entries[1], 1, 9, &number), CLM_OK);
  assert_int_equal(number, 4);
  assert_int_equal(clm__json_get_number(&entries[2], &real), CLM_OK);
  assert_true(real == 2.5);
  assert_int_equal(clm__json_get_text(&name, &text), CLM_OK);
  assert_string_equal(text, "a");
  assert_int_equal(clm__json_get_bool(&on, &flag), CLM_OK);
  assert_true(flag);
  assert_int_equal(clm__json_kind_of(&none), CLM__JSON_NULL);
  expect(clm__json_get_int(&entries[2], 1, 9, &number), CLM_BAD_DATA,
         "layers[0].config.size[2]: a whole number is expected here, not 2.5");
  expect(clm__json_get_int(&entries[0], 4, 9, &number), CLM_BAD_DATA, "3 is not in 4..9");
  expect(clm__json_get_int(&entries[3], 4, 9, &number), CLM_BAD_DATA,
         "layers[0].config.size[3]: a whole number is expected here, not nothing");
  expect(clm__json_get_text(&on, &text), CLM_BAD_DATA,
         "layers[0].config.on: a text is expected here, not true or false");
  expect(clm__json_get_number(&absent, &real), CLM_BAD_DATA, "layers[0].config.absent: a number");
  expect(clm__json_get_bool(&none, &flag), CLM_BAD_DATA, "not null");
  expect(clm__json_require(&root, CLM__JSON_LIST), CLM_BAD_DATA,
         "a list is expected here, not an object");
  assert_int_equal(number, 4);
  clm__json_free(json);
}

/* Callers make keys in short-lived memory; the path of an error is written later. */
static void a_found_place_keeps_no_key_of_the_caller(void **state)
{
  (void)state;
  clm__json *json = parse("{\"poolSize\": \"two\"}");
  const clm__json_at root = clm__json_root(json);
  char key[] = "poolSize";
  const clm__json_at found = clm__json_find(&root, key);
  memset(key, 'x', sizeof key - 1);
  int64_t number = 0;
  assert_int_equal(clm__json_get_int(&found, 0, 9, &number), CLM_BAD_DATA);
  assert_non_null(strstr(clm_error_last()->message, "poolSize"));
  clm__json_free(json);
}

static void equal_values_are_equal(void **state)
{
  (void)state;
  clm__json *json =
      parse("[[1, 1.0], [[0, 1], [0.0, 1]], [\"a\", \"a\"], [1, true], [[1], [1, 2]]]");
  const clm__json_at root = clm__json_root(json);
  for (size_t i = 0; i < clm__json_count(&root); i++) {
    const clm__json_at pair = clm__json_item(&root, i);
    const clm__json_at a = clm__json_item(&pair, 0);
    const clm__json_at b = clm__json_item(&pair, 1);
    assert_true(clm__json_equal(&a, &b) == (i < 3));
  }
  clm__json_free(json);
}

static void keys_are_gone_through(void **state)
{
  (void)state;
  clm__json *json = parse("{\"b\": 1, \"a\": 2}");
  const clm__json_at root = clm__json_root(json);
  void *iterator = NULL;
  clm__json_at member;
  assert_true(clm__json_next(&root, &iterator, &member));
  assert_string_equal(member.key, "b");
  assert_true(clm__json_next(&root, &iterator, &member));
  assert_string_equal(member.key, "a");
  assert_false(clm__json_next(&root, &iterator, &member));
  iterator = NULL;
  const clm__json_at number = clm__json_find(&root, "a");
  assert_false(clm__json_next(&number, &iterator, &member));
  clm__json_free(json);
}

static void documents_are_written_as_python_does(void **state)
{
  clm__json_writer writer = {0};
  char *text = NULL;
  (void)state;
  clm__json_begin_object(&writer, NULL);
  clm__json_put_text(&writer, "te\"xt", "a\\b\n\xe8\x8a\xb1\xff");
  clm__json_put_int(&writer, "int", INT64_MIN);
  clm__json_begin_list(&writer, "list");
  clm__json_put_bool(&writer, NULL, true);
  clm__json_put_null(&writer, NULL);
  clm__json_begin_object(&writer, NULL);
  clm__json_end_object(&writer);
  clm__json_begin_list(&writer, NULL);
  clm__json_end_list(&writer);
  clm__json_end_list(&writer);
  clm__json_put_raw(&writer, "raw", "[1]");
  clm__json_put_number(&writer, "nan", NAN);
  clm__json_end_object(&writer);
  assert_int_equal(clm__json_take(&writer, &text), CLM_OK);
  assert_string_equal(text, "{\"te\\\"xt\": \"a\\\\b\\u000a\xe8\x8a\xb1\\ufffd\", "
                            "\"int\": -9223372036854775808, \"list\": [true, null, {}, []], "
                            "\"raw\": [1], \"nan\": null}");
  clm__mem_free(text);
}

static void numbers_are_short_and_exact(void **state)
{
  static const struct {
    double value;
    const char *text;
  } cases[] = {{0.0, "0.0"},
               {-0.0, "-0.0"},
               {1.0, "1.0"},
               {255.0, "255.0"},
               {-2.5, "-2.5"},
               {0.001, "0.001"},
               {1.0 / 255.0, "0.00392156862745098"},
               {(double)0.001F, "0.0010000000474974513"},
               {1e-7, "1e-07"},
               {0.0001, "0.0001"},
               {0.00012345, "0.00012345"},
               {1e15, "1000000000000000.0"},
               {9999999999999998.0, "9999999999999998.0"},
               {1e16, "1e+16"},
               {1.5e300, "1.5e+300"},
               {5e-324, "5e-324"},
               {0.1 + 0.2, "0.30000000000000004"}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    clm__json_writer writer = {0};
    char *text = NULL;
    clm__json_put_number(&writer, NULL, cases[i].value);
    assert_int_equal(clm__json_take(&writer, &text), CLM_OK);
    assert_string_equal(text, cases[i].text);
    clm__mem_free(text);
  }
}

static void values_are_dumped(void **state)
{
  char *text = NULL;
  (void)state;
  clm__json *json = parse("{\"a\": [1, 0.1, \"x\"], \"b\": {\"c\": null}}");
  const clm__json_at root = clm__json_root(json);
  assert_int_equal(clm__json_dump(&root, &text), CLM_OK);
  clm__json *again = parse(text);
  const clm__json_at other = clm__json_root(again);
  assert_true(clm__json_equal(&root, &other));
  clm__json_free(again);
  clm__mem_free(text);
  clm__json_free(json);
}

static void a_failed_writer_tells(void **state)
{
  char *text = NULL;
  (void)state;
  const uint64_t live = clm__mem_get_counts().blocks_live;
  clm__json_writer writer = {.status = CLM_NO_MEMORY};
  clm__json_put_int(&writer, "a", 1);
  assert_int_equal(clm__json_take(&writer, &text), CLM_NO_MEMORY);
  assert_null(text);
  assert_int_equal(clm__mem_get_counts().blocks_live, live);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_tell_line_and_column),
      cmocka_unit_test(deep_nesting_is_refused),
      cmocka_unit_test(values_are_found_and_checked),
      cmocka_unit_test(a_found_place_keeps_no_key_of_the_caller),
      cmocka_unit_test(equal_values_are_equal),
      cmocka_unit_test(keys_are_gone_through),
      cmocka_unit_test(documents_are_written_as_python_does),
      cmocka_unit_test(numbers_are_short_and_exact),
      cmocka_unit_test(values_are_dumped),
      cmocka_unit_test(a_failed_writer_tells),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
