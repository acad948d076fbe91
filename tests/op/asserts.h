/* Asserting on the library's statuses, for tests that need no device too. */
#ifndef CLM_TESTS_OP_ASSERTS_H
#define CLM_TESTS_OP_ASSERTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"

#define assert_ok(expression)                                                                      \
  do {                                                                                             \
    if ((expression) != CLM_OK) fail_msg("%s: %s", #expression, clm_error_last()->message);        \
  } while (0)

/* The test fails unless the call failed so, with a message that has these words. */
void assert_refused(clm_status status, clm_status expected, const char *words);

#endif
