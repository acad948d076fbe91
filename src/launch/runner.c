#include "launch/runner.h"

#include "base/mem.h"
#include "launch/process.h"
#include "launch/supervisor.h"
#include "sys/file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VERSION_SECONDS 20.0
#define LONE_SECONDS 15.0

static const char *mpirun_of(const clm_launch_config *config)
{
  return config->mpirun != NULL ? config->mpirun : "mpirun";
}

clm_status clm__runner_find_mpi(const clm_launch_config *config, clm__mpi_version *version)
{
  clm__words words = {0};
  clm__str output = {0};
  int code = 0;
  clm_status status = clm__words_add(&words, mpirun_of(config));
  if (status == CLM_OK) status = clm__words_add(&words, "--version");
  if (status == CLM_OK) status = clm__process_capture(&words, VERSION_SECONDS, &output, &code);
  if (status == CLM_OK && code != 0)
    status = clm__error_fail(CLM_UNSUPPORTED, __FILE__, __LINE__, __func__,
                             "%s --version ended with status %d", mpirun_of(config), code);
  if (status == CLM_OK) status = clm__mpirun_read_version(clm__str_get(&output), version);
  clm__words_fini(&words);
  clm__str_fini(&output);
  return status;
}

static bool is_one_machine(const clm__runner *runner)
{
  return runner->hosts == NULL && !runner->by_scheduler;
}

static clm_status add_mpirun(const clm__runner *runner, const clm__mpi_version *version,
                             const clm__words *command, clm__words *words)
{
  const clm_launch_config *config = runner->config;
  clm__words ssh = {0};
  const clm__mpirun mpirun = {
      .path = mpirun_of(config),
      .version = *version,
      .ranks = runner->plan->ranks,
      .host_file = runner->hosts != NULL ? runner->host_file : NULL,
      .ssh = &ssh,
      .net = config->net,
      /* Slots are the cores then, and a rank a device may be more; mpirun yields where it is. */
      .oversubscribe = is_one_machine(runner) && runner->plan->ranks > 1,
      .by_scheduler = runner->by_scheduler,
      .env = &runner->plan->env,
      .extra = config->mpi_args.items,
      .extra_count = config->mpi_args.count,
      .command = command,
  };
  clm_status status = runner->hosts != NULL ? clm__ssh_options(&runner->ssh, &ssh) : CLM_OK;
  if (status == CLM_OK) status = clm__mpirun_words(&mpirun, words);
  clm__words_fini(&ssh);
  return status;
}

clm_status clm__runner_words(const clm__runner *runner, bool resume, clm__words *words)
{
  clm__mpi_version version = {0};
  clm__words command = {0};
  clm_status status = clm__runner_find_mpi(runner->config, &version);
  const bool is_missing = status == CLM_NO_INPUT && runner->config->mpirun == NULL;
  const bool is_direct = is_missing && is_one_machine(runner) && runner->plan->ranks == 1;
  if (is_direct) status = CLM_OK;
  CLM_TRY(status);
  status = clm__plan_command(runner->plan, runner->config->progress, resume, &command);
  if (status == CLM_OK && is_direct)
    status = clm__words_add_list(words, (const char *const *)command.items, command.count);
  else if (status == CLM_OK)
    status = add_mpirun(runner, &version, &command, words);
  clm__words_fini(&command);
  return status;
}

clm_status clm__runner_env(const clm__runner *runner, clm__words *env)
{
  const clm__words *own = &runner->plan->env;
  if (geteuid() == 0) {
    /* mpirun refuses root without both; in a container root is nobody special. */
    CLM_TRY(clm__words_add(env, "OMPI_ALLOW_RUN_AS_ROOT=1"));
    CLM_TRY(clm__words_add(env, "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"));
  }
  return clm__words_add_list(env, (const char *const *)own->items, own->count);
}

clm_status clm__runner_add_host_file(const clm__runner *runner, clm__str *text)
{
  for (size_t i = 0; i < runner->hosts->count; i++) {
    const clm__host *host = &runner->hosts->items[i];
    CLM_TRY(clm__mpirun_add_host(text, host->name, host->slots));
  }
  return CLM_OK;
}

/* The number in the newest checkpoint's name, which counts images seen; 0 where there is none. */
static uint64_t newest_checkpoint(const char *output)
{
  static const char prefix[] = "images-";
  char *folder = NULL;
  clm__file_listing listing = {0};
  uint64_t newest = 0;
  if (output == NULL || clm__file_join(output, "checkpoints", &folder) != CLM_OK) return 0;
  if (clm__file_is_folder(folder) && clm__file_list(folder, &listing) == CLM_OK) {
    for (size_t i = 0; i < listing.count; i++) {
      const char *name = listing.entries[i].name;
      if (strncmp(name, prefix, strlen(prefix)) != 0 || strstr(name, ".keras") == NULL) continue;
      /* One more than the images, so that a checkpoint of none is one too. */
      const uint64_t number = strtoull(name + strlen(prefix), NULL, 10) + 1;
      if (number > newest) newest = number;
    }
    clm__file_listing_fini(&listing);
  }
  clm__mem_free(folder);
  return newest;
}

static uint64_t get_progress(void *user)
{
  const clm__runner *runner = user;
  return newest_checkpoint(runner->plan->output);
}

static clm_status write_host_file(const clm__runner *runner)
{
  clm__str text = {0};
  char *folder = NULL;
  CLM_TRY(clm__mem_copy_text(runner->host_file, &folder));
  char *slash = strrchr(folder, '/');
  if (slash != NULL) *slash = '\0';
  clm_status status = slash != NULL ? clm__file_make_folder(folder) : CLM_OK;
  clm__mem_free(folder);
  if (status == CLM_OK) status = clm__runner_add_host_file(runner, &text);
  if (status == CLM_OK) status = clm__file_write(runner->host_file, text.text, text.length);
  clm__str_fini(&text);
  return status;
}

/* What an attempt that failed before its first checkpoint left would keep the next from starting.
 */
static void clear_empty_folder(const char *output)
{
  char *folder = NULL;
  if (clm__file_join(output, "checkpoints", &folder) != CLM_OK) return;
  (void)rmdir(folder);
  clm__mem_free(folder);
}

/* A host that comes back while it is waited for may have another key. */
static clm_status await_hosts(const clm__runner *runner)
{
  clm__words options = {0};
  const clm__hosts_call call = {.options = &options,
                                .seconds = runner->config->start_timeout_seconds,
                                .look = runner->refresh,
                                .user = runner->user,
                                .log = runner->log};
  clm_status status = clm__ssh_options(&runner->ssh, &options);
  if (status == CLM_OK) status = clm__hosts_wait(runner->hosts, &call);
  clm__words_fini(&options);
  CLM_TRY(status);
  return write_host_file(runner);
}

static clm_status prepare(void *user, int attempt, clm__words *argv)
{
  clm__runner *runner = user;
  const clm__plan *plan = runner->plan;
  const bool resume = plan->output != NULL && newest_checkpoint(plan->output) > 0;
  if (runner->refresh != NULL) CLM_TRY(runner->refresh(runner->user));
  if (runner->hosts != NULL) CLM_TRY(await_hosts(runner));
  if (attempt > 0 && plan->is_own && plan->output != NULL && !resume)
    clear_empty_folder(plan->output);
  return clm__runner_words(runner, resume, argv);
}

/* Only our own ranks are known to end together. */
static const char *rank_name(const clm__runner *runner)
{
  const clm__plan *plan = runner->plan;
  if (!plan->is_own || runner->hosts == NULL) return NULL;
  const char *program = plan->command.items[0];
  const char *slash = strrchr(program, '/');
  return slash != NULL ? slash + 1 : program;
}

clm_status clm__runner_run(clm__runner *runner, int *exit_code)
{
  const clm_launch_config *config = runner->config;
  clm__words env = {0};
  clm_status status = clm__runner_env(runner, &env);
  const clm__supervision supervision = {
      .user = runner,
      .prepare = prepare,
      .progress = get_progress,
      .env = &env,
      .log = runner->log,
      .max_restarts = runner->plan->max_restarts,
      .timeout_seconds = runner->plan->timeout_seconds,
      .stop_grace_seconds = config->stop_grace_seconds,
      .rank_name = rank_name(runner),
      .lone_seconds = LONE_SECONDS,
      .backoff_seconds = 1.0,
  };
  if (status == CLM_OK) status = clm__supervise(&supervision, exit_code);
  clm__words_fini(&env);
  return status;
}
