/* The self-test passes on a sound device, looks at every op that runs, and finds a fault.
 * ctest: timeout=600 */
#include "op/testdevice.h"

#include "base/mem.h"
#include "clematis/device.h"
#include "op/registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct tally {
  int passed;
  int failed;
  char seen[16384]; /* every `what`, a line each */
} tally;

static void count_result(void *user, const clm_selftest_result *result)
{
  tally *counted = user;
  *(result->passed ? &counted->passed : &counted->failed) += 1;
  const size_t used = strlen(counted->seen);
  (void)snprintf(counted->seen + used, sizeof counted->seen - used, "%s\n", result->what);
}

static clm_status run(tally *counted)
{
  const clm_selftest_config config = {
      .devices = getenv("CLEMATIS_TEST_DEVICE"), .on_result = count_result, .user = counted};
  return clm_selftest(&config);
}

static void every_op_is_looked_at(void **state)
{
  (void)state;
  tally counted = {0};
  assert_ok(run(&counted));
  assert_int_equal(counted.failed, 0);
  for (const clm__op *const *op = clm__registry_ops(); *op != NULL; op++) {
    if ((*op)->is_view) continue;
    char name[64];
    (void)snprintf(name, sizeof name, "%s.fwd plain", (*op)->name);
    if (strstr(counted.seen, name) == NULL) fail_msg("no check of %s", name);
  }
  assert_non_null(strstr(counted.seen, "matrix products"));
  assert_int_equal(clm__mem_get_counts().blocks_live, 0);
}

static void a_wrong_product_is_found(void **state)
{
  (void)state;
  tally counted = {0};
  assert_int_equal(setenv("CLEMATIS_TEST_BAD_GEMM", "1", 1), 0);
  const clm_status status = run(&counted);
  assert_int_equal(unsetenv("CLEMATIS_TEST_BAD_GEMM"), 0);
  assert_refused(status, CLM_DEVICE_FAILED, "matrix products");
  assert_true(counted.failed > 1); /* and the variants that multiply by them */
  assert_non_null(strstr(counted.seen, "dense.fwd gemm"));
}

static void no_such_device(void **state)
{
  (void)state;
  const clm_selftest_config config = {.devices = "gpu77"};
  assert_refused(clm_selftest(&config), CLM_NO_DEVICE, "gpu77");
}

int main(int argc, char **argv)
{
  const test_options options = test_options_read(argc, argv);
  clm__device_close(test_device_open(&options, 0)); /* ends with 77 where there is none */
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_op_is_looked_at),
                                     cmocka_unit_test(a_wrong_product_is_found),
                                     cmocka_unit_test(no_such_device)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
