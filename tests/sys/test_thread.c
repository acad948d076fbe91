#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "sys/clock.h"
#include "sys/thread.h"

static void *look_at_signals(void *result)
{
  sigset_t blocked;
  *(bool *)result = pthread_sigmask(SIG_BLOCK, NULL, &blocked) == 0 &&
                    sigismember(&blocked, SIGINT) == 1 && sigismember(&blocked, SIGTERM) == 1 &&
                    sigismember(&blocked, SIGUSR2) == 1;
  return NULL;
}

static void threads_leave_signals_to_the_main_thread(void **state)
{
  (void)state;
  clm__thread thread = {0};
  bool all_blocked = false;
  assert_int_equal(clm__thread_start(&thread, "test", look_at_signals, &all_blocked), CLM_OK);
  assert_true(thread.running);
  clm__thread_join(&thread);
  assert_false(thread.running);
  assert_true(all_blocked);
  sigset_t blocked;
  assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &blocked), 0);
  assert_int_equal(sigismember(&blocked, SIGINT), 0);
}

static void joining_a_thread_that_never_ran_is_fine(void **state)
{
  (void)state;
  clm__thread thread = {0};
  clm__thread_join(&thread);
  clm__thread_join(&thread);
}

static void there_is_at_least_one_processor(void **state)
{
  (void)state;
  assert_true(clm__thread_processors() >= 1);
}

static void *give_way(void *result)
{
  clm__thread_give_way();
  errno = 0;
  *(int *)result = getpriority(PRIO_PROCESS, 0);
  return NULL;
}

static void only_the_thread_that_asks_gives_way(void **state)
{
  (void)state;
  const int before = getpriority(PRIO_PROCESS, 0);
  clm__thread thread = {0};
  int inside = -100;
  assert_int_equal(clm__thread_start(&thread, "test", give_way, &inside), CLM_OK);
  clm__thread_join(&thread);
  assert_true(inside >= before);
  assert_int_equal(getpriority(PRIO_PROCESS, 0), before);
}

static void the_clock_never_goes_back(void **state)
{
  (void)state;
  double before = clm__clock_seconds();
  for (int i = 0; i < 10000; i++) {
    const double now = clm__clock_seconds();
    assert_true(now >= before);
    before = now;
  }
}

static void stamps_have_their_form(void **state)
{
  (void)state;
  char text[CLM__CLOCK_STAMP_SIZE];
  static const char stamp[] = "0000-00-00@00:00:00";
  const char *made = clm__clock_stamp(text);
  for (size_t i = 0; i < sizeof stamp; i++)
    assert_true(stamp[i] == '0' ? made[i] >= '0' && made[i] <= '9' : made[i] == stamp[i]);
  static const char name[] = "00000000-000000";
  made = clm__clock_name(text);
  for (size_t i = 0; i < sizeof name; i++)
    assert_true(name[i] == '0' ? made[i] >= '0' && made[i] <= '9' : made[i] == name[i]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(threads_leave_signals_to_the_main_thread),
      cmocka_unit_test(joining_a_thread_that_never_ran_is_fine),
      cmocka_unit_test(there_is_at_least_one_processor),
      cmocka_unit_test(only_the_thread_that_asks_gives_way),
      cmocka_unit_test(the_clock_never_goes_back),
      cmocka_unit_test(stamps_have_their_form),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
