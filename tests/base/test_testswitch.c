#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/testswitch.h"

static void a_number_is_read_and_everything_else_is_ignored(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    uint64_t value;
  } cases[] = {{"12", 12}, {"0", 0},    {"18446744073709551615", UINT64_MAX}, {"", 99},
               {"x", 99},  {"12x", 99}, {"99999999999999999999999", 99}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_int_equal(setenv("CLEMATIS_TEST_TRIAL", cases[i].text, 1), 0);
    assert_true(clm__testswitch_number("CLEMATIS_TEST_TRIAL", 99) == cases[i].value);
  }
  assert_int_equal(unsetenv("CLEMATIS_TEST_TRIAL"), 0);
  assert_int_equal(clm__testswitch_number("CLEMATIS_TEST_TRIAL", 99), 99);
}

static void a_text_is_compared_whole(void **state)
{
  (void)state;
  assert_false(clm__testswitch_is("CLEMATIS_TEST_TRIAL", "conv2d"));
  assert_int_equal(setenv("CLEMATIS_TEST_TRIAL", "conv2d", 1), 0);
  assert_true(clm__testswitch_is("CLEMATIS_TEST_TRIAL", "conv2d"));
  assert_false(clm__testswitch_is("CLEMATIS_TEST_TRIAL", "conv"));
  assert_int_equal(unsetenv("CLEMATIS_TEST_TRIAL"), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_number_is_read_and_everything_else_is_ignored),
      cmocka_unit_test(a_text_is_compared_whole),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
