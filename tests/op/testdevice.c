#define _XOPEN_SOURCE 700
#include "op/testdevice.h"

#include "base/mem.h"
#include "base/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

test_options test_options_read(int argc, char **argv)
{
  test_options options = {.device = getenv("CLEMATIS_TEST_DEVICE")};
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--tiny") == 0) {
      options.tiny = true;
    } else if (strcmp(argv[i], "--device") == 0 && i + 1 < argc) {
      options.device = argv[++i];
    } else {
      printf("usage: %s [--device NAME] [--tiny]\n", argv[0]);
      exit(64);
    }
  }
  return options;
}

_Noreturn static void skip_all(void)
{
  printf("skipped: %s\n", clm_error_last()->message);
  exit(77);
}

/* Without a name any device does: a lone emulator is taken too. */
static clm__device_info find_device(const char *name)
{
  clm__device_info *infos = NULL;
  clm__device_choice *chosen = NULL;
  size_t count = 0, chosen_count = 0;
  if (clm__device_list(NULL, &infos, &count) != CLM_OK) skip_all();
  const bool found = clm__device_select(infos, count, name, &chosen, &chosen_count) == CLM_OK;
  if (!found && name != NULL) skip_all();
  const clm__device_info info = infos[found ? chosen[0].index : 0];
  clm__mem_free(chosen);
  clm__mem_free(infos);
  return info;
}

clm__device *test_device_open(const test_options *options, int group_max)
{
  const clm__device_choice whole = {.part_count = 1};
  const clm__device_options settings = {.no_cache = true};
  clm__device *device = NULL;
  char limit[16];
  (void)snprintf(limit, sizeof limit, "%d", group_max);
  if (group_max > 0) (void)setenv("CLEMATIS_TEST_MAX_GROUP", limit, 1);
  const clm__device_info info = find_device(options->device);
  if (group_max > 0) {
    (void)unsetenv("CLEMATIS_TEST_MAX_GROUP");
    assert_int_equal(info.group_max, group_max);
  }
  assert_ok(clm__device_open(&info, &whole, &settings, &device));
  return device;
}

float test_random(uint32_t stream, size_t i, double least, double most)
{
  uint32_t words[4];
  clm__rng_block(UINT64_C(20240607), CLM__RNG_TEST, stream, i, words);
  return (float)(least + (most - least) * (words[0] * 0x1p-32));
}
