#include "cli/commands.h"
#include "cli/say.h"

static void say_result(const clm__cli_config *config, const clm_evaluation *result)
{
  const double rate = result->seconds > 0 ? (double)result->images / result->seconds : 0;
  if (config->json)
    clm__say("{\"loss\": %.9g, \"accuracy\": %.9g, \"images\": %zu, \"seconds\": %.6f}",
             result->loss, result->accuracy, result->images, result->seconds);
  else
    clm__say("%zu images - accuracy: %.4f - loss: %.4f - %.1fs, %.0f images/s", result->images,
             result->accuracy, result->loss, result->seconds, rate);
}

clm_status clm__cmd_evaluate(clm__cli_config *config)
{
  clm_model *model = NULL;
  config->train.data.folder = config->arguments[1];
  config->train.run.log = clm__say_log();
  clm_evaluation result = {0};
  clm_status status = clm_model_load(config->arguments[0], clm__say_log(), &model);
  if (status == CLM_OK)
    status =
        clm_model_evaluate(model, &config->train.data, config->subset, &config->train.run, &result);
  clm_model_destroy(model);
  if (status != CLM_OK) return clm__say_library_error(status);
  say_result(config, &result);
  return CLM_OK;
}
