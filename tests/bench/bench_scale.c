/* What devices and ranks are worth: a table for people, or JSON.
 *
 *   bench_scale [ranks|checkpoint|hosts ...] [--json] [--quick] [--program CLEMATIS]
 *
 * Without sections: all. For itself: `--rank FOLDER BATCH half|whole`, a rank of a measured job,
 * and
 * `--first-step FOLDER OUT`, a training that tells the time of its first step and ends there. */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE
#include "bench/late_wire.h"
#include "bench/samples.h"
#include "bench/scale.h"
#include "support/folder.h"

#include "base/mem.h"
#include "clematis/train.h"
#include "clematis/version.h"
#include "sys/file.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct scale_section {
  const char *name;
  clm_status (*measure)(scale_run *run);
} scale_section;

static const scale_section sections[] = {
    {"ranks", scale_ranks}, {"checkpoint", scale_checkpoint}, {"hosts", scale_hosts}};

enum { SECTION_COUNT = sizeof sections / sizeof *sections };

void scale_put_samples(scale_run *run, const char *key, double *values, size_t count)
{
  clm__json_writer *json = &run->bench.json;
  const samples_figures figures = samples_evaluate(values, count);
  clm__json_begin_object(json, key);
  clm__json_put_number(json, "median", figures.median);
  clm__json_put_number(json, "low", figures.low);
  clm__json_put_number(json, "high", figures.high);
  clm__json_put_int(json, "count", (int64_t)figures.count);
  clm__json_end_object(json);
}

/* ---- the first step alone ---- */

static clm_status tell_time(void *user, const clm_step_info *info)
{
  struct timespec now;
  (void)user;
  if (info->step > 1) return CLM_OK;
  (void)clock_gettime(CLOCK_REALTIME, &now);
  (void)printf("first step at %lld.%03ld\n", (long long)now.tv_sec, now.tv_nsec / 1000000);
  (void)fflush(stdout);
  return CLM_OK;
}

static int stop_now(void *user)
{
  (void)user;
  return 1;
}

static clm_status run_first_step(const char *photos, const char *out)
{
  const clm_callback callback = {.on_step = tell_time, .should_stop = stop_now};
  clm_train_config config = clm_train_config_default();
  clm_train_result result;
  config.data.folder = photos;
  config.out_folder = out;
  config.callbacks = &callback;
  config.callback_count = 1;
  const clm_status status = clm_train(&config, &result);
  return status == CLM_STOPPED ? CLM_OK : status;
}

/* ---- the command line ---- */

static clm_status take_word(scale_run *run, bool *wanted, char **words, int *used)
{
  *used = 1;
  if (strcmp(words[0], "--json") == 0) {
    run->bench.as_json = true;
    return CLM_OK;
  }
  if (strcmp(words[0], "--quick") == 0) {
    run->bench.quick = true;
    return CLM_OK;
  }
  if (strcmp(words[0], "--program") == 0 && words[1] != NULL) {
    run->bench.program = words[1];
    *used = 2;
    return CLM_OK;
  }
  for (int i = 0; i < SECTION_COUNT; i++) {
    if (strcmp(words[0], sections[i].name) != 0) continue;
    wanted[i] = true;
    return CLM_OK;
  }
  CLM_FAIL(CLM_USAGE, "there is no %s: ranks, checkpoint, hosts, --json, --quick, --program FILE",
           words[0]);
}

static void tell_load(scale_run *run, const char *key)
{
  double load[1] = {0.0};
  (void)getloadavg(load, 1);
  clm__json_put_number(&run->bench.json, key, load[0]);
  bench_say(&run->bench, "load of the machine: %.1f", load[0]);
}

static clm_status measure(scale_run *run, const bool *wanted)
{
  bool any = false;
  for (int i = 0; i < SECTION_COUNT; i++) any = any || wanted[i];
  clm__json_begin_object(&run->bench.json, NULL);
  clm__json_put_text(&run->bench.json, "clematis", clm_version());
  clm__json_put_int(&run->bench.json, "cores", (int64_t)sysconf(_SC_NPROCESSORS_ONLN));
  tell_load(run, "load_before");
  for (int i = 0; i < SECTION_COUNT; i++) {
    if (any && !wanted[i]) continue;
    bench_note("%s", sections[i].name);
    CLM_TRY(sections[i].measure(run));
  }
  tell_load(run, "load_after");
  clm__json_end_object(&run->bench.json);
  return CLM_OK;
}

static clm_status print_json(scale_run *run)
{
  char *text = NULL;
  if (!run->bench.as_json) return CLM_OK;
  CLM_TRY(clm__json_take(&run->bench.json, &text));
  (void)puts(text);
  clm__mem_free(text);
  return CLM_OK;
}

static clm_status run_all(scale_run *run, char **words)
{
  bool wanted[SECTION_COUNT] = {false};
  for (int used = 0; *words != NULL; words += used) CLM_TRY(take_word(run, wanted, words, &used));
  char program[PATH_MAX], self[PATH_MAX];
  CLM_REQUIRE(realpath(run->bench.program, program) != NULL && realpath(run->self, self) != NULL,
              CLM_IO, "there is no program %s", run->bench.program);
  char *scripts = NULL, *scratch = make_folder();
  run->self = self;
  run->bench.program = program;
  run->bench.scratch = scratch;
  clm_status status = clm__file_join(tests_folder(), "bench", &scripts);
  run->bench.scripts = scripts;
  if (status == CLM_OK) status = measure(run, wanted);
  if (status == CLM_OK) status = print_json(run);
  clm__json_writer_fini(&run->bench.json);
  clm__mem_free(scripts);
  remove_folder(scratch);
  return status;
}

static clm_status start(int argc, char **argv)
{
  if (argc == 5 && strcmp(argv[1], "--rank") == 0)
    return scale_be_rank(argv[2], (int)strtol(argv[3], NULL, 10), strcmp(argv[4], "half") == 0);
  if (argc > 3 && strcmp(argv[1], "--late-wire") == 0)
    return late_wire_run((int)strtol(argv[2], NULL, 10), (const char *const *)argv + 3, argc - 3);
  if (argc == 4 && strcmp(argv[1], "--first-step") == 0) return run_first_step(argv[2], argv[3]);
  scale_run run = {.bench = {.program = "build/clematis"}, .self = argv[0]};
  return run_all(&run, argv + 1);
}

int main(int argc, char **argv)
{
  (void)signal(SIGPIPE, SIG_IGN); /* a job that died is an error of its turn */
  const clm_status status = start(argc, argv);
  if (status != CLM_OK) bench_note("%s", clm_error_last()->message);
  return clm_status_exit_code(status);
}
