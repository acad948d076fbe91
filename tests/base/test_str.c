#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"

static void a_zeroed_builder_is_an_empty_text(void **state)
{
  (void)state;
  clm__str str = {0};
  assert_string_equal(clm__str_get(&str), "");
  char *taken = NULL;
  assert_int_equal(clm__str_take(&str, &taken), CLM_OK);
  assert_string_equal(taken, "");
  clm__mem_free(taken);
  clm__str_fini(&str);
}

static void pieces_are_added_at_the_end(void **state)
{
  (void)state;
  clm__str str = {0};
  assert_int_equal(clm__str_add(&str, "%d-%s", 12, "ab"), CLM_OK);
  assert_int_equal(clm__str_add(&str, "%s", ""), CLM_OK);
  assert_int_equal(clm__str_add_bytes(&str, "cdef", 2), CLM_OK);
  assert_string_equal(clm__str_get(&str), "12-abcd");
  assert_int_equal(str.length, 7);
  char *taken = NULL;
  assert_int_equal(clm__str_take(&str, &taken), CLM_OK);
  assert_string_equal(taken, "12-abcd");
  assert_string_equal(clm__str_get(&str), "");
  clm__mem_free(taken);
}

static void texts_of_any_length_fit(void **state)
{
  (void)state;
  clm__str str = {0};
  for (int i = 0; i < 1000; i++) assert_int_equal(clm__str_add(&str, "%04d", i), CLM_OK);
  assert_int_equal(str.length, 4000);
  for (int i = 0; i < 1000; i++) {
    char piece[8];
    (void)snprintf(piece, sizeof piece, "%04d", i);
    assert_memory_equal(clm__str_get(&str) + 4 * i, piece, 4);
  }
  clm__str_fini(&str);
  assert_string_equal(clm__str_get(&str), "");
}

static void bytes_may_hold_zeros(void **state)
{
  (void)state;
  clm__str str = {0};
  assert_int_equal(clm__str_add_bytes(&str, "a\0b", 3), CLM_OK);
  assert_int_equal(str.length, 3);
  assert_memory_equal(clm__str_get(&str), "a\0b", 4);
  clm__str_fini(&str);
}

static void a_refused_allocation_keeps_the_text(void **state)
{
  (void)state;
  clm__str str = {0};
  assert_int_equal(clm__str_add(&str, "daisy"), CLM_OK);
  char next[32];
  (void)snprintf(next, sizeof next, "%llu",
                 (unsigned long long)clm__mem_get_counts().allocations + 1);
  assert_int_equal(setenv("CLEMATIS_TEST_FAIL_ALLOC", next, 1), 0);
  assert_int_equal(clm__str_add(&str, "%1000d", 1), CLM_NO_MEMORY);
  assert_int_equal(unsetenv("CLEMATIS_TEST_FAIL_ALLOC"), 0);
  assert_string_equal(clm__str_get(&str), "daisy");
  clm__str_fini(&str);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_zeroed_builder_is_an_empty_text),
      cmocka_unit_test(pieces_are_added_at_the_end),
      cmocka_unit_test(texts_of_any_length_fit),
      cmocka_unit_test(bytes_may_hold_zeros),
      cmocka_unit_test(a_refused_allocation_keeps_the_text),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
