/* Damaged and hostile files, failing memory, and a death in the middle of writing. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/hdf5.h"
#include "io/keras_weights.h"
#include "io/zip.h"
#include "model_support.h"
#include "op/registry.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* For the address sanitizer: HDF5 asks for whatever a damaged file tells it, copes with a refusal,
 * and forgets to give some memory back. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }
const char *__lsan_default_suppressions(void) { return "leak:libhdf5"; }

static clm_status read_bytes(const char *bytes, size_t size_bytes)
{
  /* A copy of exactly this size, so that a sanitizer sees a read behind its end. */
  char *copy = malloc(size_bytes > 0 ? size_bytes : 1);
  assert_non_null(copy);
  memcpy(copy, bytes, size_bytes);
  clm__model_file file = {0};
  const clm_status status = clm__model_file_read_bytes(copy, size_bytes, NULL, &file);
  assert_true((status == CLM_OK) == (file.graph != NULL));
  clm__model_file_fini(&file);
  free(copy);
  return status;
}

static void cut_files_are_refused(void **state)
{
  (void)state;
  size_t size_bytes = 0;
  char *bytes = read_whole(golden_path("keras_files/uncompiled.keras"), &size_bytes);
  assert_int_equal(read_bytes(bytes, size_bytes), CLM_OK);
  for (size_t i = 0; i < size_bytes; i += i < 2000 ? 1 : 37)
    assert_int_equal(read_bytes(bytes, i), CLM_BAD_DATA);
  assert_int_equal(read_bytes(bytes, size_bytes - 1), CLM_BAD_DATA);
  clm__mem_free(bytes);
}

static void changed_archives_never_crash(void **state)
{
  (void)state;
  size_t size_bytes = 0;
  char *bytes = read_whole(golden_path("keras_files/uncompiled.keras"), &size_bytes);
  const uint64_t live = clm__mem_get_counts().blocks_live;
  for (size_t i = 0; i < size_bytes; i += i % 3 + 1) {
    const char kept = bytes[i];
    bytes[i] = (char)(kept ^ (1 << (i % 8)));
    (void)read_bytes(bytes, size_bytes);
    bytes[i] = kept;
  }
  assert_int_equal(clm__mem_get_counts().blocks_live, live);
  clm__mem_free(bytes);
}

/* One bit in the middle of the stored weights. */
static void a_flipped_bit_is_noticed(void **state)
{
  (void)state;
  size_t size_bytes = 0;
  char *bytes = read_whole(golden_path("train/after12.keras"), &size_bytes);
  bytes[size_bytes / 2] ^= 4;
  clm__model_file file = {0};
  expect(clm__model_file_read_bytes(bytes, size_bytes, NULL, &file), CLM_BAD_DATA,
         "model.weights.h5: CRC error");
  clm__mem_free(bytes);
}

/* A member of a golden archive. */
static char *read_member(const char *archive, const char *name, size_t *size_bytes)
{
  clm__zip *zip = NULL;
  char *bytes = NULL;
  assert_int_equal(clm__zip_open(golden_path(archive), &zip), CLM_OK);
  assert_int_equal(clm__zip_read(zip, name, SIZE_MAX, &bytes, size_bytes), CLM_OK);
  clm__zip_close(zip);
  return bytes;
}

/* Behind the archive's checksums: what a hostile writer would reach. */
static void changed_weights_never_crash(void **state)
{
  (void)state;
  size_t size_bytes = 0;
  clm__model_file file = read_golden("keras_files/uncompiled.keras");
  char *bytes = read_member("keras_files/uncompiled.keras", "model.weights.h5", &size_bytes);
  int refused = 0;
  int changes = 0;
  for (size_t i = 0; i < size_bytes; i++) {
    static const unsigned char masks[] = {0xff, 0x01, 0x80};
    /* Most of what steers the reader stands in front. */
    for (size_t k = i < 2048 ? 0 : i % 3; k < sizeof masks; k += i < 2048 ? 1 : 3, changes++) {
      clm__hdf5 *hdf5 = NULL;
      bytes[i] = (char)(bytes[i] ^ masks[k]);
      if (clm__hdf5_open(bytes, size_bytes, "the file", &hdf5) != CLM_OK ||
          clm__keras_read_weights(hdf5, file.graph, file.weights) != CLM_OK)
        refused++;
      clm__hdf5_close(hdf5);
      bytes[i] = (char)(bytes[i] ^ masks[k]);
    }
  }
  printf("    %d of %d changes were refused\n", refused, changes);
  for (size_t i = 0; i < size_bytes; i += 7) {
    clm__hdf5 *hdf5 = NULL;
    if (clm__hdf5_open(bytes, i, "the file", &hdf5) == CLM_OK)
      assert_int_equal(clm__keras_read_weights(hdf5, file.graph, file.weights), CLM_BAD_DATA);
    clm__hdf5_close(hdf5);
  }
  clm__mem_free(bytes);
  clm__model_file_fini(&file);
}

static void changed_configurations_never_crash(void **state)
{
  (void)state;
  size_t size_bytes = 0;
  char *bytes = read_member("keras_files/frozen.keras", "config.json", &size_bytes);
  for (size_t i = 0; i < size_bytes; i++) {
    static const char put[] = {'0', '9', '-', 'e', '"', '[', '}', ',', '\0', '\xff'};
    const char kept = bytes[i];
    bytes[i] = put[i % sizeof put];
    (void)read_bytes(bytes, size_bytes);
    bytes[i] = kept;
    if (i % 5 == 0) assert_int_not_equal(read_bytes(bytes, i), CLM_OK);
  }
  clm__mem_free(bytes);
}

/* A model that claims gigabytes of weights in a small file. */
static void huge_claims_take_no_memory(void **state)
{
  static const char config[] =
      "{\"class_name\":\"Sequential\",\"config\":{\"name\":\"m\",\"layers\":["
      "{\"class_name\":\"InputLayer\",\"config\":{\"batch_shape\":[null,100,100,3]}},"
      "{\"class_name\":\"Flatten\",\"config\":{}},"
      "{\"class_name\":\"Dense\",\"config\":{\"units\":10000}}]}}";
  (void)state;
  size_t size_bytes = 0;
  char *weights = read_member("keras_files/uncompiled.keras", "model.weights.h5", &size_bytes);
  char *folder = make_folder();
  char path[512];
  (void)snprintf(path, sizeof path, "%s/huge.keras", folder);
  const clm__zip_member members[] = {{"config.json", config, sizeof config - 1},
                                     {"model.weights.h5", weights, size_bytes}};
  assert_int_equal(clm__zip_write(path, members, 2), CLM_OK);
  clm__model_file file = {0};
  expect(clm__model_file_read(path, NULL, &file), CLM_BAD_DATA, "the model has 300010000 weights");
  clm__mem_free(weights);
  remove_folder(folder);
}

/* Writes a golden archive again with other members. */
static clm_status read_changed(const char *golden, const clm__zip_member *members, size_t count,
                               const clm_log *log, clm__model_file *file)
{
  clm__zip_member all[4];
  size_t sizes[2];
  char *kept[] = {read_member(golden, "config.json", &sizes[0]),
                  read_member(golden, "model.weights.h5", &sizes[1])};
  all[0] = (clm__zip_member){"config.json", kept[0], sizes[0]};
  all[1] = (clm__zip_member){"model.weights.h5", kept[1], sizes[1]};
  size_t all_count = 2;
  for (size_t i = 0; i < count; i++) {
    size_t at = 0;
    while (at < all_count && strcmp(all[at].name, members[i].name) != 0) at++;
    all[at] = members[i];
    if (at == all_count) all_count++;
  }
  char *folder = make_folder();
  char path[512];
  (void)snprintf(path, sizeof path, "%s/changed.keras", folder);
  assert_int_equal(clm__zip_write(path, all, all_count), CLM_OK);
  const clm_status status = clm__model_file_read(path, log, file);
  remove_folder(folder);
  clm__mem_free(kept[0]);
  clm__mem_free(kept[1]);
  return status;
}

static void weights_of_another_model_are_refused(void **state)
{
  (void)state;
  size_t size_bytes = 0;
  char *other = read_member("keras_files/uncompiled.keras", "model.weights.h5", &size_bytes);
  clm__model_file file = {0};
  const clm__zip_member foreign = {"model.weights.h5", other, size_bytes};
  expect(read_changed("keras_files/frozen.keras", &foreign, 1, NULL, &file), CLM_BAD_DATA,
         "layer my_first: it has 2 weights, the file holds 0 in /layers/conv2d/vars");
  const clm__zip_member none = {"model.weights.h5", "", 0};
  expect(read_changed("keras_files/frozen.keras", &none, 1, NULL, &file), CLM_BAD_DATA,
         "model.weights.h5 is empty");
  const clm__zip_member rubbish = {"model.weights.h5", "rubbish", 7};
  expect(read_changed("keras_files/frozen.keras", &rubbish, 1, NULL, &file), CLM_BAD_DATA,
         "not a valid HDF5 file");
  clm__mem_free(other);
}

/* The state of 12 steps of Adam in a model that is compiled with another optimizer. */
static void a_state_that_does_not_fit_is_left_out(void **state)
{
  static const char adam[] = "\"class_name\": \"Adam\"";
  static const char other[] = "\"class_name\": \"AdamW\"";
  (void)state;
  heard told = {0};
  const clm_log log = {.receive = hear, .user = &told};
  size_t size_bytes = 0;
  char *config = read_member("train/after12.keras", "config.json", &size_bytes);
  char *at = strstr(config, adam);
  assert_non_null(at);
  clm__str text = {0};
  assert_int_equal(
      clm__str_add(&text, "%.*s%s%s", (int)(at - config), config, other, at + sizeof adam - 1),
      CLM_OK);
  clm__model_file file = {0};
  clm__zip_member changed = {"config.json", clm__str_get(&text), text.length};
  assert_int_equal(read_changed("train/after12.keras", &changed, 1, &log, &file), CLM_OK);
  assert_non_null(file.optim_state);
  assert_int_equal(told.count, 0);
  clm__model_file_fini(&file);
  clm__str_fini(&text);
  /* SGD without momentum has no slots: what is stored cannot be its state. */
  assert_int_equal(clm__str_add(&text, "%.*s\"class_name\": \"SGD\", \"config\": {}}%s",
                                (int)(at - config), config,
                                strstr(strstr(at, "registered_name"), "}") + 1),
                   CLM_OK);
  changed = (clm__zip_member){"config.json", clm__str_get(&text), text.length};
  if (read_changed("train/after12.keras", &changed, 1, &log, &file) != CLM_OK)
    fail_msg("%s", clm_error_last()->message);
  assert_null(file.optim_state);
  assert_string_equal(file.compile.optim->name, "sgd");
  assert_int_equal(told.count, 1);
  assert_non_null(strstr(told.last, "the state of the optimizer sgd is not used: it has 2 "
                                    "variables, the file holds 22"));
  clm__model_file_fini(&file);
  clm__str_fini(&text);
  clm__mem_free(config);
}

static void our_member_is_checked(void **state)
{
  static const struct {
    const char *text;
    clm_status status;
    const char *words;
  } cases[] = {
      {"", CLM_BAD_DATA, "clematis.json is not valid JSON"},
      {"{}", CLM_BAD_DATA, "form"},
      {"{\"form\":2}", CLM_UNSUPPORTED, "a later version wrote it"},
      {"{\"form\":1,\"digest\":\"0\",\"extra\":{}}", CLM_BAD_DATA, "damaged or was changed"},
  };
  (void)state;
  clm__model_file file = {0};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const clm__zip_member own = {CLM__EXTRA_MEMBER, cases[i].text, strlen(cases[i].text)};
    expect(read_changed("keras_files/seed.keras", &own, 1, NULL, &file), cases[i].status,
           cases[i].words);
  }
}

static void missing_members_are_named(void **state)
{
  (void)state;
  char *folder = make_folder();
  char path[512];
  (void)snprintf(path, sizeof path, "%s/some.keras", folder);
  clm__model_file file = {0};
  const clm__zip_member config = {"config.json", "{}", 2};
  assert_int_equal(clm__zip_write(path, &config, 1), CLM_OK);
  expect(clm__model_file_read(path, NULL, &file), CLM_BAD_DATA, "class_name");
  const clm__zip_member other = {"something.json", "{}", 2};
  assert_int_equal(clm__zip_write(path, &other, 1), CLM_OK);
  expect(clm__model_file_read(path, NULL, &file), CLM_BAD_DATA, "no member config.json");
  const clm__zip_member arrays = {"model.weights.npz", "", 0};
  assert_int_equal(clm__zip_write(path, &arrays, 1), CLM_OK);
  expect(clm__model_file_read(path, NULL, &file), CLM_UNSUPPORTED, "model.weights.npz");
  expect(clm__model_file_read("/nowhere/a.keras", NULL, &file), CLM_NO_INPUT, "/nowhere/a.keras");
  expect(clm__model_file_read(folder, NULL, &file), CLM_NO_INPUT, "a folder");
  remove_folder(folder);
}

static void fail_allocation(unsigned n)
{
  char number[32];
  (void)snprintf(number, sizeof number, "%llu",
                 (unsigned long long)clm__mem_get_counts().allocations + n);
  (void)setenv("CLEMATIS_TEST_FAIL_ALLOC", number, 1);
}

static void failing_allocations_leave_nothing(void **state)
{
  (void)state;
  char *folder = make_folder();
  char path[512];
  (void)snprintf(path, sizeof path, "%s/copy.keras", folder);
  size_t size_bytes = 0;
  char *bytes = read_whole(golden_path("keras_files/frozen.keras"), &size_bytes);
  const uint64_t live = clm__mem_get_counts().blocks_live;
  clm_status status = CLM_NO_MEMORY;
  for (unsigned n = 1; status != CLM_OK; n++) {
    clm__model_file file = {0};
    fail_allocation(n);
    status = clm__model_file_read_bytes(bytes, size_bytes, NULL, &file);
    if (status == CLM_OK) status = clm__model_file_write(path, &file);
    (void)unsetenv("CLEMATIS_TEST_FAIL_ALLOC");
    if (status != CLM_OK) assert_int_equal(status, CLM_NO_MEMORY);
    clm__model_file_fini(&file);
    assert_int_equal(clm__mem_get_counts().blocks_live, live);
  }
  clm__mem_free(bytes);
  remove_folder(folder);
}

static void write_for_ever(const char *path, clm__model_file *file)
{
  for (int i = 0;; i++) {
    file->weights->values[0] = (float)i;
    if (clm__model_file_write(path, file) != CLM_OK) _exit(1);
  }
}

/* Killed at any moment, the file is whole: the one before or the one after. */
static void a_death_while_writing_leaves_a_whole_file(void **state)
{
  (void)state;
  char *folder = make_folder();
  char path[512];
  (void)snprintf(path, sizeof path, "%s/model.keras", folder);
  clm__model_file file = read_golden("keras_files/frozen.keras");
  file.extra = NULL;
  assert_int_equal(clm__model_file_write(path, &file), CLM_OK);
  for (int round = 0; round < 12; round++) {
    const pid_t child = fork();
    if (child == 0) write_for_ever(path, &file);
    assert_true(child > 0);
    const struct timespec pause = {.tv_nsec = 3000000L + 2777777L * round};
    (void)nanosleep(&pause, NULL);
    (void)kill(child, SIGKILL);
    int code = 0;
    (void)waitpid(child, &code, 0);
    assert_true(WIFSIGNALED(code));
    clm__model_file again = {0};
    if (clm__model_file_read(path, NULL, &again) != CLM_OK)
      fail_msg("%s", clm_error_last()->message);
    clm__model_file_fini(&again);
  }
  clm__model_file_fini(&file);
  remove_folder(folder);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cut_files_are_refused),
      cmocka_unit_test(changed_archives_never_crash),
      cmocka_unit_test(a_flipped_bit_is_noticed),
      cmocka_unit_test(changed_weights_never_crash),
      cmocka_unit_test(changed_configurations_never_crash),
      cmocka_unit_test(huge_claims_take_no_memory),
      cmocka_unit_test(weights_of_another_model_are_refused),
      cmocka_unit_test(a_state_that_does_not_fit_is_left_out),
      cmocka_unit_test(our_member_is_checked),
      cmocka_unit_test(missing_members_are_named),
      cmocka_unit_test(failing_allocations_leave_nothing),
      cmocka_unit_test(a_death_while_writing_leaves_a_whole_file),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
