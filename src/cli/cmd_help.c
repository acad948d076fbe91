#include "cli/commands.h"
#include "cli/help.h"
#include "cli/say.h"

#include <string.h>

/* Besides a command's name: "man" and "markdown", which the build and docs/cli.md are made with. */
static clm_status add_topic(const char *topic, clm__text *text)
{
  const clm__command *command = clm__command_find(topic);
  if (command != NULL)
    clm__help_command(command, text);
  else if (strcmp(topic, "man") == 0)
    clm__help_manual(text);
  else if (strcmp(topic, "markdown") == 0)
    clm__help_markdown(text);
  else
    return clm__command_fail_unknown(topic);
  return CLM_OK;
}

clm_status clm__cmd_help(clm__cli_config *config)
{
  clm__text text = {0};
  clm_status status = CLM_OK;
  if (config->argument_count == 0)
    clm__help_overview(&text);
  else
    status = add_topic(config->arguments[0], &text);
  if (status == CLM_OK) clm__say_text(clm__text_get(&text));
  clm__text_fini(&text);
  return status;
}
