#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/log.h"

typedef struct seen_message {
  clm_log_level level;
  char text[4096];
} seen_message;

static void receive(void *user, clm_log_level level, const char *message)
{
  seen_message *seen = user;
  seen->level = level;
  (void)snprintf(seen->text, sizeof seen->text, "%s", message);
}

static void a_message_reaches_its_receiver(void **state)
{
  (void)state;
  seen_message seen = {0};
  const clm_log log = {receive, &seen};
  clm__log(&log, CLM_LOG_DETAIL, "%d of %s", 3, "four");
  assert_int_equal(seen.level, CLM_LOG_DETAIL);
  assert_string_equal(seen.text, "3 of four");
}

static void without_a_receiver_nothing_happens(void **state)
{
  (void)state;
  const clm_log log = {0};
  clm__log(NULL, CLM_LOG_INFO, "nobody listens");
  clm__log(&log, CLM_LOG_INFO, "nobody listens");
}

static void a_long_message_is_cut(void **state)
{
  (void)state;
  seen_message seen = {0};
  const clm_log log = {receive, &seen};
  clm__log(&log, CLM_LOG_INFO, "%4000d", 1);
  assert_int_equal(strlen(seen.text), 2047);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_message_reaches_its_receiver),
      cmocka_unit_test(without_a_receiver_nothing_happens),
      cmocka_unit_test(a_long_message_is_cut),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
