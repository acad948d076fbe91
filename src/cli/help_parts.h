/* What the texts of help.h have in common. */
#ifndef CLM_CLI_HELP_PARTS_H
#define CLM_CLI_HELP_PARTS_H

#include "cli/opts.h"

/* Whether a command takes an option. */
bool clm__help_takes(const clm__command *command, const clm__option *option);

/* Adds an option as it is typed: "--epochs N", "--[no-]shuffle". */
void clm__help_add_label(const clm__option *option, clm__text *text);

/* Adds what happens without the option: "10", "the optimizer's"; nothing for a flag that is off. */
void clm__help_add_default(const clm__option *option, clm__text *text);

#endif
