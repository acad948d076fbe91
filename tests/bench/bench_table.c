/* The measurement of ./dev bench: a table for people, or JSON.
 *
 *   bench_table [step|ops|infer|data|start|epoch|all ...] [--against PYTHON ...] [--json] [--quick]
 *               [--devices NAME] [--variant LIST] [--photos FOLDER] [--program CLEMATIS]
 *
 * Without sections: step and ops. For itself: `--first-step FOLDER SCRATCH`, a training that ends
 * at once after its first step, and `--stopped-run FOLDER SCRATCH`, one that ends there in order,
 * so that its kernels are on disk. */
#include "bench/bench.h"
#include "support/folder.h"

#include "base/mem.h"
#include "clematis/train.h"
#include "clematis/version.h"
#include "sys/file.h"
#include "train/device_choice.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct bench_section {
  const char *name;
  clm_status (*measure)(bench_run *bench);
  bool needs_photos;
  bool is_default;
} bench_section;

static const bench_section sections[] = {
    {"step", section_step, false, true},    {"ops", section_ops, false, true},
    {"infer", section_infer, false, false}, {"data", section_data, true, false},
    {"start", section_start, true, false},  {"epoch", section_epoch, true, false}};

#define SECTION_COUNT (sizeof sections / sizeof *sections)

/* ---- the first step alone ---- */

static clm_status end_program(void *user, const clm_step_info *info)
{
  (void)user;
  (void)info;
  _Exit(0); /* the time is up: nothing is to be cleaned */
}

static int stop_now(void *user)
{
  (void)user;
  return 1;
}

/* A training of the default model to its first step, with that callback. */
static clm_status run_first_step(const char *photos, const char *scratch,
                                 const clm_callback *callback)
{
  clm_train_config config = clm_train_config_default();
  clm_train_result result;
  char *folder = NULL;
  char name[32];
  (void)snprintf(name, sizeof name, "first-%ld", (long)getpid());
  CLM_TRY(clm__file_join(scratch, name, &folder));
  config.data.folder = photos;
  config.out_folder = folder;
  config.helper_process = 1; /* as the program does */
  config.callbacks = callback;
  config.callback_count = 1;
  const clm_status status = clm_train(&config, &result);
  clm__mem_free(folder);
  return status == CLM_STOPPED ? CLM_OK : status;
}

/* ---- the command line ---- */

typedef struct bench_command {
  bool wanted[SECTION_COUNT];
  bool any;
} bench_command;

static clm_status take_section(bench_command *command, const char *word)
{
  bool known = false;
  for (size_t i = 0; i < SECTION_COUNT; i++) {
    if (strcmp(word, "all") != 0 && strcmp(word, sections[i].name) != 0) continue;
    command->wanted[i] = known = true;
  }
  command->any = true;
  CLM_REQUIRE(known, CLM_USAGE,
              "there is no measurement '%s': step, ops, infer, data, start, epoch or all", word);
  return CLM_OK;
}

static clm_status take_value(bench_run *bench, const char *option, const char *value)
{
  CLM_REQUIRE(value != NULL, CLM_USAGE, "%s needs a value", option);
  if (strcmp(option, "--against") == 0) {
    CLM_REQUIRE(bench->against_count < BENCH_PYTHONS_MAX, CLM_USAGE, "at most %d Pythons",
                BENCH_PYTHONS_MAX);
    bench->against[bench->against_count++] = value;
    return CLM_OK;
  }
  const char **place = strcmp(option, "--devices") == 0   ? &bench->devices
                       : strcmp(option, "--variant") == 0 ? &bench->variant
                       : strcmp(option, "--photos") == 0  ? &bench->photos
                       : strcmp(option, "--program") == 0 ? &bench->program
                                                          : NULL;
  CLM_REQUIRE(place != NULL, CLM_USAGE, "there is no option %s", option);
  *place = value;
  return CLM_OK;
}

static clm_status take_arguments(bench_run *bench, bench_command *command, char **arguments)
{
  for (char **word = arguments; *word != NULL; word++) {
    if (strcmp(*word, "--json") == 0) {
      bench->as_json = true;
    } else if (strcmp(*word, "--quick") == 0) {
      bench->quick = true;
    } else if (strncmp(*word, "--", 2) == 0) {
      CLM_TRY(take_value(bench, word[0], word[1]));
      word++;
    } else {
      CLM_TRY(take_section(command, *word));
    }
  }
  for (size_t i = 0; i < SECTION_COUNT && !command->any; i++)
    command->wanted[i] = sections[i].is_default;
  return CLM_OK;
}

/* ---- measuring ---- */

static clm_status measure_section(bench_run *bench, const bench_section *section)
{
  if (section->needs_photos && bench->photos == NULL) {
    bench_note("%s is left out: no photographs are here (set CLEMATIS_PHOTOS, or --photos)",
               section->name);
    return CLM_OK;
  }
  bench_note("%s", section->name);
  CLM_TRY(bench_measure_device(bench));
  return section->measure(bench);
}

static void tell_machine(bench_run *bench)
{
  const clm__device_info *info = &bench->device->info;
  const clm__measured *measured = &bench->measured;
  bench_say(bench,
            "\n%s, %d units, %s %s: best of this run %.0f GFLOP/s, %.1f GB/s, a launch %.0f us",
            info->name, info->compute_units, info->platform, info->driver_version, measured->gflops,
            measured->gbytes, measured->launch_seconds * 1e6);
  clm__json_begin_object(&bench->json, "device");
  clm__json_put_text(&bench->json, "name", info->name);
  clm__json_put_text(&bench->json, "platform", info->platform);
  clm__json_put_text(&bench->json, "platform_version", info->platform_version);
  clm__json_put_text(&bench->json, "driver_version", info->driver_version);
  clm__json_put_int(&bench->json, "compute_units", info->compute_units);
  clm__json_put_number(&bench->json, "gflops", measured->gflops);
  clm__json_put_number(&bench->json, "gbytes", measured->gbytes);
  clm__json_put_number(&bench->json, "launch_us", measured->launch_seconds * 1e6);
  clm__json_end_object(&bench->json);
}

static clm_status measure(bench_run *bench, const bench_command *command)
{
  const clm_run_config run = {.devices = bench->devices, .batch_size = 32};
  CLM_TRY(clm__device_choice_open(&run, &bench->device, &bench->tune));
  clm__json_begin_object(&bench->json, NULL);
  clm__json_put_text(&bench->json, "clematis", clm_version());
  for (size_t i = 0; i < SECTION_COUNT; i++)
    if (command->wanted[i]) CLM_TRY(measure_section(bench, &sections[i]));
  tell_machine(bench);
  clm__json_end_object(&bench->json);
  return CLM_OK;
}

static clm_status print_json(bench_run *bench)
{
  char *text = NULL;
  if (!bench->as_json) return CLM_OK;
  CLM_TRY(clm__json_take(&bench->json, &text));
  (void)puts(text);
  clm__mem_free(text);
  return CLM_OK;
}

static clm_status run(bench_run *bench, char **arguments)
{
  bench_command command = {0};
  CLM_TRY(take_arguments(bench, &command, arguments));
  char *scripts = NULL, *scratch = make_folder();
  bench->scratch = scratch;
  (void)snprintf(bench->pixels_file, sizeof bench->pixels_file, "%s/pixels.f32", scratch);
  clm_status status = clm__file_join(tests_folder(), "bench", &scripts);
  bench->scripts = scripts;
  if (status == CLM_OK) status = measure(bench, &command);
  if (status == CLM_OK) status = print_json(bench);
  clm__json_writer_fini(&bench->json);
  clm__tune_close(bench->tune);
  clm__device_close(bench->device);
  clm__mem_free(scripts);
  remove_folder(scratch);
  return status;
}

/* $CLEMATIS_PHOTOS, else where they lie beside the checkout; NULL where there are none. */
static const char *find_photos(void)
{
  static char beside[1024];
  const char *named = getenv("CLEMATIS_PHOTOS");
  if (named != NULL && *named != '\0') return named;
  (void)snprintf(beside, sizeof beside, "%s/../../shared/data/flower_photos", tests_folder());
  return clm__file_is_folder(beside) ? beside : NULL;
}

static clm_status start(int argc, char **argv)
{
  const clm_callback at_once = {.on_step = end_program}, orderly = {.should_stop = stop_now};
  if (argc == 4 && strcmp(argv[1], "--first-step") == 0)
    return run_first_step(argv[2], argv[3], &at_once);
  if (argc == 4 && strcmp(argv[1], "--stopped-run") == 0)
    return run_first_step(argv[2], argv[3], &orderly);
  bench_run bench = {.self = argv[0], .program = "build/clematis", .photos = find_photos()};
  return run(&bench, argv + 1);
}

int main(int argc, char **argv)
{
  (void)signal(SIGPIPE, SIG_IGN); /* a peer that died is an error of its write */
  const clm_status status = start(argc, argv);
  if (status != CLM_OK) bench_note("%s", clm_error_last()->message);
  return clm_status_exit_code(status);
}
