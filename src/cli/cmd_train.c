#include "cli/commands.h"
#include "cli/opts.h"
#include "cli/ranks.h"
#include "cli/say.h"
#include "cli/train_view.h"

#include <string.h>

static clm_status settle(clm__cli_config *config)
{
  clm_train_config *train = &config->train;
  if (config->argument_count > 0) train->data.folder = config->arguments[0];
  if (train->data.folder == NULL)
    return clm__say_error(CLM_USAGE, "`clematis train` needs DATA, a folder with one folder a "
                                     "class in it; `clematis sample DIR` draws one");
  const int ranks = clm_job_size(train->job);
  if (config->expect_ranks > 0 && config->expect_ranks != ranks)
    return clm__say_error(CLM_USAGE,
                          "this run was promised %d ranks, and %d %s there: start all of them with "
                          "the mpirun of this machine's Open MPI, or with srun --mpi=pmix",
                          config->expect_ranks, ranks, ranks == 1 ? "is" : "are");
  if (train->resume && train->out_folder == NULL)
    return clm__say_error(CLM_USAGE, "--resume needs --out DIR, the folder of the run to go on");
  if (config->quiet) config->progress = CLM__PROGRESS_NONE;
  train->run.log = clm__say_log();
  if (config->log_folder != NULL) config->log_all = 1;
  train->helper_process = 1;
  return CLM_OK;
}

/* Adds a word as a shell reads it. */
static void add_shell_word(clm__text *text, const char *word)
{
  static const char harmless[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "0123456789_-./,:=+@%";
  if (word[0] != '\0' && word[strspn(word, harmless)] == '\0') {
    clm__text_add(text, "%s", word);
    return;
  }
  clm__text_add(text, "'");
  for (; *word != '\0'; word++) clm__text_add(text, *word == '\'' ? "'\\%c'" : "%c", *word);
  clm__text_add(text, "'");
}

static clm_status say_stopped(const clm__cli_config *config, const clm_train_result *result)
{
  clm__text folder = {0};
  if (clm_job_rank(config->train.job) > 0) return CLM_STOPPED;
  add_shell_word(&folder, result->out_folder);
  clm__say_notice("stopped on request; to go on: clematis train --resume --out %s",
                  clm__text_get(&folder));
  clm__text_fini(&folder);
  return CLM_STOPPED;
}

static clm_status train(clm__cli_config *config)
{
  clm__train_view view = {.config = config, .progress = clm__progress_begin(config->progress)};
  const clm_callback callback = clm__train_view_callback(&view);
  config->train.callbacks = &callback;
  config->train.callback_count = 1;
  clm_train_result result;
  memset(&result, 0, sizeof result);
  view.result = &result;
  clm__train_view_begin(&view);
  const clm_status status = clm_train(&config->train, &result);
  config->train.callbacks = NULL;
  config->train.callback_count = 0;
  clm__train_view_end(&view, &result, status);
  return status == CLM_STOPPED ? say_stopped(config, &result) : status;
}

clm_status clm__cmd_train(clm__cli_config *config)
{
  clm_status status = settle(config);
  clm__text json = {0};
  if (status == CLM_OK) status = clm__config_dump(config, &json);
  config->train.config_text = clm__text_get(&json);
  status = clm__ranks_agree(config->train.job, status);
  if (status == CLM_OK) status = train(config);
  config->train.config_text = NULL;
  clm__text_fini(&json);
  return status;
}
