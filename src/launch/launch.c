#include "clematis/launch.h"

#include "base/log.h"
#include "base/mem.h"
#include "launch/engine_mpijob.h"
#include "launch/engine_slurm.h"
#include "launch/engine_vertex.h"
#include "launch/make_spec.h"
#include "launch/process.h"
#include "launch/runner.h"
#include "launch/shell.h"
#include "sys/file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define SPEC_BYTES_MAX ((size_t)1 << 20)

struct clm_launch {
  const clm_launch_config *config;
  const clm_log *log;
  clm__spec spec;
  clm__plan plan;
  clm__hosts hosts; /* engine hosts */
};

clm_launch_config clm_launch_config_default(void)
{
  return (clm_launch_config){
      .program = "clematis",
      .max_restarts = 3,
      .start_timeout_seconds = 600.0,
      .stop_grace_seconds = 60.0,
      .gpu_resource = "nvidia.com/gpu",
      .vertex_retry = 1,
  };
}

static clm_status read_standard_input(char **text)
{
  clm__str read_so_far = {0};
  char bytes[4096];
  ssize_t count = 0;
  clm_status status = CLM_OK;
  do {
    count = read(STDIN_FILENO, bytes, sizeof bytes);
    if (count < 0 && errno != EINTR)
      status = clm__error_fail(CLM_IO, __FILE__, __LINE__, __func__,
                               "cannot read standard input: %s", strerror(errno));
    else if (count > 0)
      status = clm__str_add_bytes(&read_so_far, bytes, (size_t)count);
    if (read_so_far.length > SPEC_BYTES_MAX)
      status = clm__error_fail(CLM_BAD_DATA, __FILE__, __LINE__, __func__,
                               "standard input is too long for a job description");
  } while (count != 0 && status == CLM_OK);
  if (status == CLM_OK) status = clm__str_take(&read_so_far, text);
  clm__str_fini(&read_so_far);
  return status;
}

/* The text of the job description and its name for messages. */
static clm_status get_text(const clm_launch_config *config, char **text, const char **what)
{
  size_t size_bytes = 0;
  const int ways =
      (config->spec_file != NULL) + (config->pool_specs.count > 0) + (config->replica_count > 0);
  CLM_REQUIRE(ways == 1, CLM_USAGE,
              "describe the job once: by a file, by --worker-pool-spec or by --replica-count");
  if (config->spec_file == NULL) {
    *what = "the job";
    return clm__make_spec(config, text);
  }
  *what = config->spec_file;
  if (strcmp(config->spec_file, "-") != 0)
    return clm__file_read(config->spec_file, SPEC_BYTES_MAX, text, &size_bytes);
  *what = "standard input";
  return read_standard_input(text);
}

static clm_status read_spec(clm_launch *launch, const clm_findings *findings)
{
  const clm_launch_config *config = launch->config;
  const clm__spec_use use = {
      .engine = config->engine,
      .needs_image = config->engine == CLM_ENGINE_MPIJOB || config->engine == CLM_ENGINE_VERTEX,
      .is_made = config->spec_file == NULL,
  };
  clm__report report = {.findings = findings};
  char *text = NULL;
  const char *what = NULL;
  CLM_TRY(get_text(config, &text, &what));
  const clm_status status = clm__spec_read(text, what, &use, &report, &launch->spec);
  clm__mem_free(text);
  return status;
}

static clm_status read_hosts(const clm_launch_config *config, clm__hosts *hosts)
{
  char *text = NULL;
  size_t size_bytes = 0;
  CLM_REQUIRE((config->hosts != NULL) != (config->host_file != NULL), CLM_USAGE,
              "engine hosts needs the names of the hosts: --hosts a,b or --hostfile FILE");
  if (config->hosts != NULL) return clm__hosts_parse(config->hosts, hosts);
  CLM_TRY(clm__file_read(config->host_file, SPEC_BYTES_MAX, &text, &size_bytes));
  const clm_status status = clm__hosts_read(text, config->host_file, hosts);
  clm__mem_free(text);
  CLM_TRY(status);
  CLM_REQUIRE(hosts->count > 0, CLM_BAD_DATA,
              "%s names no hosts; write HOST slots=N in a line each", config->host_file);
  return CLM_OK;
}

/* Gives each replica a host, in order; slots that the host file names win over those planned. */
static clm_status assign_hosts(clm_launch *launch)
{
  clm__plan *plan = &launch->plan;
  clm__hosts *hosts = &launch->hosts;
  CLM_TRY(read_hosts(launch->config, hosts));
  CLM_REQUIRE(hosts->count >= plan->replica_count, CLM_USAGE,
              "the job has %zu replicas and only %zu hosts are named", plan->replica_count,
              hosts->count);
  while (hosts->count > plan->replica_count) clm__mem_free(hosts->items[--hosts->count].name);
  plan->ranks = 0;
  for (size_t i = 0; i < hosts->count; i++) {
    clm__replica *replica = &plan->replicas[i];
    if (hosts->items[i].slots > 0) replica->slots = hosts->items[i].slots;
    hosts->items[i].slots = replica->slots;
    plan->ranks += replica->slots;
    CLM_TRY(clm__mem_copy_text(hosts->items[i].name, &replica->host));
  }
  return CLM_OK;
}

/* Without a shared folder, work is lost or the replicas do not find each other. */
static void warn_of_output(const clm_launch *launch)
{
  const clm_launch_config *config = launch->config;
  if (launch->spec.output_uri != NULL || config->base_output_dir != NULL) return;
  if (config->engine == CLM_ENGINE_MPIJOB)
    clm__log(launch->log, CLM_LOG_WARNING,
             "no base_output_directory: the model stays inside the first pod and is lost with it");
  if (config->engine == CLM_ENGINE_VERTEX)
    clm__log(launch->log, CLM_LOG_WARNING,
             "no base_output_directory: the model is lost, and replicas cannot exchange keys");
}

clm_status clm_launch_create(const clm_launch_config *config, const clm_findings *findings,
                             const clm_log *log, clm_launch **launch)
{
  clm_launch *made = NULL;
  CLM_TRY(clm__mem_alloc(1, sizeof *made, &made));
  made->config = config;
  made->log = log;
  clm_status status = read_spec(made, findings);
  if (status == CLM_OK) status = clm__plan_make(&made->spec, config, &made->plan);
  if (status == CLM_OK && config->engine == CLM_ENGINE_HOSTS) status = assign_hosts(made);
  if (status != CLM_OK) {
    clm_launch_destroy(made);
    return clm__error_pass(status, __FILE__, __LINE__, __func__);
  }
  warn_of_output(made);
  *launch = made;
  return CLM_OK;
}

void clm_launch_destroy(clm_launch *launch)
{
  if (launch == NULL) return;
  clm__hosts_fini(&launch->hosts);
  clm__plan_fini(&launch->plan);
  clm__spec_fini(&launch->spec);
  clm__mem_free(launch);
}

clm_status clm_launch_describe(const clm_launch *launch, char **text)
{
  clm__str str = {0};
  clm_status status = clm__plan_describe(&launch->plan, launch->config->progress, &str);
  if (status == CLM_OK) status = clm__str_take(&str, text);
  clm__str_fini(&str);
  return status;
}

/* All replicas of a local job share this machine. */
static clm_status init_runner(const clm_launch *launch, clm__runner *runner)
{
  const clm_launch_config *config = launch->config;
  *runner = (clm__runner){.plan = &launch->plan, .config = config, .log = launch->log};
  if (config->engine != CLM_ENGINE_HOSTS) return CLM_OK;
  runner->hosts = &launch->hosts;
  runner->ssh = (clm__ssh){.port = config->ssh_port, .key = config->ssh_key};
  return clm__file_join(launch->plan.output, ".launch/hosts", &runner->host_file);
}

static clm_status print_command(const clm__runner *runner, clm__str *text)
{
  clm__words words = {0};
  clm__words env = {0};
  if (runner->hosts != NULL) {
    CLM_TRY(clm__str_add(text, "# %s:\n", runner->host_file));
    for (size_t i = 0; i < runner->hosts->count; i++)
      CLM_TRY(clm__str_add(text, "#   %s slots=%d\n", runner->hosts->items[i].name,
                           runner->hosts->items[i].slots));
  }
  clm_status status = clm__words_add(&env, "env");
  if (status == CLM_OK) status = clm__runner_env(runner, &env);
  if (status == CLM_OK) status = clm__runner_words(runner, false, &words);
  if (status == CLM_OK && env.count > 1) status = clm__shell_add_words(text, &env);
  if (status == CLM_OK && env.count > 1) status = clm__str_add(text, " ");
  if (status == CLM_OK) status = clm__shell_add_words(text, &words);
  if (status == CLM_OK) status = clm__str_add(text, "\n");
  clm__words_fini(&words);
  clm__words_fini(&env);
  return status;
}

static clm_status print(const clm_launch *launch, clm__str *text)
{
  clm__runner runner;
  switch (launch->config->engine) {
  case CLM_ENGINE_SLURM:
    return clm__engine_slurm(&launch->plan, launch->config, text);
  case CLM_ENGINE_MPIJOB:
    return clm__engine_mpijob(&launch->plan, launch->config, text);
  case CLM_ENGINE_VERTEX:
    return clm__engine_vertex(&launch->spec, launch->config, text);
  default:
    break;
  }
  CLM_TRY(init_runner(launch, &runner));
  const clm_status status = print_command(&runner, text);
  clm__mem_free(runner.host_file);
  return status;
}

clm_status clm_launch_print(const clm_launch *launch, char **text)
{
  clm__str str = {0};
  clm_status status = print(launch, &str);
  if (status == CLM_OK) status = clm__str_take(&str, text);
  clm__str_fini(&str);
  return status;
}

static clm_status submit(const clm_launch *launch, int *exit_code)
{
  clm__str script = {0};
  clm__words words = {0};
  clm_status status = clm__engine_slurm(&launch->plan, launch->config, &script);
  if (status == CLM_OK) status = clm__words_add(&words, "sbatch");
  if (status == CLM_OK) status = clm__process_feed(&words, clm__str_get(&script), exit_code);
  clm__str_fini(&script);
  clm__words_fini(&words);
  return status;
}

clm_status clm_launch_run(clm_launch *launch, int *exit_code)
{
  const clm_engine engine = launch->config->engine;
  clm__runner runner;
  if (engine == CLM_ENGINE_SLURM && launch->config->submit) return submit(launch, exit_code);
  CLM_REQUIRE(engine == CLM_ENGINE_LOCAL || engine == CLM_ENGINE_HOSTS, CLM_USAGE,
              "this engine only prints what it would run");
  CLM_TRY(init_runner(launch, &runner));
  const clm_status status = clm__runner_run(&runner, exit_code);
  clm__mem_free(runner.host_file);
  return status;
}
