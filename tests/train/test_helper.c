/* The process that helps to compile. This one never uses OpenCL. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "sys/clock.h"
#include "sys/thread.h"
#include "train/helper.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

static clm_train_config make_config(void)
{
  clm_train_config config = clm_train_config_default();
  config.image_height = 24;
  config.image_width = 32;
  config.run.devices = getenv("CLEMATIS_TEST_DEVICE");
  return config;
}

static clm__device make_device(const char *platform)
{
  clm__device device = {.on_compile = NULL};
  (void)strncpy(device.info.platform, platform, sizeof device.info.platform - 1);
  return device;
}

static void wait_ms(long ms)
{
  const struct timespec time = {.tv_nsec = ms * 1000000};
  (void)nanosleep(&time, NULL);
}

static void expect_no_child(void)
{
  assert_int_equal(waitpid(-1, NULL, 0), -1);
  assert_int_equal(errno, ECHILD);
}

/* Before anything, in the middle of what it was told to do, and where nobody has told it. */
static void it_ends_when_it_is_told(void **state)
{
  (void)state;
  const clm_train_config config = make_config();
  for (int round = 0; round < 3; round++) {
    clm__helper *helper = NULL;
    clm__helper_start(&config, &helper);
    if (helper == NULL) skip();
    clm__device device = make_device("Portable Computing Language");
    clm__helper_serve(helper, &device, 5, 2);
    if (device.on_compile == NULL) assert_int_equal(clm__thread_processors(), 1);
    if (round > 0 && device.on_compile != NULL) device.on_compile(device.on_compile_user);
    if (round > 1) wait_ms(300);
    const double begin = clm__clock_seconds();
    clm__helper_end(helper);
    assert_true(clm__clock_seconds() - begin < 60.0);
    expect_no_child();
  }
  clm__helper_end(NULL);
}

static void other_drivers_need_none(void **state)
{
  (void)state;
  const clm_train_config config = make_config();
  clm__helper *helper = NULL;
  clm__helper_start(&config, &helper);
  clm__device device = make_device("Another Platform");
  clm__helper_serve(helper, &device, 5, 2);
  assert_null(device.on_compile);
  clm__device own = make_device("Portable Computing Language");
  clm__helper_serve(NULL, &own, 5, 2);
  assert_null(own.on_compile);
  clm__helper_end(helper);
  expect_no_child();
}

static void *sleep_long(void *argument)
{
  (void)argument;
  wait_ms(200);
  return NULL;
}

static void a_process_with_threads_goes_without(void **state)
{
  (void)state;
  const clm_train_config config = make_config();
  clm__helper *helper = NULL;
  clm__thread thread = {0};
  assert_int_equal(clm__thread_start(&thread, "other", sleep_long, NULL), CLM_OK);
  clm__helper_start(&config, &helper);
  assert_null(helper);
  clm__thread_join(&thread);
  assert_int_equal(clm__mem_get_counts().blocks_live, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(it_ends_when_it_is_told),
                                     cmocka_unit_test(other_drivers_need_none),
                                     cmocka_unit_test(a_process_with_threads_goes_without)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
