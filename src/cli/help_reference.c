/* The manual page and docs/cli.md. */
#include "cli/help.h"

#include "cli/help_parts.h"

#include <string.h>

/* Adds words with what roff would take for its own escaped. */
static void add_roff(clm__text *text, const char *words)
{
  if (*words == '.' || *words == '\'') clm__text_add(text, "\\&");
  for (; *words != '\0'; words++) {
    if (*words == '-')
      clm__text_add(text, "\\-");
    else if (*words == '\\')
      clm__text_add(text, "\\e");
    else
      clm__text_add(text, "%c", *words);
  }
}

/* Adds the commands that take an option: "train, evaluate". */
static void add_takers(const clm__option *option, clm__text *text)
{
  const char *separator = "";
  for (size_t i = 0; i < CLM__COMMAND_COUNT; i++) {
    if (!clm__help_takes(&clm__commands[i], option)) continue;
    clm__text_add(text, "%s%s", separator, clm__commands[i].name);
    separator = ", ";
  }
}

static void add_manual_option(const clm__option *option, clm__text *text)
{
  clm__text part = {0};
  clm__help_add_label(option, &part);
  clm__text_add(text, ".TP\n.B ");
  add_roff(text, clm__text_get(&part));
  clm__text_fini(&part);
  clm__text_add(text, "\n");
  add_roff(text, option->help);
  clm__help_add_default(option, &part);
  if (part.length > 0) {
    clm__text_add(text, ".\nDefault: ");
    add_roff(text, clm__text_get(&part));
  }
  clm__text_fini(&part);
  add_takers(option, &part);
  clm__text_add(text, ".\n(%s)\n", clm__text_get(&part));
  clm__text_fini(&part);
}

static void add_exit_statuses(clm__text *text, const char *format)
{
#define STATUS_ROW(name, exit_code, meaning) clm__text_add(text, format, exit_code, meaning);
  CLM_STATUS_MAP(STATUS_ROW)
#undef STATUS_ROW
}

/* The formats of the rows above, by name: a literal is what the compiler can check. */
#define MANUAL_STATUS ".TP\n.B %d\n%s.\n"
#define MARKDOWN_STATUS "| %d | %s |\n"

void clm__help_manual(clm__text *text)
{
  clm__text_add(text,
                ".TH CLEMATIS 1 \"\" \"clematis %s\" \"User Commands\"\n"
                ".SH NAME\nclematis \\- train image classifiers on any OpenCL device\n"
                ".SH SYNOPSIS\n.B clematis\n.I COMMAND\n[ARGUMENT...] [OPTION...]\n"
                ".SH COMMANDS\n",
                clm_version());
  for (size_t i = 0; i < CLM__COMMAND_COUNT; i++) {
    const clm__command *command = &clm__commands[i];
    clm__text_add(text, ".TP\n.B %s\n.I %s\n%s.\n", command->name, command->arguments,
                  command->summary);
  }
  clm__text_add(text, ".SH OPTIONS\nOptions are given as \\-\\-name value or \\-\\-name=value; "
                      "\\-\\- ends them.\n");
  for (int group = 0; group < CLM__GROUP_COUNT; group++) {
    clm__text_add(text, ".SS %s\n", clm__option_group_title((clm__option_group)group));
    for (size_t i = 0; i < clm__option_count; i++) {
      if ((int)clm__options[i].group == group) add_manual_option(&clm__options[i], text);
    }
  }
  clm__text_add(text, ".SH EXIT STATUS\n");
  add_exit_statuses(text, MANUAL_STATUS);
}

/* Adds words for a cell of a table, where | stands between cells. */
static void add_cell(clm__text *text, const char *words)
{
  for (; *words != '\0'; words++) clm__text_add(text, *words == '|' ? "\\%c" : "%c", *words);
}

static void add_markdown_option(const clm__option *option, clm__text *text)
{
  clm__text part = {0};
  clm__help_add_label(option, &part);
  clm__text_add(text, "| `");
  add_cell(text, clm__text_get(&part));
  clm__text_add(text, "` | ");
  clm__text_fini(&part);
  clm__help_add_default(option, &part);
  add_cell(text, clm__text_get(&part));
  clm__text_add(text, " | ");
  add_cell(text, option->help);
  clm__text_add(text, " |\n");
  clm__text_fini(&part);
}

static void add_markdown_command(const clm__command *command, clm__text *text)
{
  clm__text_add(text, "\n## clematis %s %s\n\n%c%s.\n\n", command->name, command->arguments,
                command->summary[0] - 'a' + 'A', command->summary + 1);
  clm__text_add(text, "| option | default | meaning |\n|---|---|---|\n");
  for (size_t i = 0; i < clm__option_count; i++) {
    const clm__option *option = &clm__options[i];
    if (option->group != CLM__GROUP_OUTPUT && clm__help_takes(command, option))
      add_markdown_option(option, text);
  }
  for (size_t i = 0; i < clm__option_count; i++) {
    const clm__option *option = &clm__options[i];
    if (option->group == CLM__GROUP_OUTPUT && clm__help_takes(command, option))
      add_markdown_option(option, text);
  }
}

void clm__help_markdown(clm__text *text)
{
  clm__text_add(text,
                "# The program\n\n"
                "This page is written by the program itself, from the table of its options: "
                "`clematis help markdown`.\n\n"
                "Options are given as `--name value` or `--name=value`; `--` ends them. A flag is "
                "switched off by `--no-name`. `--config FILE` reads options from a JSON object, "
                "such as the `config.json` of a run, with `_` for `-`; the command line wins.\n");
  for (size_t i = 0; i < CLM__COMMAND_COUNT; i++) add_markdown_command(&clm__commands[i], text);
  clm__text_add(text, "\n## Exit status\n\n| status | meaning |\n|---|---|\n");
  add_exit_statuses(text, MARKDOWN_STATUS);
}
