#include "train/device_choice.h"

#include "base/log.h"
#include "base/mem.h"
#include "clematis/device.h"
#include "dev/measure.h"

#include <string.h>

clm_run_config clm_run_config_default(void) { return (clm_run_config){.batch_size = 32}; }

static clm_status open_chosen(const clm_run_config *config, const clm__device_info *infos,
                              size_t count, clm__device **device)
{
  clm__device_choice *chosen = NULL;
  size_t chosen_count = 0;
  CLM_TRY(clm__device_select(infos, count, config->devices, &chosen, &chosen_count));
  if (chosen_count > 1)
    clm__log(config->log, CLM_LOG_WARNING,
             "%zu devices were chosen; this version trains on one: %s", chosen_count,
             infos[chosen[0].index].id);
  const clm__device_options options = {.no_cache = config->no_kernel_cache != 0,
                                       .log = config->log};
  const clm_status status = clm__device_open(&infos[chosen[0].index], &chosen[0], &options, device);
  clm__mem_free(chosen);
  return status;
}

clm_status clm__device_choice_open(const clm_run_config *config, clm__device **device,
                                   clm__tune **tune)
{
  clm__tune *opened_tune = NULL;
  CLM_TRY(clm__tune_open(config->tuning, &opened_tune));
  clm__device_info *infos = NULL;
  size_t count = 0;
  clm_status status = clm__device_list(config->log, &infos, &count);
  if (status == CLM_OK) status = open_chosen(config, infos, count, device);
  clm__mem_free(infos);
  if (status != CLM_OK) {
    clm__tune_close(opened_tune);
    return status;
  }
  *tune = opened_tune;
  return CLM_OK;
}

static clm_status visit_chosen(const clm_run_config *config, const clm__device_info *infos,
                               const clm__device_choice *choice,
                               clm_status (*visit)(void *user, clm__device *device), void *user)
{
  const clm__device_options options = {.no_cache = config->no_kernel_cache != 0,
                                       .log = config->log};
  clm__device *device = NULL;
  CLM_TRY(clm__device_open(&infos[choice->index], choice, &options, &device));
  const clm_status status = visit(user, device);
  clm__device_close(device);
  return status;
}

clm_status clm__device_choice_each(const clm_run_config *config,
                                   clm_status (*visit)(void *user, clm__device *device), void *user)
{
  clm__device_info *infos = NULL;
  size_t count = 0;
  CLM_TRY(clm__device_list(config->log, &infos, &count));
  clm__device_choice *chosen = NULL;
  size_t chosen_count = 0;
  clm_status status = clm__device_select(infos, count, config->devices, &chosen, &chosen_count);
  for (size_t i = 0; status == CLM_OK && i < chosen_count; i++)
    status = visit_chosen(config, infos, &chosen[i], visit, user);
  clm__mem_free(chosen);
  clm__mem_free(infos);
  return status;
}

/* ---- the public list ---- */

static const char *kind_name(clm__device_kind kind)
{
  if (kind == CLM__DEVICE_GPU) return "GPU";
  return kind == CLM__DEVICE_CPU ? "CPU" : "accelerator";
}

static void describe(const clm__device_info *info, clm_device_description *device)
{
  *device = (clm_device_description){.kind = kind_name(info->kind),
                                     .is_emulator = info->is_emulator,
                                     .is_duplicate = info->is_duplicate,
                                     .compute_units = info->compute_units,
                                     .clock_mhz = info->clock_mhz,
                                     .memory_bytes = info->memory_bytes,
                                     .buffer_max_bytes = info->buffer_max_bytes,
                                     .local_bytes = info->local_bytes,
                                     .group_max = info->group_max};
  memcpy(device->id, info->id, sizeof device->id);
  memcpy(device->name, info->name, sizeof device->name);
  memcpy(device->vendor, info->vendor, sizeof device->vendor);
  memcpy(device->platform, info->platform, sizeof device->platform);
  memcpy(device->platform_version, info->platform_version, sizeof device->platform_version);
  memcpy(device->driver_version, info->driver_version, sizeof device->driver_version);
}

static void mark_defaults(const clm__device_info *infos, size_t count,
                          clm_device_description *devices)
{
  clm__device_choice *chosen = NULL;
  size_t chosen_count = 0;
  /* Where only emulators are there, nothing is chosen by default, and the list still is one. */
  if (clm__device_select(infos, count, NULL, &chosen, &chosen_count) == CLM_OK)
    for (size_t i = 0; i < chosen_count; i++) devices[chosen[i].index].is_default = 1;
  clm__mem_free(chosen);
}

clm_status clm_devices_list(const clm_log *log, clm_device_description **devices, size_t *count)
{
  clm__device_info *infos = NULL;
  size_t info_count = 0;
  CLM_TRY(clm__device_list(log, &infos, &info_count));
  clm_device_description *list = NULL;
  clm_status status = clm__mem_alloc(info_count, sizeof *list, &list);
  if (status == CLM_OK) {
    for (size_t i = 0; i < info_count; i++) describe(&infos[i], &list[i]);
    mark_defaults(infos, info_count, list);
  }
  clm__mem_free(infos);
  CLM_TRY(status);
  *devices = list;
  *count = info_count;
  return CLM_OK;
}

void clm_devices_free(clm_device_description *devices) { clm__mem_free(devices); }

clm_status clm_device_measure(const char *id, const clm_log *log, clm_device_speed *speed)
{
  clm_run_config config = clm_run_config_default();
  config.devices = id;
  config.log = log;
  clm__device *device = NULL;
  clm__tune *tune = NULL;
  CLM_TRY(clm__device_choice_open(&config, &device, &tune));
  clm__tune_close(tune);
  clm__measured measured;
  const clm_status status = clm__measure(device, &measured);
  clm__device_close(device);
  CLM_TRY(status);
  *speed = (clm_device_speed){.gflops = measured.gflops, .gbytes = measured.gbytes};
  return CLM_OK;
}
