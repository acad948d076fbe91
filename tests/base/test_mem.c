#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

static void memory_comes_zeroed(void **state)
{
  (void)state;
  unsigned char *block = NULL;
  assert_int_equal(clm__mem_alloc(1000, 3, &block), CLM_OK);
  for (int i = 0; i < 3000; i++) assert_int_equal(block[i], 0);
  clm__mem_free(block);
}

static void no_items_give_a_valid_pointer(void **state)
{
  (void)state;
  void *block = NULL;
  assert_int_equal(clm__mem_alloc(0, 8, &block), CLM_OK);
  assert_non_null(block);
  clm__mem_free(block);
}

static void aligned_memory_begins_at_64_bytes(void **state)
{
  (void)state;
  for (size_t size = 0; size < 300; size += 37) {
    unsigned char *block = NULL;
    assert_int_equal(clm__mem_alloc_aligned(size, &block), CLM_OK);
    assert_int_equal((uintptr_t)block % 64, 0);
    for (size_t i = 0; i < size; i++) assert_int_equal(block[i], 0);
    clm__mem_free(block);
  }
}

static void sizes_that_overflow_are_refused(void **state)
{
  (void)state;
  void *block = &block;
  void *untouched = block;
  assert_int_equal(clm__mem_alloc(SIZE_MAX / 2, 3, &block), CLM_NO_MEMORY);
  assert_int_equal(clm__mem_resize(SIZE_MAX / 2, 3, &block), CLM_NO_MEMORY);
  assert_int_equal(clm__mem_alloc_aligned(SIZE_MAX - 3, &block), CLM_NO_MEMORY);
  assert_ptr_equal(block, untouched);
}

static void resizing_keeps_what_was_there(void **state)
{
  (void)state;
  int *numbers = NULL;
  assert_int_equal(clm__mem_resize(4, sizeof *numbers, &numbers), CLM_OK);
  for (int i = 0; i < 4; i++) numbers[i] = i;
  assert_int_equal(clm__mem_resize(4000, sizeof *numbers, &numbers), CLM_OK);
  for (int i = 0; i < 4; i++) assert_int_equal(numbers[i], i);
  clm__mem_free(numbers);
}

static void blocks_are_counted(void **state)
{
  (void)state;
  const clm__mem_counts before = clm__mem_get_counts();
  char *text = NULL;
  void *block = NULL;
  assert_int_equal(clm__mem_copy_text("tulip", &text), CLM_OK);
  assert_int_equal(clm__mem_alloc_aligned(10, &block), CLM_OK);
  assert_string_equal(text, "tulip");
  assert_int_equal(clm__mem_get_counts().allocations, before.allocations + 2);
  assert_int_equal(clm__mem_get_counts().blocks_live, before.blocks_live + 2);
  assert_int_equal(clm__mem_resize(100, 1, &text), CLM_OK);
  assert_int_equal(clm__mem_get_counts().blocks_live, before.blocks_live + 2);
  clm__mem_free(text);
  clm__mem_free(block);
  clm__mem_free(NULL);
  assert_int_equal(clm__mem_get_counts().blocks_live, before.blocks_live);
}

static void refuse_next(void)
{
  char text[32];
  (void)snprintf(text, sizeof text, "%llu",
                 (unsigned long long)clm__mem_get_counts().allocations + 1);
  assert_int_equal(setenv("CLEMATIS_TEST_FAIL_ALLOC", text, 1), 0);
}

static void the_switch_refuses_exactly_one_allocation(void **state)
{
  (void)state;
  char *text = NULL;
  refuse_next();
  assert_int_equal(clm__mem_copy_text("rose", &text), CLM_NO_MEMORY);
  assert_null(text);
  assert_non_null(strstr(clm_error_last()->message, "CLEMATIS_TEST_FAIL_ALLOC"));
  assert_int_equal(clm__mem_copy_text("rose", &text), CLM_OK);
  refuse_next();
  assert_int_equal(clm__mem_resize(100, 1, &text), CLM_NO_MEMORY);
  assert_string_equal(text, "rose");
  void *block = NULL;
  refuse_next();
  assert_int_equal(clm__mem_alloc_aligned(8, &block), CLM_NO_MEMORY);
  assert_null(block);
  assert_int_equal(unsetenv("CLEMATIS_TEST_FAIL_ALLOC"), 0);
  clm__mem_free(text);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(memory_comes_zeroed),
      cmocka_unit_test(no_items_give_a_valid_pointer),
      cmocka_unit_test(aligned_memory_begins_at_64_bytes),
      cmocka_unit_test(sizes_that_overflow_are_refused),
      cmocka_unit_test(resizing_keeps_what_was_there),
      cmocka_unit_test(blocks_are_counted),
      cmocka_unit_test(the_switch_refuses_exactly_one_allocation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
