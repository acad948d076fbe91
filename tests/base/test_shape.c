#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/shape.h"

static void elements_are_the_product_of_the_dimensions(void **state)
{
  (void)state;
  const clm__shape scalar = {0};
  const clm__shape image = clm__shape3(180, 180, 3);
  const clm__shape row = clm__shape1(128);
  assert_int_equal(clm__shape_elements(&scalar), 1);
  assert_int_equal(clm__shape_elements(&image), 97200);
  assert_int_equal(clm__shape_elements(&row), 128);
}

static void a_product_that_does_not_fit_is_the_largest_number(void **state)
{
  (void)state;
  const clm__shape giant = {.rank = 4, .dims = {2147483647, 2147483647, 2147483647, 2147483647}};
  assert_true(clm__shape_elements(&giant) == SIZE_MAX);
}

static void shapes_are_equal_in_rank_and_dimensions(void **state)
{
  (void)state;
  const clm__shape a = clm__shape2(3, 4);
  const clm__shape b = clm__shape2(3, 4);
  const clm__shape c = clm__shape2(4, 3);
  const clm__shape d = clm__shape3(3, 4, 1);
  assert_true(clm__shape_equal(&a, &b));
  assert_false(clm__shape_equal(&a, &c));
  assert_false(clm__shape_equal(&a, &d));
}

static void a_shape_has_a_text(void **state)
{
  (void)state;
  char text[CLM__SHAPE_TEXT_SIZE];
  const clm__shape scalar = {0};
  const clm__shape image = clm__shape3(180, 180, 3);
  const clm__shape longest = {.rank = 4, .dims = {2147483647, 2147483647, 2147483647, 2147483647}};
  assert_string_equal(clm__shape_text(&scalar, text), "scalar");
  assert_string_equal(clm__shape_text(&image, text), "180x180x3");
  assert_string_equal(clm__shape_text(&longest, text),
                      "2147483647x2147483647x2147483647x2147483647");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(elements_are_the_product_of_the_dimensions),
      cmocka_unit_test(a_product_that_does_not_fit_is_the_largest_number),
      cmocka_unit_test(shapes_are_equal_in_rank_and_dimensions),
      cmocka_unit_test(a_shape_has_a_text),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
