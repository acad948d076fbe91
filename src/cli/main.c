/* The program `clematis`: a command, its arguments and options. */
#include "cli/help.h"
#include "cli/run.h"
#include "cli/say.h"

#include <stdio.h>
#include <string.h>

static clm_status fail_without_command(void)
{
  clm__text text = {0};
  clm__help_overview(&text);
  (void)fputs(clm__text_get(&text), stderr);
  clm__text_fini(&text);
  return CLM_USAGE;
}

static clm_status run(int count, const char *const *words)
{
  if (count == 0) return fail_without_command();
  const char *name = words[0];
  if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) name = "help";
  if (strcmp(name, "--version") == 0) name = "version";
  const clm__command *command = clm__command_find(name);
  if (command == NULL) return clm__command_fail_unknown(name);
  return clm__run_words(command, count - 1, words + 1);
}

int main(int count, char **words)
{
  const clm_status status = run(count > 0 ? count - 1 : 0, (const char *const *)(words + 1));
  return clm_status_exit_code(clm__say_finish(status));
}
