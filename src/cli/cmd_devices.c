#include "cli/commands.h"
#include "cli/format.h"
#include "cli/say.h"
#include "cli/text.h"

#include <inttypes.h>
#include <string.h>

static void say_words(const clm_device_description *device, const clm_device_speed *speed)
{
  char memory[CLM__FORMAT_SIZE];
  char buffer[CLM__FORMAT_SIZE];
  char local[CLM__FORMAT_SIZE];
  clm__say("%s%s  %s (%s)%s%s", device->is_default ? "*" : " ", device->id, device->name,
           device->kind, device->is_emulator ? ", an emulator" : "",
           device->is_duplicate ? ", listed before under another platform" : "");
  /* Some drivers go on with everything they were built with. */
  const char *more = strstr(device->platform_version, "  ");
  const int length = more != NULL ? (int)(more - device->platform_version) : 127;
  clm__say("       %s; driver %s; %.*s", device->platform, device->driver_version, length,
           device->platform_version);
  clm__say("       %d compute units, %d MHz, %s of memory, buffers up to %s, %s local",
           device->compute_units, device->clock_mhz,
           clm__format_bytes(device->memory_bytes, memory),
           clm__format_bytes(device->buffer_max_bytes, buffer),
           clm__format_bytes(device->local_bytes, local));
  if (speed != NULL)
    clm__say("       measured: %.1f GFLOP/s, %.1f GB/s", speed->gflops, speed->gbytes);
}

/* Adds `, "key": "value"`. */
static clm_status add_text(clm__text *json, const char *key, const char *value)
{
  char *quoted = NULL;
  const clm_status status = clm_config_quote(value, &quoted);
  if (status != CLM_OK) return clm__say_library_error(status);
  clm__text_add(json, ", \"%s\": %s", key, quoted);
  clm_text_free(quoted);
  return CLM_OK;
}

static clm_status add_json(const clm_device_description *device, const clm_device_speed *speed,
                           clm__text *json)
{
  const struct {
    const char *key;
    const char *value;
  } texts[] = {
      {"name", device->name},
      {"kind", device->kind},
      {"vendor", device->vendor},
      {"platform", device->platform},
      {"platform_version", device->platform_version},
      {"driver_version", device->driver_version},
  };
  clm__text_add(json, "  {\"id\": \"%s\"", device->id);
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    const clm_status status = add_text(json, texts[i].key, texts[i].value);
    if (status != CLM_OK) return status;
  }
  clm__text_add(json, ", \"default\": %s, \"emulator\": %s, \"duplicate\": %s",
                device->is_default ? "true" : "false", device->is_emulator ? "true" : "false",
                device->is_duplicate ? "true" : "false");
  clm__text_add(json,
                ", \"compute_units\": %d, \"clock_mhz\": %d, \"memory_bytes\": %" PRIu64
                ", \"buffer_max_bytes\": %" PRIu64 ", \"local_bytes\": %" PRIu64
                ", \"group_max\": %zu",
                device->compute_units, device->clock_mhz, device->memory_bytes,
                device->buffer_max_bytes, device->local_bytes, device->group_max);
  if (speed != NULL)
    clm__text_add(json, ", \"gflops\": %.2f, \"gbytes\": %.2f", speed->gflops, speed->gbytes);
  clm__text_add(json, "}");
  return CLM_OK;
}

static clm_status say_device(const clm__cli_config *config, const clm_device_description *device,
                             clm__text *json)
{
  clm_device_speed speed = {0};
  if (config->measure) {
    const clm_status status = clm_device_measure(device->id, clm__say_log(), &speed);
    if (status != CLM_OK) return clm__say_library_error(status);
  }
  const clm_device_speed *measured = config->measure ? &speed : NULL;
  if (config->json) return add_json(device, measured, json);
  say_words(device, measured);
  return CLM_OK;
}

clm_status clm__cmd_devices(clm__cli_config *config)
{
  clm_device_description *devices = NULL;
  size_t count = 0;
  clm_status status = clm_devices_list(clm__say_log(), &devices, &count);
  if (status != CLM_OK) return clm__say_library_error(status);
  clm__text json = {0};
  clm__text_add(&json, "[\n");
  for (size_t i = 0; status == CLM_OK && i < count; i++) {
    status = say_device(config, &devices[i], &json);
    clm__text_add(&json, i + 1 < count ? ",\n" : "\n");
  }
  if (status == CLM_OK && config->json)
    clm__say("%s]", clm__text_get(&json));
  else if (status == CLM_OK)
    clm__say_info("* is used where --devices names none");
  clm__text_fini(&json);
  clm_devices_free(devices);
  return status;
}
