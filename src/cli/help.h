/* Texts made of the tables: --help, the manual page, docs/cli.md. */
#ifndef CLM_CLI_HELP_H
#define CLM_CLI_HELP_H

#include "cli/opts.h"

/* Adds the overview of all commands. */
void clm__help_overview(clm__text *text);

/* Adds a command's usage and options. */
void clm__help_command(const clm__command *command, clm__text *text);

/* Adds the manual page, in roff. */
void clm__help_manual(clm__text *text);

/* Adds docs/cli.md. */
void clm__help_markdown(clm__text *text);

#endif
