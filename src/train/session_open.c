#include "train/session.h"

#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/testswitch.h"
#include "sys/clock.h"
#include "train/shared_data.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

clm_train_config clm_train_config_default(void)
{
  return (clm_train_config){.data = clm_data_config_default(),
                            .run = clm_run_config_default(),
                            .image_height = 180,
                            .image_width = 180,
                            .epochs = 10,
                            .seed = 123,
                            .learning_rate = NAN,
                            .momentum = NAN,
                            .weight_decay = NAN,
                            .nesterov = -1,
                            .checkpoint_epochs = 1,
                            .keep_checkpoints = 3,
                            .validate_epochs = 1,
                            .peer_timeout_seconds = 60.0,
                            .setup_timeout_seconds = 600.0};
}

static clm_status check_numbers(const clm_train_config *config)
{
  CLM_TRY(clm__data_source_check(&config->data));
  CLM_REQUIRE(config->epochs >= 1, CLM_USAGE, "the number of epochs is %d; it must be at least 1",
              config->epochs);
  CLM_REQUIRE(config->run.batch_size >= 1, CLM_USAGE, "the batch size is %d; it must be at least 1",
              config->run.batch_size);
  CLM_REQUIRE(config->batch_per_device >= 0, CLM_USAGE,
              "%d images a device were asked for; it must not be negative",
              config->batch_per_device);
  CLM_REQUIRE(config->validate_epochs >= 1, CLM_USAGE,
              "validation every %d epochs was asked for; it must be at least 1",
              config->validate_epochs);
  CLM_REQUIRE(config->checkpoint_steps >= 0, CLM_USAGE,
              "a checkpoint every %d steps was asked for; it must not be negative",
              config->checkpoint_steps);
  CLM_REQUIRE(config->checkpoint_minutes >= 0.0 && config->checkpoint_minutes <= 1e6, CLM_USAGE,
              "a checkpoint every %g minutes was asked for; 0 to 1000000 are possible",
              config->checkpoint_minutes);
  CLM_REQUIRE(config->tensorboard_steps >= 0, CLM_USAGE,
              "TensorBoard's figures every %d steps were asked for; it must not be negative",
              config->tensorboard_steps);
  CLM_REQUIRE(config->keep_checkpoints >= 1, CLM_USAGE,
              "%d checkpoints are to be kept; it must be at least 1", config->keep_checkpoints);
  CLM_REQUIRE(config->early_stopping_patience >= 0, CLM_USAGE,
              "the patience of early stopping is %d; it must not be negative",
              config->early_stopping_patience);
  return clm__choice_check(config->run.variant);
}

/* ---- the ranks ---- */

static clm_status check_timeout(double seconds)
{
  CLM_REQUIRE(seconds >= 0.001 && seconds <= 1e6, CLM_USAGE,
              "the time that a rank may be silent is %g s; 0.001 to 1000000 are possible", seconds);
  return CLM_OK;
}

static clm_status join(clm__session *session)
{
  const clm_train_config *config = session->config;
  CLM_TRY(check_timeout(config->peer_timeout_seconds));
  CLM_TRY(check_timeout(config->setup_timeout_seconds));
  if (config->job == NULL) CLM_TRY(clm_job_open(session->log, &session->own_job));
  session->comm = config->job != NULL ? config->job->comm : session->own_job->comm;
  /* Listing images and building kernels may keep one rank much longer than a step. */
  const double seconds = fmax(config->peer_timeout_seconds, config->setup_timeout_seconds);
  clm__comm_set_timeout(session->comm, (int)(1e3 * seconds));
  return CLM_OK;
}

/* What must be the same on all ranks, or they would lose each other. */
static uint64_t digest_settings(const clm_train_config *config)
{
  const clm_data_config *data = &config->data;
  char text[1024];
  (void)snprintf(text, sizeof text,
                 "%d %d %" PRIu64 " %d %d %d %g %d %g %s %d %d | %g %" PRIu32
                 " %d %d %d %d %d %d %d %d | %d %d | %" PRIu64 " %d %d %d %d %d %d",
                 config->run.batch_size, config->epochs, config->seed, config->validate_epochs,
                 config->checkpoint_epochs, config->checkpoint_steps, config->checkpoint_minutes,
                 config->early_stopping_patience, config->early_stopping_delta,
                 config->monitor != NULL ? config->monitor : "", config->restore_best,
                 config->resume, data->validation_split, data->seed, data->shuffle,
                 data->follow_links, (int)data->split, (int)data->interpolation, (int)data->aspect,
                 data->apply_exif, data->blend_alpha, data->strict, config->image_height,
                 config->image_width,
                 clm__hash_text(CLM__HASH_START, config->shares != NULL ? config->shares : ""),
                 config->batch_per_device, (int)config->wire, config->trace != NULL,
                 config->tensorboard, config->tensorboard_histograms, config->sync_batchnorm);
  return clm__hash_text(CLM__HASH_START, text);
}

static clm_status compare_settings(const clm__session *session)
{
  const int size = clm__comm_get_size(session->comm);
  const uint64_t mine = digest_settings(session->config);
  uint64_t *all = NULL;
  CLM_TRY(clm__comm_agree_last(session->comm, clm__mem_alloc((size_t)size, sizeof *all, &all)));
  clm_status status = clm__comm_gather(session->comm, &mine, sizeof mine, all);
  for (int rank = 1; rank < size && status == CLM_OK; rank++)
    if (all[rank] != all[0])
      status = clm__error_fail(CLM_USAGE, __FILE__, __LINE__, __func__,
                               "rank %d (%s) was started with other settings than rank 0: only "
                               "devices, threads and the cache may differ",
                               rank, clm__comm_get_host(session->comm, rank));
  clm__mem_free(all);
  return status;
}

/* ---- folders and images ---- */

static clm_status open_folder(clm__session *session)
{
  const clm_train_config *config = session->config;
  const bool is_first = clm__session_is_first(session);
  clm_status status = CLM_OK;
  if (is_first)
    status = clm__run_folder_open(&session->folder, config->out_folder, config->resume != 0);
  char *path = session->folder.path;
  size_t size_bytes = path != NULL ? strlen(path) + 1 : 0;
  CLM_TRY(clm__job_share(session->comm, status, &path, &size_bytes));
  if (!is_first) {
    status = clm__run_folder_name(&session->folder, path);
    clm__mem_free(path);
  }
  CLM_TRY(clm__comm_agree_last(session->comm, status));
  (void)snprintf(session->result->out_folder, sizeof session->result->out_folder, "%s",
                 session->folder.path);
  return CLM_OK;
}

static clm_status write_lists(const clm__session *session)
{
  const char *config_text = session->config->config_text;
  CLM_TRY(clm__run_folder_write_lists(&session->folder, session->dataset, session->all_count));
  if (config_text == NULL) return CLM_OK;
  return clm__run_folder_write_text(&session->folder, "config.json", config_text);
}

static clm_status tell_data(const clm__session *session)
{
  clm_data_report *report = NULL;
  CLM_TRY(clm__data_source_report(session->dataset, session->all_count, &report));
  const clm_status status = clm__callbacks_data(&session->callbacks, report);
  clm_data_report_free(report);
  return status;
}

static clm_status use_data(const clm__session *session)
{
  const clm_data_config *data = &session->config->data;
  CLM_REQUIRE(session->dataset->train_count > 0, CLM_BAD_DATA,
              "no image is left for training in %s (validation split %g)", data->folder,
              data->validation_split);
  if (clm__session_is_first(session)) CLM_TRY(write_lists(session));
  return tell_data(session);
}

static clm_status tell_variants(const clm__session *session)
{
  char *text = NULL;
  CLM_TRY(clm__team_describe(session->team, &text));
  for (char *line = text, *end = NULL; (end = strchr(line, '\n')) != NULL; line = end + 1) {
    *end = '\0';
    clm__log(session->log, CLM_LOG_DETAIL, "%s", line);
  }
  clm__mem_free(text);
  return CLM_OK;
}

static clm_status tell_begin(const clm__session *session)
{
  const clm__dataset *dataset = session->dataset;
  char device_text[1024];
  clm__session_name_devices(session, device_text, sizeof device_text);
  const clm__weights *weights = session->model.weights;
  const clm__loader_stats loader = clm__loader_get_stats(session->loader);
  const clm_run_info run = {.out_folder = session->folder.path,
                            .device_text = device_text,
                            .train_images = dataset->train_count,
                            .validation_images = dataset->count - dataset->train_count,
                            .steps_per_epoch = clm__order_steps(&session->order),
                            .epochs = session->config->epochs,
                            .first_epoch = session->state.epoch,
                            .first_step = (size_t)session->state.step,
                            .images_seen = session->state.images_seen,
                            .parameters = clm__weights_count_params(weights, true) +
                                          clm__weights_count_params(weights, false),
                            .learning_rate = (double)session->model.optim_state->learning_rate,
                            .device_bytes = clm__team_device_bytes(session->team),
                            .cache_bound_bytes = loader.cache_bound_bytes,
                            .cache_file_bytes = loader.cache_file_bytes};
  return clm__callbacks_begin(&session->callbacks, &run);
}

static clm_status begin(clm__session *session)
{
  const clm_train_config *config = session->config;
  CLM_TRY(clm__callbacks_init(&session->callbacks, config->callbacks, config->callback_count));
  clm__session_add_callbacks(session);
  return check_numbers(config);
}

static clm_status begin_order(clm__session *session)
{
  const clm_train_config *config = session->config;
  const bool validates = session->dataset->count > session->dataset->train_count;
  session->monitor.delta = config->early_stopping_delta;
  session->monitor.patience = config->early_stopping_patience;
  CLM_TRY(clm__monitor_parse(config->monitor, validates, &session->monitor.figure));
  session->order = (clm__order_config){.dataset = session->dataset,
                                       .batch_size = (size_t)session->batch_size,
                                       .seed = config->seed,
                                       .shuffle = config->data.shuffle != 0};
  return use_data(session);
}

static clm_status tell_all(const clm__session *session)
{
  CLM_TRY(tell_variants(session));
  return tell_begin(session);
}

static clm_status open_all(clm__session *session)
{
  const clm_train_config *config = session->config;
  CLM_TRY(join(session));
  clm__comm *comm = session->comm;
  CLM_TRY(clm__comm_agree_last(comm, begin(session)));
  CLM_TRY(compare_settings(session));
  CLM_TRY(open_folder(session));
  if (config->helper_process && !config->resume && clm__comm_get_size(comm) == 1)
    clm__helper_start(config, &session->helper);
  CLM_TRY(clm__tracing_begin(&session->tracing, comm, config->trace, config->trace_steps));
  CLM_TRY(clm__session_open_devices(session));
  CLM_TRY(clm__shared_data_open(&config->data, comm, session->log, &session->dataset,
                                &session->all_count));
  CLM_TRY(clm__comm_agree_last(comm, begin_order(session)));
  CLM_TRY(clm__session_open_model(session));
  CLM_TRY(clm__session_open_team(session));
  CLM_TRY(clm__comm_agree_last(comm, clm__session_begin_saving(session)));
  CLM_TRY(clm__comm_agree_last(comm, tell_all(session)));
  return CLM_OK;
}

clm_status clm__session_open(clm__session *session, const clm_train_config *config,
                             clm_train_result *result)
{
  *session = (clm__session){.config = config,
                            .log = config->run.log,
                            .begin_seconds = clm__clock_seconds(),
                            .spoiled_step = clm__testswitch_number("CLEMATIS_TEST_NAN_STEP", 0),
                            .unloaded_step = clm__testswitch_number("CLEMATIS_TEST_FAIL_LOAD", 0),
                            .result = result};
  return open_all(session);
}

void clm__session_close(clm__session *session)
{
  clm__session_end_saving(session);
  clm__loader_destroy(session->loader);
  clm__team_destroy(session->team);
  clm__session_close_devices(session);
  clm__helper_end(session->helper);
  clm__model_file_fini(&session->model);
  clm__run_state_fini(&session->state);
  clm__dataset_close(session->dataset);
  clm__run_folder_fini(&session->folder);
  clm__tracing_fini(&session->tracing);
  clm_job_close(session->own_job);
}
