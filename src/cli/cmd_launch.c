#include "cli/commands.h"
#include "cli/launch_options.h"
#include "cli/say.h"
#include "cli/text.h"

/* Where messages go: stdout may hold a script or manifest. */
static void say_note(const char *path, const char *words)
{
  const clm_log *log = clm__say_log();
  clm__text text = {0};
  clm__text_add(&text, "note: %s%s%s", path, path[0] != '\0' ? ": " : "", words);
  log->receive(log->user, CLM_LOG_INFO, clm__text_get(&text));
  clm__text_fini(&text);
}

static void say_finding(void *user, const clm_finding *finding)
{
  (void)user;
  const char *colon = finding->path[0] != '\0' ? ": " : "";
  if (finding->kind == CLM_FINDING_ERROR)
    (void)clm__say_error(CLM_BAD_DATA, "%s%s%s", finding->path, colon, finding->text);
  else if (finding->kind == CLM_FINDING_WARNING)
    clm__say_warning("%s%s%s", finding->path, colon, finding->text);
  else
    say_note(finding->path, finding->text);
}

/* The first argument is the job file, unless the options describe the job. */
static void split_arguments(clm__cli_config *config)
{
  clm_launch_config *launch = &config->launch;
  const int is_made = launch->replica_count > 0 || launch->pool_specs.count > 0;
  const int first = !is_made && config->argument_count > 0;
  if (first) launch->spec_file = config->arguments[0];
  launch->arguments =
      (clm_texts){.items = config->arguments + first, .count = config->argument_count - first};
}

static clm_status check_options(const clm__cli_config *config)
{
  const clm_launch_config *launch = &config->launch;
  const int is_short = launch->replica_count > 0;
  if (!is_short && launch->spec_file == NULL && launch->pool_specs.count == 0)
    return clm__say_error(CLM_USAGE, "`clematis launch` needs a job: SPEC.json, - for standard "
                                     "input, --replica-count or --worker-pool-spec");
  if (is_short && launch->pool_specs.count > 0)
    return clm__say_error(CLM_USAGE, "--replica-count and --worker-pool-spec exclude each other");
  if (!is_short && (launch->accelerator_count > 0 || launch->machine_type != NULL ||
                    launch->accelerator_type != NULL))
    return clm__say_error(CLM_USAGE, "--machine-type, --accelerator-type and --accelerator-count "
                                     "go with --replica-count");
  if (launch->submit && launch->engine != CLM_ENGINE_SLURM)
    return clm__say_error(CLM_USAGE, "--submit goes with --engine slurm");
  return CLM_OK;
}

static clm_status say_taken(clm_status status, char *text)
{
  if (status != CLM_OK) return clm__say_library_error(status);
  clm__say_text(text);
  clm_text_free(text);
  return CLM_OK;
}

/* Whether the engine carries the job itself, so that there is something to run here. */
static int is_run_here(const clm_launch_config *launch)
{
  return launch->engine == CLM_ENGINE_LOCAL || launch->engine == CLM_ENGINE_HOSTS || launch->submit;
}

static clm_status carry_out(const clm__cli_config *config, clm_launch *launch, int *exit_code)
{
  char *text = NULL;
  if (config->validate_only) {
    const clm_status described = clm_launch_describe(launch, &text);
    return say_taken(described, text);
  }
  if (config->print || !is_run_here(&config->launch)) {
    const clm_status printed = clm_launch_print(launch, &text);
    return say_taken(printed, text);
  }
  const clm_status status = clm_launch_run(launch, exit_code);
  return status == CLM_OK ? CLM_OK : clm__say_library_error(status);
}

clm_status clm__cmd_launch(clm__cli_config *config)
{
  char path[CLM__PATH_SIZE];
  const clm_findings findings = {.visit = say_finding, .user = NULL};
  clm_launch *launch = NULL;
  int exit_code = 0;
  const int runs_here =
      config->launch.engine == CLM_ENGINE_LOCAL || config->launch.engine == CLM_ENGINE_HOSTS;
  clm__launch_settle(config, runs_here, path);
  split_arguments(config);
  clm_status status = check_options(config);
  if (status != CLM_OK) return status;
  status = clm_launch_create(&config->launch, &findings, clm__say_log(), &launch);
  if (status != CLM_OK) return clm__say_library_error(status);
  status = carry_out(config, launch, &exit_code);
  clm_launch_destroy(launch);
  return status == CLM_OK ? clm__launch_finish(exit_code) : status;
}
