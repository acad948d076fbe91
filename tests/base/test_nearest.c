#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/nearest.h"

#include <string.h>

static const char *found(const char *wanted)
{
  static const char *const names[] = {"Conv2D", "Dense", "MaxPooling2D", "AveragePooling2D"};
  clm__near near = {.wanted = wanted};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) clm__near_try(&near, names[i]);
  return clm__near_found(&near);
}

static void near_names_are_found(void **state)
{
  (void)state;
  assert_string_equal(found("Conv2d"), "Conv2D");
  assert_string_equal(found("dence"), "Dense");
  assert_string_equal(found("MaxPool2D"), "MaxPooling2D");
}

static void far_and_long_names_find_nothing(void **state)
{
  (void)state;
  char longest[200];
  memset(longest, 'x', sizeof longest - 1);
  longest[sizeof longest - 1] = '\0';
  assert_null(found("Transformer"));
  assert_null(found(longest));
  assert_null(found(""));
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(near_names_are_found),
                                     cmocka_unit_test(far_and_long_names_find_nothing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
