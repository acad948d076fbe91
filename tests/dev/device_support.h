/* The device that tests run on: the first one chosen by default, else the first of the list, so
 * that a lone emulator is tested too. */
#ifndef CLM_TESTS_DEV_DEVICE_SUPPORT_H
#define CLM_TESTS_DEV_DEVICE_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "dev/buffer.h"
#include "dev/launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define assert_ok(expression)                                                                      \
  do {                                                                                             \
    if ((expression) != CLM_OK) fail_msg("%s: %s", #expression, clm_error_last()->message);        \
  } while (0)

/* What CLEMATIS_TEST_DEVICE names, else that device. */
clm__device_info first_device_info(void);

clm__device *open_device(const clm__device_options *options);

/* Without a cache on disk. */
clm__device *open_test_device(void);

cl_mem make_buffer(clm__device *device, size_t size_bytes);

/* A kernel of a text that is not part of the library. */
clm__kernel make_kernel(clm__device *device, const char *file, const char *text, const char *name);

void assert_fails(clm_status status, clm_status expected, const char *words);

#endif
