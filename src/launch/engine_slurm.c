#include "launch/engine_slurm.h"

#include "launch/mpirun.h"
#include "launch/shell.h"

#include <string.h>

/* A line that sbatch reads. It knows quotes, but no line break can stand in a value. */
static clm_status add_directive(clm__str *script, const char *name, const char *value)
{
  CLM_REQUIRE(value[strcspn(value, "\n\r\"\\")] == '\0', CLM_USAGE,
              "--%s of Slurm cannot hold '%s': a quote, backslash or line break is in it", name,
              value);
  const bool is_plain = value[strcspn(value, " \t#'")] == '\0';
  const char *quote = is_plain ? "" : "\"";
  return clm__str_add(script, "#SBATCH --%s=%s%s%s\n", name, quote, value, quote);
}

static clm_status add_number(clm__str *script, const char *name, long value)
{
  return clm__str_add(script, "#SBATCH --%s=%ld\n", name, value);
}

static clm_status add_size(const clm__plan *plan, clm__str *script)
{
  const clm__replica *replica = &plan->replicas[0];
  CLM_TRY(add_number(script, "nodes", (long)plan->replica_count));
  CLM_TRY(add_number(script, "ntasks-per-node", replica->slots));
  if (replica->accelerators > 0)
    CLM_TRY(add_number(script, "gpus-per-node", replica->accelerators));
  if (replica->processors >= replica->slots)
    CLM_TRY(add_number(script, "cpus-per-task", replica->processors / replica->slots));
  return CLM_OK;
}

static clm_status add_directives(const clm__plan *plan, const clm_launch_config *config,
                                 clm__str *script)
{
  CLM_TRY(add_directive(script, "job-name", plan->name));
  CLM_TRY(add_size(plan, script));
  if (config->partition != NULL) CLM_TRY(add_directive(script, "partition", config->partition));
  if (config->account != NULL) CLM_TRY(add_directive(script, "account", config->account));
  if (plan->timeout_seconds > 0.0)
    CLM_TRY(add_number(script, "time", (long)((plan->timeout_seconds + 59.0) / 60.0)));
  CLM_TRY(add_directive(script, "output", "%x-%j.out"));
  CLM_TRY(clm__str_add(script, "#SBATCH --open-mode=append\n#SBATCH --requeue\n"));
  /* Slurm may be a minute early, and the checkpoint takes its time. */
  return clm__str_add(script, "#SBATCH --signal=B:USR1@%.0f\n\n",
                      config->stop_grace_seconds + 60.0);
}

static clm_status add_exports(const clm__plan *plan, clm__str *script)
{
  for (size_t i = 0; i < plan->env.count; i++) {
    const char *item = plan->env.items[i];
    const size_t length = strcspn(item, "=");
    CLM_TRY(clm__str_add(script, "export %.*s=", (int)length, item));
    CLM_TRY(clm__shell_add(script, item + length + 1));
    CLM_TRY(clm__str_add(script, "\n"));
  }
  return clm__str_add(script, "\n");
}

/* The words in front of the ranks' command: mpirun, which finds the allocation's hosts, or srun. */
static clm_status add_launcher(const clm__plan *plan, const clm_launch_config *config,
                               clm__words *words)
{
  static const char *const srun[] = {"srun", "--mpi=pmix", "--kill-on-bad-exit=1"};
  static const clm__words none = {0};
  if (config->use_srun) return clm__words_add_list(words, srun, 3);
  const clm__mpirun mpirun = {
      .path = config->mpirun != NULL ? config->mpirun : "mpirun",
      .version = {.major = 4, .minor = 1},
      .ranks = plan->ranks,
      .net = config->net,
      .by_scheduler = true,
      .env = &plan->env,
      .extra = config->mpi_args.items,
      .extra_count = config->mpi_args.count,
      .command = &none,
  };
  return clm__mpirun_words(&mpirun, words);
}

static clm_status add_container(const clm_launch_config *config, clm__words *words)
{
  static const char kind[] = "apptainer:";
  if (config->container == NULL) return CLM_OK;
  CLM_REQUIRE(strncmp(config->container, kind, strlen(kind)) == 0 &&
                  config->container[strlen(kind)] != '\0',
              CLM_USAGE, "--container %s: write apptainer:IMAGE", config->container);
  CLM_TRY(clm__words_add(words, "apptainer"));
  CLM_TRY(clm__words_add(words, "exec"));
  CLM_TRY(clm__words_add(words, "--nv"));
  return clm__words_add(words, config->container + strlen(kind));
}

/* The command, with a place where the shell puts --resume once there is a checkpoint. */
static clm_status add_command(const clm__plan *plan, const clm_launch_config *config,
                              clm__str *script)
{
  clm__words words = {0};
  clm_status status = add_launcher(plan, config, &words);
  if (status == CLM_OK) status = add_container(config, &words);
  if (status == CLM_OK) status = clm__plan_command(plan, config->progress, false, &words);
  if (status == CLM_OK && plan->is_own) {
    const size_t split = words.count - plan->rest.count;
    const clm__words front = {.items = words.items, .count = split};
    const clm__words back = {.items = words.items + split, .count = plan->rest.count};
    status = clm__shell_add_words(script, &front);
    if (status == CLM_OK) status = clm__str_add(script, " $resume ");
    if (status == CLM_OK) status = clm__shell_add_words(script, &back);
  } else if (status == CLM_OK) {
    status = clm__shell_add_words(script, &words);
  }
  clm__words_fini(&words);
  CLM_TRY(status);
  return clm__str_add(script, " &\n");
}

static clm_status add_resume(const clm__plan *plan, clm__str *script)
{
  CLM_TRY(clm__str_add(script, "resume=\nif ls "));
  CLM_TRY(clm__shell_add(script, plan->output));
  return clm__str_add(script, "/checkpoints/images-*.keras >/dev/null 2>&1; then\n"
                              "  resume=--resume\nfi\n");
}

static clm_status add_body(const clm__plan *plan, const clm_launch_config *config, clm__str *script)
{
  if (plan->is_own) CLM_TRY(add_resume(plan, script));
  CLM_TRY(add_command(plan, config, script));
  /* mpirun hands on USR2, and srun any signal but INT; `wait` ends early when a signal comes. */
  CLM_TRY(clm__str_add(script, "child=$!\n"
                               "trap 'kill -USR2 \"$child\"' USR1 TERM\n"
                               "code=0\n"
                               "wait \"$child\" || code=$?\n"
                               "while kill -0 \"$child\" 2>/dev/null; do\n"
                               "  code=0\n"
                               "  wait \"$child\" || code=$?\n"
                               "done\n"));
  return clm__str_add(script, "if [ \"$code\" -eq 75 ]; then\n"
                              "  scontrol requeue \"$SLURM_JOB_ID\"\n"
                              "fi\n"
                              "exit \"$code\"\n");
}

clm_status clm__engine_slurm(const clm__plan *plan, const clm_launch_config *config,
                             clm__str *script)
{
  CLM_REQUIRE(
      clm__plan_is_even(plan), CLM_UNSUPPORTED,
      "Slurm gives every node of a job the same number of ranks, and here they differ: give "
      "both pools the same accelerator_count, or set --ranks-per-replica");
  CLM_TRY(clm__str_add(script, "#!/bin/bash\n"));
  CLM_TRY(add_directives(plan, config, script));
  CLM_TRY(add_exports(plan, script));
  return add_body(plan, config, script);
}
