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
             "%zu devices were chosen; only training uses more than one: this runs on %s",
             chosen_count, infos[chosen[0].index].id);
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

/* ---- the devices of a rank ---- */

/* What a rank sees of its host. */
typedef struct host_view {
  const clm_run_config *config;
  const clm__device_info *infos;
  const clm__device_choice *chosen;
  size_t chosen_count;
  const char *host;
  size_t rank; /* among those of the host */
  size_t size;
  clm__trace *trace;
} host_view;

/* Fewer devices than ranks: a CPU is split, or shared where it has too few units. */
static clm_status share_device(const host_view *view, clm__device_choice *choice)
{
  const clm__device_choice *shared = &view->chosen[view->rank % view->chosen_count];
  const clm__device_info *info = &view->infos[shared->index];
  CLM_REQUIRE(info->kind == CLM__DEVICE_CPU, CLM_USAGE,
              "%zu ranks run on %s, which has %zu of the chosen devices: ranks do not share %s "
              "(%s); start one rank a device",
              view->size, view->host, view->chosen_count, info->id, info->name);
  *choice = *shared;
  if (view->chosen_count == 1 && shared->part_count == 1 &&
      (size_t)info->compute_units >= view->size) {
    choice->part = (int)view->rank;
    choice->part_count = (int)view->size;
    clm__log(view->config->log, CLM_LOG_DETAIL, "%zu ranks split %s on %s", view->size, info->id,
             view->host);
    return CLM_OK;
  }
  clm__log(view->config->log, CLM_LOG_DETAIL, "%zu ranks share %s on %s", view->size, info->id,
           view->host);
  return CLM_OK;
}

static clm_status open_own(const host_view *view, clm__device **devices, int *opened)
{
  const clm__device_options options = {.no_cache = view->config->no_kernel_cache != 0,
                                       .log = view->config->log,
                                       .trace = view->trace};
  const size_t first = view->chosen_count * view->rank / view->size;
  const size_t behind = view->chosen_count * (view->rank + 1) / view->size;
  if (view->chosen_count < view->size) {
    clm__device_choice choice;
    CLM_TRY(share_device(view, &choice));
    CLM_TRY(clm__device_open(&view->infos[choice.index], &choice, &options, &devices[0]));
    *opened = 1;
    return CLM_OK;
  }
  for (size_t i = first; i < behind; i++) {
    CLM_TRY(clm__device_open(&view->infos[view->chosen[i].index], &view->chosen[i], &options,
                             &devices[*opened]));
    ++*opened;
  }
  return CLM_OK;
}

static clm_status open_view(host_view *view, clm__device ***devices, int *device_count)
{
  clm__device **made = NULL;
  int opened = 0;
  CLM_TRY(clm__mem_alloc(view->chosen_count, sizeof(clm__device *), &made));
  const clm_status status = open_own(view, made, &opened);
  if (status != CLM_OK) {
    clm__device_choice_close_all(made, opened);
    return status;
  }
  *devices = made;
  *device_count = opened;
  return CLM_OK;
}

static clm_status select_own(const clm__device_wish *wish, clm__device ***devices,
                             int *device_count)
{
  const clm_run_config *config = wish->config;
  const clm__comm *comm = wish->comm;
  clm__device_info *infos = NULL;
  clm__device_choice *chosen = NULL;
  host_view view = {.config = config,
                    .host = clm__comm_get_host(comm, clm__comm_get_rank(comm)),
                    .rank = (size_t)clm__comm_get_local_rank(comm),
                    .size = (size_t)clm__comm_get_local_size(comm),
                    .trace = wish->trace};
  size_t count = 0;
  CLM_TRY(clm__device_list(config->log, &infos, &count));
  clm_status status =
      clm__device_select(infos, count, config->devices, &chosen, &view.chosen_count);
  view.infos = infos;
  view.chosen = chosen;
  if (status == CLM_OK) status = open_view(&view, devices, device_count);
  clm__mem_free(chosen);
  clm__mem_free(infos);
  return status;
}

clm_status clm__device_choice_open_all(const clm__device_wish *wish, clm__device ***devices,
                                       int *device_count, clm__tune **tune)
{
  clm__tune *opened_tune = NULL;
  CLM_TRY(clm__tune_open(wish->config->tuning, &opened_tune));
  const clm_status status = select_own(wish, devices, device_count);
  if (status != CLM_OK) {
    clm__tune_close(opened_tune);
    return status;
  }
  *tune = opened_tune;
  return CLM_OK;
}

void clm__device_choice_close_all(clm__device **devices, int device_count)
{
  for (int i = 0; i < device_count; i++) clm__device_close(devices[i]);
  clm__mem_free(devices);
}

/* ---- one device after the other ---- */

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
