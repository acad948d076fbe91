/* Sizes and padding of windows. */
#include "op/window.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

typedef struct window_case {
  int size, kernel, stride, dilation;
  bool same;
  int output, pad_before;
} window_case;

static void sizes_and_padding_are_those_of_tensorflow(void **state)
{
  (void)state;
  const window_case cases[] = {
      {180, 3, 1, 1, true, 180, 1}, {180, 3, 2, 1, true, 90, 0}, {45, 3, 2, 1, true, 23, 1},
      {45, 2, 2, 1, false, 22, 0},  {45, 2, 2, 1, true, 23, 0},  {5, 4, 1, 1, true, 5, 1},
      {7, 7, 2, 1, true, 4, 3},     {8, 3, 1, 2, true, 8, 2},    {8, 3, 1, 2, false, 4, 0},
      {3, 1, 5, 1, true, 1, 0},     {3, 1, 2, 1, false, 2, 0},   {1, 1, 1, 1, false, 1, 0},
      {2, 5, 1, 1, true, 2, 2},     {1, 4, 3, 1, true, 1, 1},    {9, 2, 4, 1, false, 2, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const window_case *const c = &cases[i];
    int output = 0;
    int pad_before = -1;
    assert_int_equal(clm__window_resolve(c->size, c->kernel, c->stride, c->dilation, c->same,
                                         &output, &pad_before),
                     CLM_OK);
    assert_int_equal(output, c->output);
    assert_int_equal(pad_before, c->pad_before);
  }
}

static void assert_refused(int size, int kernel, int stride, int dilation, bool same,
                           const char *text)
{
  int output = -7;
  int pad_before = -7;
  assert_int_equal(clm__window_resolve(size, kernel, stride, dilation, same, &output, &pad_before),
                   CLM_BAD_DATA);
  assert_non_null(strstr(clm_error_last()->message, text));
  assert_int_equal(output, -7);
  assert_int_equal(pad_before, -7);
}

static void a_window_that_does_not_fit_is_refused(void **state)
{
  (void)state;
  assert_refused(4, 5, 1, 1, false, "a window of 5 elements does not fit in 4");
  assert_refused(4, 3, 1, 2, false, "a window of 5 elements does not fit in 4");
  assert_refused(0, 1, 1, 1, true, "positive numbers");
  assert_refused(4, 0, 1, 1, true, "positive numbers");
  assert_refused(4, 1, 0, 1, true, "positive numbers");
  assert_refused(4, 1, 1, 0, false, "positive numbers");
  assert_refused(4, INT_MAX, 1, INT_MAX, true, "too large");
  assert_refused(INT_MAX, 2, 1, 1, false, "too large");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sizes_and_padding_are_those_of_tensorflow),
      cmocka_unit_test(a_window_that_does_not_fit_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
