#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "sys/signal.h"

static volatile sig_atomic_t seen_by_old_handler;

static void old_handler(int number) { seen_by_old_handler = number; }

static void the_first_signal_sets_the_flag(void **state)
{
  (void)state;
  static const int numbers[] = {SIGINT, SIGTERM, SIGUSR2};
  for (int i = 0; i < 3; i++) {
    assert_int_equal(clm__signal_install(), CLM_OK);
    assert_int_equal(clm__signal_received(), 0);
    assert_int_equal(raise(numbers[i]), 0);
    assert_int_equal(clm__signal_received(), numbers[i]);
    clm__signal_restore();
  }
}

static void the_second_signal_ends_the_process(void **state)
{
  (void)state;
  const pid_t child = fork();
  if (child == 0) {
    if (clm__signal_install() != CLM_OK) _exit(1);
    (void)raise(SIGTERM);
    if (clm__signal_received() != SIGTERM) _exit(2);
    (void)raise(SIGINT);
    _exit(3);
  }
  int ended = 0;
  assert_int_equal(waitpid(child, &ended, 0), child);
  assert_true(WIFSIGNALED(ended));
  assert_int_equal(WTERMSIG(ended), SIGINT);
}

static void installing_again_resets_the_flag(void **state)
{
  (void)state;
  assert_int_equal(clm__signal_install(), CLM_OK);
  assert_int_equal(raise(SIGINT), 0);
  assert_int_equal(clm__signal_install(), CLM_OK);
  assert_int_equal(clm__signal_received(), 0);
  assert_int_equal(raise(SIGINT), 0);
  assert_int_equal(clm__signal_received(), SIGINT);
  clm__signal_restore();
}

static void earlier_handlers_come_back(void **state)
{
  (void)state;
  assert_true(signal(SIGINT, old_handler) != SIG_ERR);
  assert_int_equal(clm__signal_install(), CLM_OK);
  assert_int_equal(clm__signal_install(), CLM_OK);
  clm__signal_restore();
  clm__signal_restore();
  assert_int_equal(raise(SIGINT), 0);
  assert_int_equal(seen_by_old_handler, SIGINT);
  assert_true(signal(SIGINT, SIG_DFL) != SIG_ERR);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_first_signal_sets_the_flag),
      cmocka_unit_test(the_second_signal_ends_the_process),
      cmocka_unit_test(installing_again_resets_the_flag),
      cmocka_unit_test(earlier_handlers_come_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
