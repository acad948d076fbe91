#include "cli/help.h"

#include "cli/help_parts.h"

#include <string.h>

#define LINE_WIDTH 80
#define HELP_COLUMN 28

/* Adds words from a column on, in lines of LINE_WIDTH; `at` is the column reached so far. */
static void add_wrapped(clm__text *text, const char *words, int at, int column)
{
  while (*words != '\0') {
    const int length = (int)strcspn(words, " ");
    if (at < column) {
      clm__text_add(text, "%*s", column - at, "");
      at = column;
    } else if (at > column && at + 1 + length > LINE_WIDTH) {
      clm__text_add(text, "\n%*s", column, "");
      at = column;
    } else if (at > column) {
      clm__text_add(text, " ");
      at++;
    }
    clm__text_add(text, "%.*s", length, words);
    at += length;
    words += length + (words[length] == ' ');
  }
  clm__text_add(text, "\n");
}

static void add_option(const clm__option *option, clm__text *text)
{
  clm__text label = {0};
  clm__help_add_label(option, &label);
  clm__text_add(text, "  %s", clm__text_get(&label));
  int at = 2 + (int)label.length;
  if (at + 1 >= HELP_COLUMN) {
    clm__text_add(text, "\n");
    at = 0;
  }
  clm__text words = {0};
  clm__text value = {0};
  clm__help_add_default(option, &value);
  clm__text_add(&words, "%s", option->help);
  if (value.length > 0) clm__text_add(&words, " (default: %s)", clm__text_get(&value));
  add_wrapped(text, clm__text_get(&words), at, HELP_COLUMN);
  clm__text_fini(&label);
  clm__text_fini(&words);
  clm__text_fini(&value);
}

void clm__help_overview(clm__text *text)
{
  clm__text_add(text, "Clematis trains image classifiers on folders of photographs, on every "
                      "OpenCL\ndevice.\n\nusage: clematis COMMAND [ARGUMENT...] [OPTION...]\n\n");
  for (size_t i = 0; i < CLM__COMMAND_COUNT; i++) {
    const clm__command *command = &clm__commands[i];
    clm__text_add(text, "  %-9s %-15s %s\n", command->name, command->arguments, command->summary);
  }
  clm__text_add(text, "\nTo begin:\n"
                      "  clematis sample flowers\n"
                      "  clematis train flowers --out run\n"
                      "  clematis predict run/model.keras flowers/daisy/daisy-001.png\n\n"
                      "`clematis COMMAND --help` lists a command's options.\n");
}

static void add_details(const clm__command *command, clm__text *text)
{
  const char *details = "";
  if (strcmp(command->name, "train") == 0)
    details = "DATA holds one folder a class, with JPEG and PNG files in it. Without options\n"
              "the result is that of Keras' flowers tutorial: 180x180 images, 20 % of them for\n"
              "validation, a network of three convolutions, adam, 10 epochs. The run folder\n"
              "then holds model.keras (last epoch), best.keras, history.csv, history.json,\n"
              "checkpoints and lists of the files. Ctrl-C ends the run after the step with a\n"
              "checkpoint; `clematis train --resume --out DIR` goes on.\n\n";
  else if (strcmp(command->name, "evaluate") == 0)
    details = "MODEL is a .keras file; DATA holds one folder a class. Give the options of the\n"
              "training where they were not the defaults, as --interpolation.\n\n";
  else if (strcmp(command->name, "sample") == 0)
    details = "Draws five kinds of flowers, in a folder each, into DIR.\n\n";
  clm__text_add(text, "%s", details);
}

void clm__help_command(const clm__command *command, clm__text *text)
{
  clm__text_add(text, "usage: clematis %s%s%s [OPTION...]\n\n%c%s.\n\n", command->name,
                command->arguments[0] != '\0' ? " " : "", command->arguments,
                command->summary[0] - 'a' + 'A', command->summary + 1);
  add_details(command, text);
  for (int group = 0; group < CLM__GROUP_COUNT; group++) {
    bool has_title = false;
    for (size_t i = 0; i < clm__option_count; i++) {
      const clm__option *option = &clm__options[i];
      if ((int)option->group != group || !clm__help_takes(command, option)) continue;
      if (!has_title)
        clm__text_add(text, "%s:\n", clm__option_group_title((clm__option_group)group));
      has_title = true;
      add_option(option, text);
    }
    if (has_title && group + 1 < CLM__GROUP_COUNT) clm__text_add(text, "\n");
  }
}
