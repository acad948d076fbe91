/* Running a command from its words. */
#ifndef CLM_CLI_RUN_H
#define CLM_CLI_RUN_H

#include "cli/opts.h"

/* Parses the words behind a command's name and runs it, or shows its help. Errors are said. */
clm_status clm__run_words(const clm__command *command, int count, const char *const *words);

#endif
