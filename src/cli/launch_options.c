#include "cli/launch_options.h"

#include "cli/progress.h"
#include "cli/say.h"

#include <stdlib.h>
#include <unistd.h>

static clm_launch_progress choose_progress(const clm__cli_config *config)
{
  if (config->quiet) return CLM_LAUNCH_PROGRESS_NONE;
  switch (clm__progress_settle(config->progress)) {
  case CLM__PROGRESS_BAR:
    return CLM_LAUNCH_PROGRESS_BAR;
  case CLM__PROGRESS_NONE:
    return CLM_LAUNCH_PROGRESS_NONE;
  case CLM__PROGRESS_JSON:
    return CLM_LAUNCH_PROGRESS_JSON;
  default:
    return CLM_LAUNCH_PROGRESS_LINES;
  }
}

static clm_texts texts_of(const clm__word_list *list)
{
  return (clm_texts){.items = list->items, .count = list->count};
}

void clm__launch_settle(clm__cli_config *config, int runs_here, char path[CLM__PATH_SIZE])
{
  clm_launch_config *launch = &config->launch;
  launch->pool_specs = texts_of(&config->launch_pools);
  launch->env = texts_of(&config->launch_env);
  launch->mpi_args = texts_of(&config->launch_mpi_args);
  /* A rank cannot tell: mpirun gives each a terminal of its own. */
  launch->progress = choose_progress(config);
  if (launch->program != NULL) return;
  launch->program = "clematis";
  const ssize_t length = runs_here ? readlink("/proc/self/exe", path, CLM__PATH_SIZE - 1) : 0;
  if (length <= 0) return;
  path[length] = '\0';
  launch->program = path;
}

clm_status clm__launch_finish(int exit_code)
{
  if (exit_code == 0) return CLM_OK;
  if (exit_code == clm_status_exit_code(CLM_STOPPED)) return CLM_STOPPED;
  (void)clm__say_finish(CLM_OK);
  exit(exit_code);
}
