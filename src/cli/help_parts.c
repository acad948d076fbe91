#include "cli/help_parts.h"

#include <string.h>

bool clm__help_takes(const clm__command *command, const clm__option *option)
{
  return (option->commands >> (unsigned)(command - clm__commands) & 1U) != 0;
}

void clm__help_add_label(const clm__option *option, clm__text *text)
{
  if (!clm__option_is_flag(option)) {
    clm__text_add(text, "--%s %s", option->name, option->value);
    return;
  }
  clm__text value = {0};
  const clm__cli_config config = clm__cli_config_default();
  const bool is_off =
      clm__option_format(option, &config, &value) && strcmp(clm__text_get(&value), "false") == 0;
  clm__text_add(text, "--%s%s", is_off ? "" : "[no-]", option->name);
  clm__text_fini(&value);
}

void clm__help_add_default(const clm__option *option, clm__text *text)
{
  clm__text value = {0};
  const clm__cli_config config = clm__cli_config_default();
  if (!clm__option_format(option, &config, &value))
    clm__text_add(text, "%s", option->unset != NULL ? option->unset : "");
  else if (!clm__option_is_flag(option))
    clm__text_add(text, "%s", clm__text_get(&value));
  else if (strcmp(clm__text_get(&value), "true") == 0)
    clm__text_add(text, "on");
  clm__text_fini(&value);
}
