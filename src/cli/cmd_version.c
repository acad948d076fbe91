#include "cli/commands.h"
#include "cli/say.h"

clm_status clm__cmd_version(clm__cli_config *config)
{
  (void)config;
  clm__say("clematis %s\n%s", clm_version(), clm_version_details());
  return CLM_OK;
}
