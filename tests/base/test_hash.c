#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/hash.h"

/* Values of the FNV authors' test program. */
static void the_published_values_come_out(void **state)
{
  (void)state;
  assert_true(clm__hash_bytes(CLM__HASH_START, "", 0) == UINT64_C(0xcbf29ce484222325));
  assert_true(clm__hash_bytes(CLM__HASH_START, "a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
  assert_true(clm__hash_bytes(CLM__HASH_START, "foobar", 6) == UINT64_C(0x85944171f73967e8));
}

static void pieces_equal_the_whole(void **state)
{
  (void)state;
  const uint64_t whole = clm__hash_bytes(CLM__HASH_START, "foobar", 6);
  const uint64_t part = clm__hash_bytes(CLM__HASH_START, "foo", 3);
  assert_true(clm__hash_bytes(part, "bar", 3) == whole);
}

static void the_end_of_a_text_counts(void **state)
{
  (void)state;
  const uint64_t first = clm__hash_text(clm__hash_text(CLM__HASH_START, "a"), "bc");
  const uint64_t second = clm__hash_text(clm__hash_text(CLM__HASH_START, "ab"), "c");
  assert_true(first != second);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_published_values_come_out),
      cmocka_unit_test(pieces_equal_the_whole),
      cmocka_unit_test(the_end_of_a_text_counts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
