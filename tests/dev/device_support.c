#include "device_support.h"

clm__device_info first_device_info(void)
{
  clm__device_info *infos = NULL;
  clm__device_choice *chosen = NULL;
  size_t count = 0, chosen_count = 0;
  const char *wanted = getenv("CLEMATIS_TEST_DEVICE");
  assert_ok(clm__device_list(NULL, &infos, &count));
  const clm_status status = clm__device_select(infos, count, wanted, &chosen, &chosen_count);
  if (wanted != NULL) assert_ok(status);
  const clm__device_info info = infos[status == CLM_OK ? chosen[0].index : 0];
  clm__mem_free(chosen);
  clm__mem_free(infos);
  return info;
}

clm__device *open_device(const clm__device_options *options)
{
  const clm__device_info info = first_device_info();
  const clm__device_choice whole = {.part_count = 1};
  clm__device *device = NULL;
  assert_ok(clm__device_open(&info, &whole, options, &device));
  return device;
}

clm__device *open_test_device(void)
{
  const clm__device_options options = {.no_cache = true};
  return open_device(&options);
}

cl_mem make_buffer(clm__device *device, size_t size_bytes)
{
  cl_mem buffer = NULL;
  assert_ok(clm__buffer_create(device, size_bytes, &buffer));
  return buffer;
}

clm__kernel make_kernel(clm__device *device, const char *file, const char *text, const char *name)
{
  clm__program *program = NULL;
  clm__kernel kernel = {0};
  assert_ok(clm__program_get_text(device, file, text, "", &program));
  assert_ok(clm__kernel_init(program, name, &kernel));
  return kernel;
}

void assert_fails(clm_status status, clm_status expected, const char *words)
{
  assert_string_equal(clm_status_name(status), clm_status_name(expected));
  if (strstr(clm_error_last()->message, words) == NULL)
    fail_msg("\"%s\" is not in \"%s\"", words, clm_error_last()->message);
}
