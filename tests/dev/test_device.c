#include "device_support.h"

#include <inttypes.h>

/* ---- A machine made up ---- */

static clm__device_info make_info(clm__device_kind kind, const char *name, size_t platform,
                                  const char *pci)
{
  static const char *const platforms[] = {"Alpha OpenCL", "Beta Compute"};
  static int places[2];
  clm__device_info info = {.kind = kind, .compute_units = 8};
  snprintf(info.name, sizeof info.name, "%s", name);
  snprintf(info.platform, sizeof info.platform, "%s", platforms[platform]);
  snprintf(info.pci, sizeof info.pci, "%s", pci);
  info.platform_handle = (cl_platform_id)(void *)&places[platform];
  return info;
}

typedef struct machine {
  clm__device_info infos[8];
  size_t count;
} machine;

/* Two GPUs under one platform, the first of them again under another; an FPGA emulator; the CPU
 * under both. */
static machine make_machine(void)
{
  machine made = {.count = 6};
  made.infos[0] = make_info(CLM__DEVICE_GPU, "GeForce One", 0, "0000:01:00.0");
  made.infos[1] = make_info(CLM__DEVICE_GPU, "Radeon Two", 0, "0000:02:00.0");
  made.infos[2] = make_info(CLM__DEVICE_GPU, "Open GeForce One", 1, "0000:01:00.0");
  made.infos[3] = make_info(CLM__DEVICE_ACCELERATOR, "FPGA Emulation GeForce", 0, "");
  made.infos[3].is_emulator = true;
  made.infos[4] = make_info(CLM__DEVICE_CPU, "Ryzen", 0, "");
  made.infos[5] = make_info(CLM__DEVICE_CPU, "cpu-ryzen", 1, "");
  clm__device_number(made.infos, made.count);
  return made;
}

static machine make_cpu_machine(void)
{
  machine made = {.count = 1};
  made.infos[0] = make_info(CLM__DEVICE_CPU, "Ryzen", 0, "");
  clm__device_number(made.infos, made.count);
  return made;
}

/* Expects the ids "gpu0 cpu0/2.1" for a list. */
static void check(const machine *from, const char *spec, const char *expected)
{
  clm__device_choice *chosen = NULL;
  size_t count = 0;
  char text[256] = "";
  assert_ok(clm__device_select(from->infos, from->count, spec, &chosen, &count));
  for (size_t i = 0; i < count; i++) {
    const size_t used = strlen(text);
    char part[32] = "";
    if (chosen[i].part_count > 1)
      snprintf(part, sizeof part, "/%d.%d", chosen[i].part_count, chosen[i].part);
    snprintf(text + used, sizeof text - used, "%s%s%s", i > 0 ? " " : "",
             from->infos[chosen[i].index].id, part);
  }
  assert_string_equal(text, expected);
  clm__mem_free(chosen);
}

static void check_fails(const machine *from, const char *spec, clm_status status, const char *words)
{
  clm__device_choice *chosen = NULL;
  size_t count = 0;
  assert_fails(clm__device_select(from->infos, from->count, spec, &chosen, &count), status, words);
  assert_null(chosen);
}

static void test_ids_and_duplicates(void **state)
{
  (void)state;
  const machine all = make_machine();
  static const char *const ids[] = {"gpu0", "gpu1", "gpu2", "acc0", "cpu0", "cpu1"};
  static const bool duplicates[] = {false, false, true, false, false, true};
  for (size_t i = 0; i < all.count; i++) {
    assert_string_equal(all.infos[i].id, ids[i]);
    assert_int_equal(all.infos[i].is_duplicate, duplicates[i]);
  }
}

static void test_uuid_tells_duplicates(void **state)
{
  (void)state;
  clm__device_info infos[] = {make_info(CLM__DEVICE_GPU, "A", 0, ""),
                              make_info(CLM__DEVICE_GPU, "B", 1, ""),
                              make_info(CLM__DEVICE_GPU, "C", 1, "")};
  snprintf(infos[0].uuid, sizeof infos[0].uuid, "00ff");
  snprintf(infos[2].uuid, sizeof infos[2].uuid, "00ff");
  clm__device_number(infos, 3);
  assert_false(infos[1].is_duplicate);
  assert_true(infos[2].is_duplicate);
}

static void test_parts_of_one_card_are_no_duplicates(void **state)
{
  (void)state;
  clm__device_info infos[] = {make_info(CLM__DEVICE_GPU, "Part", 0, "0000:01:00.0"),
                              make_info(CLM__DEVICE_GPU, "Part", 0, "0000:01:00.0")};
  clm__device_number(infos, 2);
  assert_false(infos[1].is_duplicate);
}

static void test_default_is_every_accelerator_once(void **state)
{
  (void)state;
  const machine all = make_machine(), cpu = make_cpu_machine();
  check(&all, NULL, "gpu0 gpu1");
  check(&all, "all", "gpu0 gpu1");
  check(&all, "all,cpu", "gpu0 gpu1 cpu0");
  check(&cpu, NULL, "cpu0");
  check(&cpu, "all,cpu", "cpu0");
}

static void test_ids_kinds_and_names(void **state)
{
  (void)state;
  const machine all = make_machine();
  check(&all, "gpu1", "gpu1");
  check(&all, " GPU1 , gpu0", "gpu1 gpu0");
  check(&all, "gpu", "gpu0 gpu1");
  check(&all, "cpu", "cpu0");
  check(&all, "radeon", "gpu1");
  check(&all, "GEFORCE", "gpu0");
  check(&all, "Beta", "gpu2 cpu1");
  check(&all, "open geforce", "gpu2");
  check(&all, "gpu0,gpu0,geforce", "gpu0");
  check(&all, "gpu0,gpu2", "gpu0 gpu2");
}

static void test_emulators_must_be_named(void **state)
{
  (void)state;
  const machine all = make_machine();
  check(&all, "fpga", "acc0");
  check(&all, "acc0", "acc0");
  check(&all, "geforce", "gpu0");
  check_fails(&all, "acc", CLM_NO_DEVICE, "\"acc\"");
}

static void test_lone_emulator_is_not_the_default(void **state)
{
  (void)state;
  machine lone = make_cpu_machine();
  lone.infos[0].is_emulator = true;
  check_fails(&lone, NULL, CLM_NO_DEVICE, "cpu0 (Ryzen)");
  check(&lone, "cpu0", "cpu0");
}

static void test_no_match_lists_what_there_is(void **state)
{
  (void)state;
  const machine all = make_machine();
  check_fails(&all, "gpu7", CLM_NO_DEVICE,
              "no device matches \"gpu7\"; there are: gpu0 (GeForce One), gpu1 (Radeon Two)");
  check_fails(&all, "gpu0,nothing", CLM_NO_DEVICE, "\"nothing\"");
}

static void test_splits(void **state)
{
  (void)state;
  const machine all = make_machine();
  check(&all, "cpu0/2", "cpu0/2.0 cpu0/2.1");
  check(&all, "cpu0/2.1", "cpu0/2.1");
  check(&all, "cpu0/2.1,cpu0/2", "cpu0/2.1 cpu0/2.0");
  check(&all, "cpu0/1", "cpu0");
  check(&all, "cpu/8.7", "cpu0/8.7");
  check_fails(&all, "cpu0/9", CLM_USAGE, "has 8 compute units and cannot be split in 9");
  check_fails(&all, "cpu0,cpu0/2", CLM_USAGE, "cpu0 is chosen both in 1 and in 2 parts");
}

static void test_malformed_words(void **state)
{
  (void)state;
  static const char *const words[] = {
      "cpu0/",    "cpu0/0",  "cpu0/x",     "cpu0/2x",   "cpu0/2.",
      "cpu0/2.2", "cpu0/-1", "cpu0/2.0.0", "cpu0/1000", "cpu0/99999999999999999999"};
  const machine all = make_machine();
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    check_fails(&all, words[i], CLM_USAGE, "is not a split");
  check_fails(&all, "", CLM_USAGE, "empty word");
  check_fails(&all, "gpu0,,gpu1", CLM_USAGE, "empty word");
  check_fails(&all, "gpu0,", CLM_USAGE, "empty word");
  char longest[300];
  memset(longest, 'a', sizeof longest - 1);
  longest[sizeof longest - 1] = '\0';
  check_fails(&all, longest, CLM_USAGE, "299 characters");
}

/* ---- This machine ---- */

static void test_list_is_complete_and_stable(void **state)
{
  (void)state;
  clm__device_info *first = NULL, *second = NULL;
  size_t count = 0, again = 0;
  assert_ok(clm__device_list(NULL, &first, &count));
  assert_ok(clm__device_list(NULL, &second, &again));
  assert_int_equal(count, again);
  for (size_t i = 0; i < count; i++) {
    assert_string_equal(first[i].id, second[i].id);
    assert_string_equal(first[i].name, second[i].name);
    assert_true(first[i].name[0] != '\0' && first[i].platform[0] != '\0');
    assert_true(first[i].driver_version[0] != '\0' && first[i].platform_version[0] != '\0');
    assert_true(first[i].memory_bytes >= first[i].buffer_max_bytes);
    assert_true(first[i].buffer_max_bytes > 0 && first[i].group_max >= 1);
    assert_true(first[i].compute_units >= 1 && first[i].vector_width >= 1);
  }
  clm__mem_free(second);
  clm__mem_free(first);
}

static void test_no_platform_switch(void **state)
{
  (void)state;
  clm__device_info *infos = NULL;
  size_t count = 0;
  setenv("CLEMATIS_TEST_NO_PLATFORM", "1", 1);
  const clm_status status = clm__device_list(NULL, &infos, &count);
  unsetenv("CLEMATIS_TEST_NO_PLATFORM");
  assert_fails(status, CLM_NO_DEVICE, "install pocl-opencl-icd");
  assert_null(infos);
}

static void test_open_half(void **state)
{
  (void)state;
  const clm__device_info whole = first_device_info();
  const clm__device_options options = {.no_cache = true};
  clm__device *halves[2] = {0};
  if (whole.compute_units < 2 || whole.kind != CLM__DEVICE_CPU) {
    print_message("skipped: the device cannot be split\n");
    skip();
  }
  for (int i = 0; i < 2; i++) {
    const clm__device_choice half = {.part = i, .part_count = 2};
    char id[32];
    float y[4] = {0};
    cl_mem buffer = NULL;
    assert_ok(clm__device_open(&whole, &half, &options, &halves[i]));
    snprintf(id, sizeof id, "%s/2.%d", whole.id, i);
    assert_string_equal(halves[i]->info.id, id);
    assert_int_equal(halves[i]->info.compute_units, whole.compute_units / 2);
    assert_int_equal(halves[i]->info.memory_bytes, whole.memory_bytes / 2);
    clm__kernel kernel = make_kernel(halves[i], "one.cl",
                                     "kernel void one(global float *y) { y[0] = 1.0f; }", "one");
    assert_ok(clm__buffer_create(halves[i], sizeof y, &buffer));
    clm__launch launch = clm__launch_begin(&kernel);
    clm__launch_buffer(&launch, buffer);
    assert_ok(clm__launch_run(&launch, 1, (size_t[]){1}, (size_t[]){1}));
    assert_ok(clm__buffer_read(halves[i], buffer, 0, y, sizeof y, true));
    assert_true(y[0] == 1.0F);
    clm__buffer_release(&buffer);
    clm__kernel_fini(&kernel);
  }
  assert_ptr_not_equal(halves[0]->handle, halves[1]->handle);
  clm__device_close(halves[0]);
  clm__device_close(halves[1]);
}

static void test_open_too_many_parts(void **state)
{
  (void)state;
  const clm__device_info whole = first_device_info();
  const clm__device_options options = {.no_cache = true};
  const clm__device_choice choice = {.part = 0, .part_count = whole.compute_units + 1};
  clm__device *device = NULL;
  assert_fails(clm__device_open(&whole, &choice, &options, &device), CLM_NO_DEVICE,
               "cannot be split");
  assert_null(device);
}

static void test_close_takes_null(void **state)
{
  (void)state;
  clm__device_close(NULL);
}

static void test_nothing_leaks_and_every_allocation_may_fail(void **state)
{
  (void)state;
  const clm__device_info info = first_device_info();
  const clm__device_choice whole = {.part_count = 1};
  const clm__device_options options = {0};
  const uint64_t live = clm__mem_get_counts().blocks_live;
  clm__device *device = NULL;
  uint64_t failures = 0;
  for (;; failures++) {
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, clm__mem_get_counts().allocations + 1 + failures);
    setenv("CLEMATIS_TEST_FAIL_ALLOC", text, 1);
    const clm_status status = clm__device_open(&info, &whole, &options, &device);
    unsetenv("CLEMATIS_TEST_FAIL_ALLOC");
    if (status == CLM_OK) break;
    assert_fails(status, CLM_NO_MEMORY, "");
    assert_int_equal(clm__mem_get_counts().blocks_live, live);
  }
  assert_true(failures >= 2);
  clm__device_close(device);
  assert_int_equal(clm__mem_get_counts().blocks_live, live);
}

static void test_codes_become_words(void **state)
{
  (void)state;
  clm__device device = {.info = make_cpu_machine().infos[0]};
  assert_string_equal(clm__cl_code_name(CL_OUT_OF_RESOURCES), "CL_OUT_OF_RESOURCES");
  assert_string_equal(clm__cl_code_name(CL_INVALID_KERNEL_ARGS), "CL_INVALID_KERNEL_ARGS");
  assert_string_equal(clm__cl_code_name(-123456), "an unknown code");
  assert_ok(clm__cl_check(&device, CL_SUCCESS, "clFoo"));
  assert_fails(clm__cl_check(&device, CL_MEM_OBJECT_ALLOCATION_FAILURE, "clFoo"), CLM_DEVICE_MEMORY,
               "device cpu0 (Ryzen): clFoo gave CL_MEM_OBJECT_ALLOCATION_FAILURE (-4)");
  assert_fails(clm__cl_check(&device, CL_OUT_OF_RESOURCES, "clFoo"), CLM_DEVICE_FAILED, "clFoo");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ids_and_duplicates),
      cmocka_unit_test(test_uuid_tells_duplicates),
      cmocka_unit_test(test_parts_of_one_card_are_no_duplicates),
      cmocka_unit_test(test_default_is_every_accelerator_once),
      cmocka_unit_test(test_ids_kinds_and_names),
      cmocka_unit_test(test_emulators_must_be_named),
      cmocka_unit_test(test_lone_emulator_is_not_the_default),
      cmocka_unit_test(test_no_match_lists_what_there_is),
      cmocka_unit_test(test_splits),
      cmocka_unit_test(test_malformed_words),
      cmocka_unit_test(test_list_is_complete_and_stable),
      cmocka_unit_test(test_no_platform_switch),
      cmocka_unit_test(test_open_half),
      cmocka_unit_test(test_open_too_many_parts),
      cmocka_unit_test(test_close_takes_null),
      cmocka_unit_test(test_nothing_leaks_and_every_allocation_may_fail),
      cmocka_unit_test(test_codes_become_words),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
