#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "exec/parallel_build.h"

#include <stdatomic.h>

typedef struct tally {
  atomic_int calls[100];
} tally;

static clm_status count_call(void *user, size_t item)
{
  tally *seen = user;
  atomic_fetch_add(&seen->calls[item], 1);
  if (item % 10 == 7) CLM_FAIL(CLM_DEVICE_FAILED, "item %zu", item);
  return CLM_OK;
}

static void every_item_once_and_the_lowest_error(void **state)
{
  (void)state;
  for (int threads = 1; threads <= 8; threads *= 2) {
    tally seen = {0};
    assert_int_equal(clm__parallel_build(100, threads, count_call, &seen), CLM_DEVICE_FAILED);
    assert_string_equal(clm_error_last()->message, "item 7");
    for (int i = 0; i < 100; i++) assert_int_equal(atomic_load(&seen.calls[i]), 1);
    assert_int_equal(clm__parallel_build(7, threads, count_call, &seen), CLM_OK);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_item_once_and_the_lowest_error)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
