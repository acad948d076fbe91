#include "device_support.h"

#include "dev/source.h"

#include "support/folder.h"
#include "sys/file.h"
#include "sys/thread.h"

#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

static const char twice[] = "kernel void twice(int count, global int *y)\n"
                            "{\n"
                            "  const int i = (int)get_global_id(0);\n"
                            "  if (i < count) y[i] = 2 * FACTOR;\n"
                            "}\n";

/* What was told, newest last. */
typedef struct ear {
  char heard[8192];
  int infos;
} ear;

static void receive(void *user, clm_log_level level, const char *message)
{
  ear *told = user;
  const size_t used = strlen(told->heard);
  snprintf(told->heard + used, sizeof told->heard - used, "%s\n", message);
  told->infos += level == CLM_LOG_INFO;
}

static int setup(void **state)
{
  *state = make_folder();
  setenv("CLEMATIS_CACHE", *state, 1);
  return 0;
}

static int teardown(void **state)
{
  unsetenv("CLEMATIS_CACHE");
  remove_folder(*state);
  return 0;
}

static clm__device *open_with_cache(const clm_log *log)
{
  const clm__device_options options = {.log = log};
  return open_device(&options);
}

/* Builds or loads the program, runs its kernel and checks the result. */
static void check_twice(clm__device *device, const char *options, int expected)
{
  enum { COUNT = 5 };
  clm__program *program = NULL;
  clm__kernel kernel = {0};
  cl_mem buffer = NULL;
  int y[COUNT];
  assert_ok(clm__program_get_text(device, "twice.cl", twice, options, &program));
  assert_ok(clm__kernel_init(program, "twice", &kernel));
  assert_ok(clm__buffer_create(device, sizeof y, &buffer));
  clm__launch launch = clm__launch_begin(&kernel);
  clm__launch_int(&launch, COUNT);
  clm__launch_buffer(&launch, buffer);
  assert_ok(clm__launch_run(&launch, 1, (size_t[]){COUNT}, NULL));
  assert_ok(clm__buffer_read(device, buffer, 0, y, sizeof y, true));
  for (int i = 0; i < COUNT; i++) assert_int_equal(y[i], expected);
  clm__buffer_release(&buffer);
  clm__kernel_fini(&kernel);
}

/* Opens, runs, closes; says how many programs were built and loaded. */
static void run_once(uint64_t built, uint64_t loaded)
{
  clm__device *device = open_with_cache(NULL);
  check_twice(device, "-DFACTOR=21", 42);
  assert_int_equal(atomic_load(&device->counts.programs_built), built);
  assert_int_equal(atomic_load(&device->counts.programs_loaded), loaded);
  clm__device_close(device);
}

/* The path of the only entry; freed by the caller. */
static char *find_entry(const char *cache)
{
  char *folder = NULL, *path = NULL;
  clm__file_listing listing = {0};
  assert_ok(clm__file_join(cache, "kernels", &folder));
  assert_ok(clm__file_list(folder, &listing));
  assert_int_equal(listing.count, 1);
  assert_ok(clm__file_join(folder, listing.entries[0].name, &path));
  clm__file_listing_fini(&listing);
  clm__mem_free(folder);
  return path;
}

static void test_built_once_a_device(void **state)
{
  (void)state;
  clm__device *device = open_with_cache(NULL);
  clm__program *first = NULL, *second = NULL, *other = NULL;
  assert_ok(clm__program_get_text(device, "twice.cl", twice, "-DFACTOR=1", &first));
  assert_ok(clm__program_get_text(device, "twice.cl", twice, "-DFACTOR=1", &second));
  assert_ok(clm__program_get_text(device, "twice.cl", twice, "-DFACTOR=2", &other));
  assert_ptr_equal(first, second);
  assert_ptr_not_equal(first, other);
  assert_int_equal(atomic_load(&device->counts.programs_built), 2);
  clm__device_close(device);
}

static void test_second_start_loads(void **state)
{
  (void)state;
  run_once(1, 0);
  run_once(0, 1);
}

static void test_other_options_are_a_miss(void **state)
{
  (void)state;
  run_once(1, 0);
  clm__device *device = open_with_cache(NULL);
  check_twice(device, "-DFACTOR=22", 44);
  assert_int_equal(atomic_load(&device->counts.programs_loaded), 0);
  clm__device_close(device);
}

static void test_other_driver_is_a_miss(void **state)
{
  (void)state;
  run_once(1, 0);
  clm__device *device = open_with_cache(NULL);
  snprintf(device->info.driver_version, sizeof device->info.driver_version, "another");
  check_twice(device, "-DFACTOR=21", 42);
  assert_int_equal(atomic_load(&device->counts.programs_loaded), 0);
  clm__device_close(device);
}

/* Two processes, or two devices of one, build the same program: the last has nothing to write. */
static void test_an_entry_is_written_once(void **state)
{
  struct stat before, after;
  clm__device *first = open_with_cache(NULL), *second = open_with_cache(NULL);
  check_twice(first, "-DFACTOR=21", 42);
  check_twice(second, "-DFACTOR=21", 42);
  assert_int_equal(atomic_load(&second->counts.programs_built), 1);
  clm__device_close(first);
  char *path = find_entry(*state);
  assert_int_equal(stat(path, &before), 0);
  clm__device_close(second);
  assert_int_equal(stat(path, &after), 0);
  assert_true(before.st_ino == after.st_ino);
  clm__mem_free(path);
  run_once(0, 1);
}

/* Changes one byte, or cuts the file there, and expects a silent new build and a sound entry. */
static void check_damage(const char *cache, long at, bool cut)
{
  char *path = find_entry(cache), *content = NULL;
  size_t size = 0;
  assert_ok(clm__file_read(path, SIZE_MAX, &content, &size));
  const size_t place = at >= 0 ? (size_t)at : size - (size_t)-at;
  content[place] = (char)~content[place];
  assert_ok(clm__file_write(path, content, cut ? place : size));
  run_once(1, 0);
  run_once(0, 1);
  clm__mem_free(content);
  clm__mem_free(path);
}

static void test_damaged_entries_are_rebuilt(void **state)
{
  run_once(1, 0);
  check_damage(*state, 0, false);   /* magic */
  check_damage(*state, 8, false);   /* version */
  check_damage(*state, 12, false);  /* length of the key */
  check_damage(*state, 23, false);  /* length of the binary */
  check_damage(*state, 40, false);  /* key */
  check_damage(*state, -1, false);  /* binary */
  check_damage(*state, -100, true); /* cut off */
  check_damage(*state, 10, true);
  check_damage(*state, 0, true);
}

static void test_no_cache_keeps_nothing(void **state)
{
  clm__device *device = open_test_device();
  check_twice(device, "-DFACTOR=21", 42);
  clm__device_close(device);
  char *folder = NULL;
  assert_ok(clm__file_join(*state, "kernels", &folder));
  assert_false(clm__file_exists(folder));
  clm__mem_free(folder);
}

/* A file stands where the folder should be: this stops root, too. */
static void test_unusable_folder_is_only_told(void **state)
{
  char *folder = NULL;
  ear told = {0};
  const clm_log log = {receive, &told};
  assert_ok(clm__file_join(*state, "kernels", &folder));
  assert_ok(clm__file_write(folder, "x", 1));
  clm__device *device = open_with_cache(&log);
  check_twice(device, "-DFACTOR=21", 42);
  (void)clm__error_fail(CLM_USAGE, __FILE__, __LINE__, __func__, "what failed before");
  clm__device_close(device);
  assert_non_null(strstr(told.heard, "the kernels of twice.cl are not kept"));
  assert_string_equal(clm_error_last()->message, "what failed before");
  clm__mem_free(folder);
}

static void test_read_only_folder_is_only_told(void **state)
{
  char *folder = NULL;
  if (geteuid() == 0) {
    print_message("skipped: root may write into any folder\n");
    skip();
  }
  assert_ok(clm__file_join(*state, "kernels", &folder));
  assert_ok(clm__file_make_folder(folder));
  assert_int_equal(chmod(folder, 0500), 0);
  run_once(1, 0);
  run_once(1, 0);
  assert_int_equal(chmod(folder, 0700), 0);
  clm__mem_free(folder);
}

static void test_store_writes_before_the_close(void **state)
{
  clm__device *device = open_with_cache(NULL);
  char *folder = NULL;
  assert_ok(clm__file_join(*state, "kernels", &folder));
  check_twice(device, "-DFACTOR=21", 42);
  clm__program_store(device, 0);
  assert_false(clm__file_exists(folder)); /* there was no time */
  clm__program_store(device, 60);
  char *path = find_entry(*state);
  run_once(0, 1);
  clm__device_close(device);
  clm__mem_free(path);
  clm__mem_free(folder);
}

static void test_every_allocation_may_fail(void **state)
{
  (void)state;
  clm__device *device = open_with_cache(NULL);
  clm__program *program = NULL;
  uint64_t failures = 0;
  for (;; failures++) {
    char options[32], turn[32];
    snprintf(options, sizeof options, "-DFACTOR=%d", (int)failures + 1);
    snprintf(turn, sizeof turn, "%" PRIu64, clm__mem_get_counts().allocations + 1 + failures);
    const uint64_t live = clm__mem_get_counts().blocks_live;
    setenv("CLEMATIS_TEST_FAIL_ALLOC", turn, 1);
    const clm_status status = clm__program_get_text(device, "twice.cl", twice, options, &program);
    const bool was_refused = clm__mem_get_counts().allocations >= strtoull(turn, NULL, 10);
    unsetenv("CLEMATIS_TEST_FAIL_ALLOC");
    if (!was_refused) break;
    if (status == CLM_OK) continue; /* what is only told may fail */
    assert_fails(status, CLM_NO_MEMORY, "out of memory");
    assert_int_equal(clm__mem_get_counts().blocks_live, live);
  }
  assert_true(failures > 5 && failures < 100);
  clm__device_close(device);
}

static void test_first_build_is_told(void **state)
{
  (void)state;
  ear told = {0};
  const clm_log log = {receive, &told};
  clm__device *device = open_with_cache(&log);
  check_twice(device, "-DFACTOR=21", 42);
  check_twice(device, "-DFACTOR=1", 2);
  clm__device_close(device);
  assert_int_equal(told.infos, 1);
  assert_non_null(strstr(told.heard, "Building the kernels for"));
  assert_non_null(strstr(told.heard, "in the first run only"));
  assert_non_null(strstr(told.heard, "built twice.cl"));
  ear later = {0};
  const clm_log later_log = {receive, &later};
  device = open_with_cache(&later_log);
  check_twice(device, "-DFACTOR=21", 42);
  clm__device_close(device);
  assert_string_equal(later.heard, "");
}

static void test_failed_build_says_where(void **state)
{
  (void)state;
  clm__device *device = open_test_device();
  clm__program *program = NULL;
  const clm_status status = clm__program_get_text(
      device, "broken.cl", "\nkernel void f(global int *y) { y[0] = missing_thing; }\n", "",
      &program);
  assert_fails(status, CLM_DEVICE_FAILED, "missing_thing");
  assert_fails(status, CLM_DEVICE_FAILED, "broken.cl");
  assert_fails(status, CLM_DEVICE_FAILED, device->info.name);
  assert_fails(status, CLM_DEVICE_FAILED, "CL_BUILD_PROGRAM_FAILURE");
  assert_null(strchr(clm_error_last()->message, '\n'));
  assert_null(program);
  /* It did not stay behind as a program. */
  assert_ok(clm__program_get_text(device, "broken.cl", "kernel void f(global int *y) { y[0] = 1; }",
                                  "", &program));
  clm__device_close(device);
}

static void test_fail_build_switch(void **state)
{
  (void)state;
  clm__device *device = open_with_cache(NULL);
  clm__program *program = NULL;
  check_twice(device, "-DFACTOR=21", 42);
  clm__program_store(device, 60);
  setenv("CLEMATIS_TEST_FAIL_BUILD", "twice", 1);
  clm_status status = clm__program_get_text(device, "twice.cl", twice, "-DFACTOR=3", &program);
  assert_fails(status, CLM_DEVICE_FAILED, "CLEMATIS_TEST_FAIL_BUILD");
  clm__device *second = open_with_cache(NULL);
  status = clm__program_get_text(second, "twice.cl", twice, "-DFACTOR=21", &program);
  assert_fails(status, CLM_DEVICE_FAILED, "twice.cl");
  assert_ok(clm__program_get_text(second, "other.cl", twice, "-DFACTOR=21", &program));
  unsetenv("CLEMATIS_TEST_FAIL_BUILD");
  clm__device_close(second);
  clm__device_close(device);
}

static void test_unknown_names(void **state)
{
  (void)state;
  clm__device *device = open_test_device();
  clm__program *program = NULL;
  clm__kernel kernel = {0};
  assert_fails(clm__program_get(device, "none.cl", "", &program), CLM_INTERNAL, "none.cl");
  assert_ok(clm__program_get_text(device, "twice.cl", twice, "-DFACTOR=1", &program));
  assert_fails(clm__kernel_init(program, "thrice", &kernel), CLM_DEVICE_FAILED,
               "clCreateKernel of thrice in twice.cl gave CL_INVALID_KERNEL_NAME");
  assert_null(kernel.handle);
  clm__kernel_fini(&kernel);
  clm__device_close(device);
}

typedef struct request {
  clm__device *device;
  const char *options;
  int expected;
} request;

static void *run_request(void *argument)
{
  const request *wanted = argument;
  for (int i = 0; i < 3; i++) check_twice(wanted->device, wanted->options, wanted->expected);
  return NULL;
}

static void test_two_threads_build(void **state)
{
  (void)state;
  clm__device *device = open_with_cache(NULL);
  request requests[] = {{device, "-DFACTOR=4", 8},
                        {device, "-DFACTOR=5", 10},
                        {device, "-DFACTOR=4", 8},
                        {device, "-DFACTOR=5", 10}};
  clm__thread threads[4] = {0};
  for (int i = 0; i < 4; i++)
    assert_ok(clm__thread_start(&threads[i], "build", run_request, &requests[i]));
  for (int i = 0; i < 4; i++) clm__thread_join(&threads[i]);
  assert_int_equal(atomic_load(&device->counts.programs_built), 2);
  clm__device_close(device);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_built_once_a_device, setup, teardown),
      cmocka_unit_test_setup_teardown(test_second_start_loads, setup, teardown),
      cmocka_unit_test_setup_teardown(test_other_options_are_a_miss, setup, teardown),
      cmocka_unit_test_setup_teardown(test_other_driver_is_a_miss, setup, teardown),
      cmocka_unit_test_setup_teardown(test_an_entry_is_written_once, setup, teardown),
      cmocka_unit_test_setup_teardown(test_damaged_entries_are_rebuilt, setup, teardown),
      cmocka_unit_test_setup_teardown(test_no_cache_keeps_nothing, setup, teardown),
      cmocka_unit_test_setup_teardown(test_unusable_folder_is_only_told, setup, teardown),
      cmocka_unit_test_setup_teardown(test_read_only_folder_is_only_told, setup, teardown),
      cmocka_unit_test_setup_teardown(test_store_writes_before_the_close, setup, teardown),
      cmocka_unit_test_setup_teardown(test_every_allocation_may_fail, setup, teardown),
      cmocka_unit_test_setup_teardown(test_first_build_is_told, setup, teardown),
      cmocka_unit_test_setup_teardown(test_failed_build_says_where, setup, teardown),
      cmocka_unit_test_setup_teardown(test_fail_build_switch, setup, teardown),
      cmocka_unit_test_setup_teardown(test_unknown_names, setup, teardown),
      cmocka_unit_test_setup_teardown(test_two_threads_build, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
