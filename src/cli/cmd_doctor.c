#include "cli/commands.h"
#include "cli/launch_options.h"
#include "cli/say.h"

static void say_check(void *user, const clm_check *check)
{
  static const char *const marks[] = {"good", "note", "BAD "};
  (void)user;
  clm__say("%s  %s: %s", marks[check->result], check->subject, check->found);
  if (check->mend[0] != '\0') clm__say("      %s", check->mend);
}

/* What OpenCL itself says, behind the files it is made of. */
static int say_devices(void)
{
  clm_device_description *devices = NULL;
  size_t count = 0;
  if (clm_devices_list(NULL, &devices, &count) != CLM_OK) {
    clm__say("BAD   OpenCL devices: %s", clm_error_last()->message);
    return 1;
  }
  for (size_t i = 0; i < count; i++)
    clm__say("good  device %s: %s (%s), %s", devices[i].id, devices[i].name, devices[i].kind,
             devices[i].platform);
  clm_devices_free(devices);
  return 0;
}

clm_status clm__cmd_doctor(clm__cli_config *config)
{
  char path[CLM__PATH_SIZE];
  int bad = 0;
  clm__launch_settle(config, 1, path);
  const clm_status status = clm_doctor_run(&config->launch, say_check, NULL, &bad);
  if (status != CLM_OK) return clm__say_library_error(status);
  bad += say_devices();
  if (bad == 0) return CLM_OK;
  return clm__say_error(CLM_NO_DEVICE, "%d of these must be mended before a job runs here", bad);
}
