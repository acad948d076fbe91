#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/num.h"

static void division_rounds_up_even_at_the_largest_numbers(void **state)
{
  (void)state;
  assert_int_equal(clm__ceil_div(0, 3), 0);
  assert_int_equal(clm__ceil_div(6, 3), 2);
  assert_int_equal(clm__ceil_div(7, 3), 3);
  assert_true(clm__ceil_div(SIZE_MAX, 2) == SIZE_MAX / 2 + 1);
  assert_int_equal(clm__round_up(65, 64), 128);
  assert_int_equal(clm__round_up(64, 64), 64);
}

static void multiplication_says_when_it_does_not_fit(void **state)
{
  (void)state;
  size_t product = 0;
  assert_true(clm__multiply_size(SIZE_MAX, 1, &product));
  assert_true(product == SIZE_MAX);
  assert_false(clm__multiply_size(SIZE_MAX / 2 + 1, 2, &product));
}

static void smallest_and_largest(void **state)
{
  (void)state;
  assert_int_equal(clm__min_int(-3, 2), -3);
  assert_int_equal(clm__max_int(-3, 2), 2);
  assert_int_equal(clm__min_size(3, 2), 2);
  assert_int_equal(clm__max_size(3, 2), 3);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(division_rounds_up_even_at_the_largest_numbers),
      cmocka_unit_test(multiplication_says_when_it_does_not_fit),
      cmocka_unit_test(smallest_and_largest),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
