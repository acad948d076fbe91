#include "cli/opts.h"
#include "cli/say.h"

static bool is_bare(const clm__option *option)
{
  return option->kind != CLM__TEXT && option->kind != CLM__WORD && option->kind != CLM__CHOICE &&
         option->kind != CLM__SIZE;
}

/* Adds the value as JSON: numbers and truths bare, texts in quotes, null where nothing is said. */
static clm_status add_value(const clm__option *option, const clm__cli_config *config,
                            clm__text *json)
{
  clm__text value = {0};
  char *quoted = NULL;
  clm_status status = CLM_OK;
  if (!clm__option_format(option, config, &value))
    clm__text_add(json, "null");
  else if (is_bare(option))
    clm__text_add(json, "%s", clm__text_get(&value));
  else if ((status = clm_config_quote(clm__text_get(&value), &quoted)) == CLM_OK)
    clm__text_add(json, "%s", quoted);
  clm_text_free(quoted);
  clm__text_fini(&value);
  return status == CLM_OK ? CLM_OK : clm__say_library_error(status);
}

clm_status clm__config_dump(const clm__cli_config *config, clm__text *json)
{
  const char *separator = "{\n";
  for (size_t i = 0; i < clm__option_count; i++) {
    const clm__option *option = &clm__options[i];
    if ((option->commands & CLM__IN_CONFIG) == 0) continue;
    clm__text_add(json, "%s  \"", separator);
    for (const char *c = option->name; *c != '\0'; c++)
      clm__text_add(json, "%c", *c == '-' ? '_' : *c);
    clm__text_add(json, "\": ");
    const clm_status status = add_value(option, config, json);
    if (status != CLM_OK) return status;
    separator = ",\n";
  }
  clm__text_add(json, "\n}\n");
  return CLM_OK;
}
