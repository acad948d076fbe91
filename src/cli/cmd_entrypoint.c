#include "cli/commands.h"
#include "cli/launch_options.h"
#include "cli/run.h"
#include "cli/say.h"

#include <string.h>

/* A rank is the training itself. */
static clm_status train(const clm__cli_config *config)
{
  const int skipped = config->argument_count > 0 && strcmp(config->arguments[0], "train") == 0;
  return clm__run_words(clm__command_find("train"), config->argument_count - skipped,
                        config->arguments + skipped);
}

/* Devices that a rank each is for: all but CPUs. */
static int count_devices(void)
{
  clm_device_description *devices = NULL;
  size_t count = 0;
  int found = 0;
  if (clm_devices_list(NULL, &devices, &count) != CLM_OK) return 0;
  for (size_t i = 0; i < count; i++)
    found += devices[i].is_default && strcmp(devices[i].kind, "CPU") != 0;
  clm_devices_free(devices);
  return found;
}

clm_status clm__cmd_entrypoint(clm__cli_config *config)
{
  char path[CLM__PATH_SIZE];
  const char *reason = "";
  int exit_code = 0;
  const clm_role role = clm_role_find(&reason);
  if (role == CLM_ROLE_RANK) return train(config);
  clm__launch_settle(config, 1, path);
  config->launch.arguments =
      (clm_texts){.items = config->arguments, .count = config->argument_count};
  if (config->launch.ranks_per_replica == 0) config->launch.local_devices = count_devices();
  const clm_status status = clm_entrypoint_run(role, &config->launch, clm__say_log(), &exit_code);
  return status == CLM_OK ? clm__launch_finish(exit_code) : clm__say_library_error(status);
}
