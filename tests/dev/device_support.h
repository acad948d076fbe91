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

static inline clm__device_info first_device_info(void)
{
  clm__device_info *infos = NULL;
  clm__device_choice *chosen = NULL;
  size_t count = 0, chosen_count = 0;
  assert_ok(clm__device_list(NULL, &infos, &count));
  const bool is_chosen = clm__device_select(infos, count, NULL, &chosen, &chosen_count) == CLM_OK;
  const clm__device_info info = infos[is_chosen ? chosen[0].index : 0];
  clm__mem_free(chosen);
  clm__mem_free(infos);
  return info;
}

static inline clm__device *open_device(const clm__device_options *options)
{
  const clm__device_info info = first_device_info();
  const clm__device_choice whole = {.part_count = 1};
  clm__device *device = NULL;
  assert_ok(clm__device_open(&info, &whole, options, &device));
  return device;
}

static inline clm__device *open_test_device(void)
{
  const clm__device_options options = {.no_cache = true};
  return open_device(&options);
}

/* Kernels that are not part of the library. */
static inline clm__kernel make_kernel(clm__device *device, const char *file, const char *text,
                                      const char *name)
{
  clm__program *program = NULL;
  clm__kernel kernel = {0};
  assert_ok(clm__program_get_text(device, file, text, "", &program));
  assert_ok(clm__kernel_init(program, name, &kernel));
  return kernel;
}

static inline void assert_fails(clm_status status, clm_status expected, const char *words)
{
  assert_string_equal(clm_status_name(status), clm_status_name(expected));
  if (strstr(clm_error_last()->message, words) == NULL)
    fail_msg("\"%s\" is not in \"%s\"", words, clm_error_last()->message);
}

#endif
