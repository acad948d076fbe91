#include "cli/commands.h"
#include "cli/say.h"
#include "cli/terminal.h"

clm_status clm__cmd_summary(clm__cli_config *config)
{
  clm_model *model = NULL;
  char *text = NULL;
  clm_status status = clm_model_load(config->arguments[0], clm__say_log(), &model);
  if (status == CLM_OK) status = clm_model_summary(model, clm__terminal_columns(), &text);
  if (status == CLM_OK)
    clm__say("%s", text);
  else
    (void)clm__say_library_error(status);
  clm_text_free(text);
  clm_model_destroy(model);
  return status;
}
