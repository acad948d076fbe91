#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"

static clm_status fail_at_the_bottom(int number)
{
  CLM_REQUIRE(number != 7, CLM_BAD_DATA, "number %d is not allowed", number);
  return CLM_OK;
}

static clm_status pass_through(int number)
{
  CLM_TRY(fail_at_the_bottom(number));
  return CLM_OK;
}

static clm_status climb(int number, int *ladder)
{
  clm_status status = CLM_OK;
  CLM_TRY_TO(first, status, pass_through(number));
  if (number == 8) CLM_FAIL_TO(second, status, CLM_IO, "disk %s", "full");
  *ladder = 3;
  return CLM_OK;
second:
  *ladder += 1;
first:
  *ladder += 1;
  return status;
}

static void a_failure_holds_its_message_and_trail(void **state)
{
  (void)state;
  assert_int_equal(pass_through(7), CLM_BAD_DATA);
  const clm_error *error = clm_error_last();
  assert_int_equal(error->status, CLM_BAD_DATA);
  assert_string_equal(error->message, "number 7 is not allowed");
  assert_int_equal(error->frame_count, 2);
  assert_string_equal(error->frames[0].function, "fail_at_the_bottom");
  assert_string_equal(error->frames[1].function, "pass_through");
  assert_true(error->frames[0].line > 0);
}

static void success_leaves_the_record_alone(void **state)
{
  (void)state;
  assert_int_equal(pass_through(7), CLM_BAD_DATA);
  assert_int_equal(pass_through(1), CLM_OK);
  assert_int_equal(clm_error_last()->status, CLM_BAD_DATA);
  clm_error_clear();
  assert_int_equal(clm_error_last()->status, CLM_OK);
  assert_string_equal(clm_error_last()->message, "");
}

static void the_clean_up_ladder_enters_at_its_rung(void **state)
{
  (void)state;
  int ladder = 0;
  assert_int_equal(climb(7, &ladder), CLM_BAD_DATA);
  assert_int_equal(ladder, 1);
  assert_string_equal(clm_error_last()->frames[2].function, "climb");
  ladder = 0;
  assert_int_equal(climb(8, &ladder), CLM_IO);
  assert_int_equal(ladder, 2);
  assert_string_equal(clm_error_last()->message, "disk full");
  assert_int_equal(clm_error_last()->frame_count, 1);
  assert_int_equal(climb(1, &ladder), CLM_OK);
  assert_int_equal(ladder, 3);
}

static void a_prefix_comes_before_the_message(void **state)
{
  (void)state;
  assert_int_equal(pass_through(7), CLM_BAD_DATA);
  assert_int_equal(clm__error_prefix(CLM_BAD_DATA, "while reading %s: ", "a.jpg"), CLM_BAD_DATA);
  assert_string_equal(clm_error_last()->message, "while reading a.jpg: number 7 is not allowed");
}

static void long_messages_and_trails_are_cut(void **state)
{
  (void)state;
  char text[3000];
  memset(text, 'x', sizeof text - 1);
  text[sizeof text - 1] = '\0';
  assert_int_equal(clm__error_fail(CLM_IO, "f", 1, "g", "%s", text), CLM_IO);
  assert_int_equal(strlen(clm_error_last()->message), CLM_ERROR_MESSAGE_SIZE - 1);
  assert_int_equal(clm__error_prefix(CLM_IO, "%s", text), CLM_IO);
  assert_int_equal(strlen(clm_error_last()->message), CLM_ERROR_MESSAGE_SIZE - 1);
  for (int i = 0; i < 2 * CLM_ERROR_FRAMES_MAX; i++)
    assert_int_equal(clm__error_pass(CLM_IO, "f", i, "g"), CLM_IO);
  assert_int_equal(clm_error_last()->frame_count, CLM_ERROR_FRAMES_MAX);
}

static void *fail_in_thread(void *result)
{
  (void)pass_through(7);
  *(clm_error *)result = *clm_error_last();
  return NULL;
}

static void errors_of_threads_are_apart_and_can_be_raised_again(void **state)
{
  (void)state;
  clm_error_clear();
  clm_error copy = {0};
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, fail_in_thread, &copy), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_int_equal(clm_error_last()->status, CLM_OK);
  assert_int_equal(clm__error_raise(&copy), CLM_BAD_DATA);
  assert_string_equal(clm_error_last()->message, "number 7 is not allowed");
}

static void every_status_has_a_name_a_text_and_an_exit_code(void **state)
{
  (void)state;
  static const struct {
    clm_status status;
    const char *name;
    int exit_code;
  } cases[] = {{CLM_OK, "OK", 0},
               {CLM_USAGE, "USAGE", 64},
               {CLM_BAD_DATA, "BAD_DATA", 65},
               {CLM_NO_INPUT, "NO_INPUT", 66},
               {CLM_NO_DEVICE, "NO_DEVICE", 69},
               {CLM_INTERNAL, "INTERNAL", 70},
               {CLM_IO, "IO", 74},
               {CLM_STOPPED, "STOPPED", 75}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_string_equal(clm_status_name(cases[i].status), cases[i].name);
    assert_int_equal(clm_status_exit_code(cases[i].status), cases[i].exit_code);
  }
  for (int i = 0; i <= CLM_STOPPED; i++) {
    assert_string_not_equal(clm_status_name((clm_status)i), "UNKNOWN");
    assert_string_not_equal(clm_status_text((clm_status)i), "unknown status");
  }
  assert_string_equal(clm_status_name((clm_status)1000), "UNKNOWN");
  assert_int_equal(clm_status_exit_code((clm_status)1000), 70);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_failure_holds_its_message_and_trail),
      cmocka_unit_test(success_leaves_the_record_alone),
      cmocka_unit_test(the_clean_up_ladder_enters_at_its_rung),
      cmocka_unit_test(a_prefix_comes_before_the_message),
      cmocka_unit_test(long_messages_and_trails_are_cut),
      cmocka_unit_test(errors_of_threads_are_apart_and_can_be_raised_again),
      cmocka_unit_test(every_status_has_a_name_a_text_and_an_exit_code),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
