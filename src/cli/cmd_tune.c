#include "cli/commands.h"
#include "cli/say.h"

#include <stdio.h>

#define COLUMN_SIZE 32
#define REMARK_SIZE 320

static void say_candidate(const clm_tune_candidate *candidate, double before)
{
  static const char *const verdicts[] = {"", "WRONG", "not usable", "CRASHED"};
  char column[COLUMN_SIZE];
  char remark[REMARK_SIZE] = "";
  (void)snprintf(column, sizeof column, "%s", verdicts[candidate->verdict]);
  if (candidate->verdict == CLM_TUNE_GOOD)
    (void)snprintf(column, sizeof column, "%.3f ms", candidate->seconds * 1e3);
  if (candidate->verdict == CLM_TUNE_WRONG)
    (void)snprintf(remark, sizeof remark, ": off by %.2g, %.2g is allowed", candidate->error,
                   candidate->allowed);
  else if (candidate->note[0] != '\0')
    (void)snprintf(remark, sizeof remark, ": %s", candidate->note);
  else if (candidate->is_used && !candidate->was_used && before > 0)
    (void)snprintf(remark, sizeof remark, ", %.2f times as fast as before",
                   before / candidate->seconds);
  else if (candidate->was_used && !candidate->is_used)
    (void)snprintf(remark, sizeof remark, ", used before");
  clm__say("%s %12s  %s%s", candidate->is_used ? "*" : " ", column, candidate->name, remark);
}

static void on_result(void *user, const clm_tune_result *result)
{
  double before = 0;
  (void)user;
  for (size_t i = 0; i < result->count; i++)
    if (result->candidates[i].was_used) before = result->candidates[i].seconds;
  clm__say("%s, %zu of %zu: %s %s", result->device, result->number, result->total, result->what,
           result->shape);
  for (size_t i = 0; i < result->count; i++) say_candidate(&result->candidates[i], before);
}

static void say_summary(const clm_tune_summary *summary)
{
  clm__say("%zu recorded in %s, %zu were there before, %zu candidates were bad", summary->recorded,
           summary->file, summary->skipped, summary->bad);
  if (summary->left > 0)
    clm__say("%zu are left: there was no time for them; the same command goes on with them",
             summary->left);
}

clm_status clm__cmd_tune(clm__cli_config *config)
{
  clm_tune_config tune = clm_tune_config_default();
  clm_tune_summary summary;
  tune.run = config->train.run;
  tune.run.log = clm__say_log();
  tune.model = config->train.model;
  tune.image_height = config->train.image_height;
  tune.image_width = config->train.image_width;
  tune.budget_seconds = config->tune_budget_seconds;
  tune.again = config->tune_again;
  tune.on_result = on_result;
  const clm_status status = clm_tune(&tune, &summary);
  if (status != CLM_OK) return clm__say_library_error(status);
  say_summary(&summary);
  return CLM_OK;
}
