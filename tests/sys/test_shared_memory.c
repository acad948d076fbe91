#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "sys/shared_memory.h"

enum { SIZE = 10000 };

static clm__shared_memory *make(size_t size_bytes)
{
  clm__shared_memory *memory = NULL;
  assert_int_equal(clm__shared_memory_create(size_bytes, &memory), CLM_OK);
  return memory;
}

static void expect_refused(const clm__shared_memory_key *key, const char *words)
{
  clm__shared_memory *memory = NULL;
  assert_int_equal(clm__shared_memory_attach(key, &memory), CLM_UNSUPPORTED);
  assert_null(memory);
  if (strstr(clm_error_last()->message, words) == NULL)
    fail_msg("wrong words: %s", clm_error_last()->message);
}

static void it_begins_as_zeros(void **state)
{
  (void)state;
  clm__shared_memory *memory = make(SIZE);
  const unsigned char *bytes = clm__shared_memory_get_bytes(memory);
  assert_int_equal((uintptr_t)bytes % 4096, 0);
  for (int i = 0; i < SIZE; i++) assert_int_equal(bytes[i], 0);
  clm__shared_memory_destroy(memory);
  clm__shared_memory_destroy(NULL);
}

/* A child writes into what it attaches, reads what the parent wrote, and leaves. */
static int be_child(const clm__shared_memory_key *key)
{
  clm__shared_memory *memory = NULL;
  if (clm__shared_memory_attach(key, &memory) != CLM_OK) return 1;
  unsigned char *bytes = clm__shared_memory_get_bytes(memory);
  if (bytes[0] != 17) return 2;
  bytes[SIZE - 1] = 42;
  return 0;
}

static void another_process_sees_it(void **state)
{
  (void)state;
  clm__shared_memory *memory = make(SIZE);
  unsigned char *bytes = clm__shared_memory_get_bytes(memory);
  bytes[0] = 17;
  const clm__shared_memory_key key = clm__shared_memory_get_key(memory);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) _exit(be_child(&key));
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
  assert_int_equal(bytes[SIZE - 1], 42);
  clm__shared_memory_destroy(memory);
}

static void what_is_hidden_stays_with_those_who_saw_it(void **state)
{
  (void)state;
  clm__shared_memory *memory = make(SIZE), *seen = NULL;
  const clm__shared_memory_key key = clm__shared_memory_get_key(memory);
  assert_int_equal(clm__shared_memory_attach(&key, &seen), CLM_OK);
  clm__shared_memory_hide(memory);
  expect_refused(&key, "cannot see the memory of process");
  unsigned char *bytes = clm__shared_memory_get_bytes(seen);
  ((unsigned char *)clm__shared_memory_get_bytes(memory))[7] = 7;
  clm__shared_memory_destroy(memory);
  assert_int_equal(bytes[7], 7);
  clm__shared_memory_destroy(seen);
}

/* Keys that came from elsewhere, or tell of more than there is. */
static void what_is_not_the_memory_meant_is_refused(void **state)
{
  (void)state;
  clm__shared_memory *memory = make(SIZE), *other = make(SIZE);
  const clm__shared_memory_key key = clm__shared_memory_get_key(memory);
  clm__shared_memory_key wrong = key;
  wrong.descriptor = clm__shared_memory_get_key(other).descriptor;
  expect_refused(&wrong, "is not the one it told of");
  wrong = key;
  wrong.size_bytes = SIZE + 100000;
  expect_refused(&wrong, "shares less memory than it says");
  wrong.size_bytes = UINT64_MAX;
  expect_refused(&wrong, "more memory than can be addressed");
  wrong = key;
  wrong.process = INT32_MAX;
  expect_refused(&wrong, "cannot see the memory of process 2147483647");
  clm__shared_memory_destroy(other);
  clm__shared_memory_destroy(memory);
}

static void what_is_too_large_is_refused(void **state)
{
  (void)state;
  clm__shared_memory *memory = NULL;
  assert_int_equal(clm__shared_memory_create(SIZE_MAX, &memory), CLM_NO_MEMORY);
  assert_int_equal(clm__shared_memory_create((size_t)1 << 60, &memory), CLM_NO_MEMORY);
  assert_null(memory);
}

static void nothing_is_left_open(void **state)
{
  (void)state;
  const uint64_t live = clm__mem_get_counts().blocks_live;
  const int before = dup(0);
  assert_int_equal(close(before), 0);
  for (int i = 0; i < 3; i++) {
    clm__shared_memory *memory = make(SIZE), *seen = NULL;
    const clm__shared_memory_key key = clm__shared_memory_get_key(memory);
    assert_int_equal(clm__shared_memory_attach(&key, &seen), CLM_OK);
    clm__shared_memory_destroy(seen);
    clm__shared_memory_destroy(memory);
  }
  const int after = dup(0);
  assert_int_equal(close(after), 0);
  assert_int_equal(after, before);
  assert_true(clm__mem_get_counts().blocks_live == live);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(it_begins_as_zeros),
      cmocka_unit_test(another_process_sees_it),
      cmocka_unit_test(what_is_hidden_stays_with_those_who_saw_it),
      cmocka_unit_test(what_is_not_the_memory_meant_is_refused),
      cmocka_unit_test(what_is_too_large_is_refused),
      cmocka_unit_test(nothing_is_left_open),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
