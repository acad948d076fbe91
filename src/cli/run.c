#include "cli/run.h"

#include "cli/commands.h"
#include "cli/help.h"
#include "cli/ranks.h"
#include "cli/say.h"

static clm_status show_help(const clm__command *command)
{
  clm__text text = {0};
  clm__help_command(command, &text);
  clm__say_text(clm__text_get(&text));
  clm__text_fini(&text);
  return CLM_OK;
}

/* A command of the whole job: all ranks parse, run and fail together. */
static clm_status run_in_job(const clm__command *command, clm_job *job, int count,
                             const char *const *words)
{
  clm__cli_config config;
  clm_status status = clm__options_parse(command, job, count, words, &config);
  const clm__voice voice = {
      .quiet = config.quiet != 0,
      .verbose = config.verbose != 0,
      .info_to_out = command->run == clm__cmd_train,
      .events = command->run == clm__cmd_train && config.progress == CLM__PROGRESS_JSON &&
                !config.quiet && !config.help,
  };
  clm__say_set_voice(&voice);
  config.train.job = job;
  status = clm__ranks_agree(job, status);
  if (status == CLM_OK) status = config.help ? show_help(command) : command->run(&config);
  clm__cli_config_fini(&config);
  return status;
}

clm_status clm__run_words(const clm__command *command, int count, const char *const *words)
{
  clm_job *job = NULL;
  clm_status status = CLM_OK;
  if (command->run == clm__cmd_train) status = clm__ranks_join(&job);
  if (status == CLM_OK) status = run_in_job(command, job, count, words);
  clm_job_close(job);
  return status;
}
