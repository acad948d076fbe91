#include "cli/commands.h"
#include "cli/say.h"

typedef struct tally {
  size_t passed;
  size_t failed;
  int verbose;
} tally;

static void on_result(void *user, const clm_selftest_result *result)
{
  tally *counts = user;
  if (result->passed)
    counts->passed++;
  else
    counts->failed++;
  if (!result->passed || counts->verbose)
    clm__say("%s  %s: %s (error %.2g, allowed %.2g)", result->passed ? "good" : "BAD ",
             result->device, result->what, result->error, result->allowed);
}

clm_status clm__cmd_selftest(clm__cli_config *config)
{
  tally counts = {.verbose = config->verbose};
  const clm_selftest_config test = {
      .devices = config->train.run.devices,
      .log = clm__say_log(),
      .on_result = on_result,
      .user = &counts,
  };
  const clm_status status = clm_selftest(&test);
  if (counts.passed + counts.failed > 0)
    clm__say("%zu checks passed, %zu failed", counts.passed, counts.failed);
  return status == CLM_OK ? CLM_OK : clm__say_library_error(status);
}
