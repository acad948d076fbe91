#include "cli/commands.h"
#include "cli/say.h"

clm_status clm__cmd_sample(clm__cli_config *config)
{
  const char *folder = config->arguments[0];
  const clm_status status = clm_sample_draw(folder, config->images_per_class, config->sample_seed);
  if (status != CLM_OK) return clm__say_library_error(status);
  clm__say_info("Drew 5 kinds of flowers, %d pictures each, in %s", config->images_per_class,
                folder);
  return CLM_OK;
}
