/* What launch, entrypoint and doctor have in common. */
#ifndef CLM_CLI_LAUNCH_OPTIONS_H
#define CLM_CLI_LAUNCH_OPTIONS_H

#include "cli/config.h"

#define CLM__PATH_SIZE 4096

/* Completes config->launch: lists of words, the style of progress, and where no other is named, the
 * program: this one where `runs_here`, else the clematis of the image. `path` holds its name. */
void clm__launch_settle(clm__cli_config *config, int runs_here, char path[CLM__PATH_SIZE]);

/* Ends with the exit status of the job: returns the status that has this exit status, and ends the
 * program where there is none. */
clm_status clm__launch_finish(int exit_code);

#endif
