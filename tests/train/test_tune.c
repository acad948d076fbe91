/* The tuner records what is right and fast, survives candidates that are not, and goes on where it
 * stopped. It forks, so nothing here uses a device in this process.
 * ctest: timeout=600 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "clematis/device.h"
#include "clematis/tune.h"
#include "support/folder.h"
#include "sys/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct place {
  char *folder;
  char *file;  /* of tuning values */
  char *model; /* a small one: two dense layers */
} place;

/* What was told of one task and one candidate. */
typedef struct tally {
  const char *what;
  const char *name;
  int seen;
  clm_tune_verdict verdict;
  bool is_used;
  char note[256];
  int results;
  int unused_results; /* without any candidate that is used */
} tally;

#define LAYERS_BEGIN                                                                               \
  "{\"module\": \"keras\", \"class_name\": \"Sequential\", \"config\": {\"name\": \"small\","      \
  " \"layers\": ["                                                                                 \
  "{\"module\": \"keras.layers\", \"class_name\": \"InputLayer\","                                 \
  " \"config\": {\"batch_shape\": [null, 40], \"name\": \"in\"}},"
#define LAYER                                                                                      \
  "{\"module\": \"keras.layers\", \"class_name\": \"Dense\","                                      \
  " \"config\": {\"name\": \"a\", \"units\": 24, \"activation\": \"relu\"}}"
#define LAST_LAYER                                                                                 \
  ",{\"module\": \"keras.layers\", \"class_name\": \"Dense\","                                     \
  " \"config\": {\"name\": \"b\", \"units\": 5}}"

static const char model_text[] = LAYERS_BEGIN LAYER LAST_LAYER "]}}";
static const char one_layer_text[] = LAYERS_BEGIN LAYER "]}}";

static int setup(void **state)
{
  static place made;
  made.folder = make_folder();
  if (clm__file_join(made.folder, "tuning.txt", &made.file) != CLM_OK) return -1;
  if (clm__file_join(made.folder, "model.json", &made.model) != CLM_OK) return -1;
  if (clm__file_write(made.model, model_text, sizeof model_text - 1) != CLM_OK) return -1;
  *state = &made;
  return 0;
}

static int teardown(void **state)
{
  place *made = *state;
  unsetenv("CLEMATIS_TEST_TUNE_WRONG");
  unsetenv("CLEMATIS_TEST_TUNE_CRASH");
  unsetenv("CLEMATIS_TEST_TUNE_HANG");
  clm__mem_free(made->file);
  clm__mem_free(made->model);
  remove_folder(made->folder);
  return 0;
}

static void on_result(void *user, const clm_tune_result *result)
{
  tally *t = user;
  int used = 0;
  t->results++;
  for (size_t i = 0; i < result->count; i++) {
    const clm_tune_candidate *candidate = &result->candidates[i];
    used += candidate->is_used;
    if (strcmp(candidate->name, t->name) != 0) continue;
    if (strcmp(result->what, t->what) != 0) continue;
    t->seen++;
    t->verdict = candidate->verdict;
    t->is_used |= candidate->is_used != 0;
    (void)snprintf(t->note, sizeof t->note, "%s", candidate->note);
  }
  t->unused_results += used != 1;
}

static clm_tune_config configure(const place *at, tally *t)
{
  clm_tune_config config = clm_tune_config_default();
  config.run.devices = getenv("CLEMATIS_TEST_DEVICE");
  config.run.tuning = at->file;
  config.run.batch_size = 4;
  config.model = at->model;
  config.on_result = on_result;
  config.user = t;
  return config;
}

static void tune(const clm_tune_config *config, clm_tune_summary *summary)
{
  const uint64_t live = clm__mem_get_counts().blocks_live;
  if (clm_tune(config, summary) != CLM_OK) fail_msg("%s", clm_error_last()->message);
  assert_int_equal(clm__mem_get_counts().blocks_live, live);
}

static char *read_file(const place *at)
{
  char *text = NULL;
  size_t size = 0;
  assert_int_equal(clm__file_read(at->file, 1U << 20, &text, &size), CLM_OK);
  return text;
}

/* The lines of the file that name a pass and contain a text. */
static int count_lines(const place *at, const char *pass, const char *part)
{
  char *text = read_file(at);
  int count = 0;
  for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"))
    count += strncmp(line, pass, strlen(pass)) == 0 && strstr(line, part) != NULL;
  clm__mem_free(text);
  return count;
}

static void every_pass_is_recorded_once(void **state)
{
  const place *at = *state;
  tally t = {.what = "dense.fwd", .name = "plain"};
  clm_tune_config config = configure(at, &t);
  clm_tune_summary first, second;
  tune(&config, &first);
  assert_int_equal(first.recorded, t.results);
  assert_int_equal(t.unused_results, 0);
  assert_int_equal(first.skipped + first.left + first.bad, 0);
  assert_string_equal(first.file, at->file);
  assert_int_equal(t.seen, 2);
  assert_int_equal(t.verdict, CLM_TUNE_GOOD);
  assert_int_equal(count_lines(at, "dense.fwd | 40-24 |", ", driver "), 1);
  assert_int_equal(count_lines(at, "dense.bwd_w | 24-5 |", ", driver "), 1);
  assert_int_equal(count_lines(at, "dense.bwd_x | 40-24 |", ""), 0); /* the first layer has none */
  char *before = read_file(at);
  tune(&config, &second);
  char *after = read_file(at);
  assert_int_equal(second.recorded, 0);
  assert_int_equal(second.skipped, first.recorded);
  assert_string_equal(before, after);
  clm__mem_free(before);
  clm__mem_free(after);
  config.again = 1;
  tune(&config, &second);
  assert_int_equal(second.recorded, first.recorded);
  assert_int_equal(count_lines(at, "dense.fwd | 40-24 |", ""), 1);
}

static void a_wrong_candidate_is_never_used(void **state)
{
  const place *at = *state;
  tally t = {.what = "dense.fwd", .name = "gemm"};
  const clm_tune_config config = configure(at, &t);
  clm_tune_summary summary;
  setenv("CLEMATIS_TEST_TUNE_WRONG", "gemm", 1);
  tune(&config, &summary);
  assert_int_equal(t.seen, 2);
  assert_int_equal(t.verdict, CLM_TUNE_WRONG);
  assert_false(t.is_used);
  assert_true(summary.bad >= 2);
  assert_int_equal(t.unused_results, 0);
  assert_int_equal(count_lines(at, "dense", "| gemm"), 0);
}

static void a_crash_costs_one_candidate(void **state)
{
  const place *at = *state;
  tally t = {.what = "dense.fwd", .name = "gemm"};
  const clm_tune_config config = configure(at, &t);
  clm_tune_summary summary;
  setenv("CLEMATIS_TEST_TUNE_CRASH", "gemm", 1);
  tune(&config, &summary);
  assert_int_equal(t.seen, 2);
  assert_int_equal(t.verdict, CLM_TUNE_CRASHED);
  assert_non_null(strstr(t.note, "signal 9"));
  assert_int_equal(summary.recorded, t.results);
  assert_int_equal(t.unused_results, 0);
  assert_int_equal(count_lines(at, "dense", "| gemm"), 0);
}

/* What is slow the first time, the compiler, has run before patience is short. */
static void what_does_not_answer_has_crashed(void **state)
{
  const place *at = *state;
  tally t = {.what = "dense.bwd_w", .name = "gemm"};
  clm_tune_config config = configure(at, &t);
  clm_tune_summary summary;
  assert_int_equal(clm__file_write(at->model, one_layer_text, sizeof one_layer_text - 1), CLM_OK);
  tune(&config, &summary);
  assert_int_equal(t.verdict, CLM_TUNE_GOOD);
  t.is_used = false;
  setenv("CLEMATIS_TEST_TUNE_HANG", "gemm", 1);
  config.again = 1;
  config.patience_seconds = 5;
  tune(&config, &summary);
  assert_int_equal(t.seen, 2);
  assert_int_equal(t.verdict, CLM_TUNE_CRASHED);
  assert_false(t.is_used);
  assert_non_null(strstr(t.note, "did not answer for 5 seconds"));
}

/* All that is left without time is done by a second call. */
static void a_short_budget_leaves_the_rest(void **state)
{
  const place *at = *state;
  tally t = {.what = "dense.fwd", .name = "plain"};
  clm_tune_config config = configure(at, &t);
  clm_tune_summary first, second;
  config.budget_seconds = 1e-3;
  tune(&config, &first);
  assert_true(first.left > 0);
  assert_int_equal(first.recorded, 0);
  config.budget_seconds = 0;
  tune(&config, &second);
  assert_int_equal(second.recorded, first.left);
  assert_int_equal(second.left, 0);
}

static void mistakes_are_told(void **state)
{
  const place *at = *state;
  tally t = {.what = "", .name = ""};
  clm_tune_config config = configure(at, &t);
  clm_tune_summary summary;
  config.run.devices = "gpu77";
  assert_int_equal(clm_tune(&config, &summary), CLM_NO_DEVICE);
  assert_non_null(strstr(clm_error_last()->message, "gpu77"));
  config = configure(at, &t);
  config.model = "no-such-file";
  assert_int_equal(clm_tune(&config, &summary), CLM_NO_INPUT);
  config = configure(at, &t);
  config.run.batch_size = 0;
  assert_int_equal(clm_tune(&config, &summary), CLM_USAGE);
  config = configure(at, &t);
  config.patience_seconds = 0;
  assert_int_equal(clm_tune(&config, &summary), CLM_USAGE);
  config = configure(at, &t);
  assert_int_equal(clm__file_write(at->file, "dense.fwd\n", 10), CLM_OK);
  assert_int_equal(clm_tune(&config, &summary), CLM_BAD_DATA);
  assert_non_null(strstr(clm_error_last()->message, "tuning.txt, line 1"));
}

/* Asked in a process of its own, so that this one stays clean. */
static bool has_device(void)
{
  const pid_t pid = fork();
  int state = 1;
  if (pid == 0) {
    clm_device_description *devices = NULL;
    size_t count = 0;
    _exit(clm_devices_list(NULL, &devices, &count) == CLM_OK ? 0 : 1);
  }
  return pid > 0 && waitpid(pid, &state, 0) == pid && state == 0;
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(every_pass_is_recorded_once, setup, teardown),
      cmocka_unit_test_setup_teardown(a_wrong_candidate_is_never_used, setup, teardown),
      cmocka_unit_test_setup_teardown(a_crash_costs_one_candidate, setup, teardown),
      cmocka_unit_test_setup_teardown(what_does_not_answer_has_crashed, setup, teardown),
      cmocka_unit_test_setup_teardown(a_short_budget_leaves_the_rest, setup, teardown),
      cmocka_unit_test_setup_teardown(mistakes_are_told, setup, teardown),
  };
  if (!has_device()) {
    (void)printf("skipped: no OpenCL device\n");
    return 77;
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}
