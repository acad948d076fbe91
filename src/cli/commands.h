/* What the commands do: cmd_*.c. Each says its own errors and returns their status. */
#ifndef CLM_CLI_COMMANDS_H
#define CLM_CLI_COMMANDS_H

#include "cli/config.h"

#define COMMAND(name, mask, arguments, least, most, summary)                                       \
  clm_status clm__cmd_##name(clm__cli_config *config);
#include "cli/commands.def"
#undef COMMAND

#endif
