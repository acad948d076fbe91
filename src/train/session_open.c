#include "train/session.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/testswitch.h"
#include "sys/clock.h"
#include "sys/thread.h"
#include "train/device_choice.h"
#include "train/session_model.h"

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
                            .validate_epochs = 1};
}

static clm_status check_numbers(const clm_train_config *config)
{
  CLM_TRY(clm__data_source_check(&config->data));
  CLM_REQUIRE(config->epochs >= 1, CLM_USAGE, "the number of epochs is %d; it must be at least 1",
              config->epochs);
  CLM_REQUIRE(config->run.batch_size >= 1, CLM_USAGE, "the batch size is %d; it must be at least 1",
              config->run.batch_size);
  CLM_REQUIRE(config->validate_epochs >= 1, CLM_USAGE,
              "validation every %d epochs was asked for; it must be at least 1",
              config->validate_epochs);
  CLM_REQUIRE(config->keep_checkpoints >= 1, CLM_USAGE,
              "%d checkpoints are to be kept; it must be at least 1", config->keep_checkpoints);
  CLM_REQUIRE(config->early_stopping_patience >= 0, CLM_USAGE,
              "the patience of early stopping is %d; it must not be negative",
              config->early_stopping_patience);
  return clm__choice_check(config->run.variant);
}

static clm_status open_data(clm__session *session)
{
  const clm_train_config *config = session->config;
  CLM_TRY(clm__data_source_open(&config->data, session->log, NULL, &session->dataset,
                                &session->all_count));
  CLM_REQUIRE(session->dataset->train_count > 0, CLM_BAD_DATA,
              "no image is left for training in %s (validation split %g)", config->data.folder,
              config->data.validation_split);
  CLM_TRY(clm__run_folder_write_lists(&session->folder, session->dataset, session->all_count));
  if (config->config_text != NULL)
    CLM_TRY(clm__run_folder_write_text(&session->folder, "config.json", config->config_text));
  clm_data_report *report = NULL;
  CLM_TRY(clm__data_source_report(session->dataset, session->all_count, &report));
  const clm_status status = clm__callbacks_data(&session->callbacks, report);
  clm_data_report_free(report);
  return status;
}

/* ---- model and state ---- */

static clm_status check_resumed(const clm__session *session)
{
  const clm__run_state *state = &session->state;
  const clm_train_config *config = session->config;
  CLM_REQUIRE(state->data_digest == clm__dataset_digest(session->dataset), CLM_BAD_DATA,
              "cannot resume: the images in %s, or their split, are not those the run began with",
              config->data.folder);
  CLM_REQUIRE(state->batch_size == config->run.batch_size, CLM_USAGE,
              "cannot resume: the run began with batch size %d, now %d was asked for",
              state->batch_size, config->run.batch_size);
  CLM_REQUIRE(state->seed == config->seed, CLM_USAGE,
              "cannot resume: the run began with seed %llu, now %llu was asked for",
              (unsigned long long)state->seed, (unsigned long long)config->seed);
  return CLM_OK;
}

static clm_status begin_state(clm__session *session)
{
  clm__run_state *state = &session->state;
  state->seed = session->config->seed;
  state->batch_size = session->config->run.batch_size;
  state->data_digest = clm__dataset_digest(session->dataset);
  state->best_epoch = -1;
  return clm__run_state_set_classes(state, (const char *const *)session->dataset->class_names,
                                    session->dataset->class_count);
}

static clm_status open_model(clm__session *session)
{
  const clm_train_config *config = session->config;
  const int class_count = session->dataset->class_count;
  if (config->resume) {
    CLM_TRY(clm__checkpoint_load(&session->folder, session->log, &session->model, &session->state));
    CLM_TRY(check_resumed(session));
    CLM_TRY(clm__session_compile(config, &session->model));
  } else {
    CLM_TRY(clm__session_make_model(config, class_count, &session->model));
    CLM_TRY(begin_state(session));
  }
  return clm__session_check_classes(session->model.graph, class_count, session->log);
}

/* ---- device ---- */

static clm_status open_team(clm__session *session)
{
  const clm_train_config *config = session->config;
  const size_t largest_batch =
      clm__min_size((size_t)config->run.batch_size,
                    clm__max_size(session->dataset->train_count,
                                  session->dataset->count - session->dataset->train_count));
  const clm__replica_config replica = {.graph = session->model.graph,
                                       .weights = session->model.weights,
                                       .loss = session->model.compile.loss,
                                       .loss_attributes = session->model.compile.loss_attributes,
                                       .optim_state = session->model.optim_state,
                                       .seed = config->seed,
                                       .tune = session->tune,
                                       .variant = config->run.variant,
                                       .threads = clm__thread_processors(),
                                       .log = session->log};
  const clm__team_config team = {.devices = &session->device,
                                 .device_count = 1,
                                 .comm = session->comm,
                                 .replica = replica,
                                 .batch_size = config->run.batch_size,
                                 .largest_batch = largest_batch};
  CLM_TRY(clm__team_create(&team, &session->team));
  CLM_TRY(clm__team_write_weights(session->team, session->model.weights->values));
  CLM_TRY(clm__team_write_slots(session->team, session->model.optim_state));
  return clm__data_source_loader(&config->data, session->dataset,
                                 &session->model.graph->input_shape, (int)largest_batch,
                                 session->log, &session->loader);
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
  const clm__device_info *info = &session->device->info;
  const clm__dataset *dataset = session->dataset;
  char device_text[512];
  (void)snprintf(device_text, sizeof device_text, "%s: %s, %s", info->id, info->name,
                 info->platform);
  const clm__weights *weights = session->model.weights;
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
                            .cache_bound_bytes =
                                clm__loader_get_stats(session->loader).cache_bound_bytes};
  return clm__callbacks_begin(&session->callbacks, &run);
}

static clm_status open_all(clm__session *session)
{
  const clm_train_config *config = session->config;
  CLM_TRY(clm__callbacks_init(&session->callbacks, config->callbacks, config->callback_count));
  clm__session_add_callbacks(session);
  CLM_TRY(check_numbers(config));
  CLM_TRY(clm__comm_open_alone(session->log, &session->comm));
  CLM_TRY(clm__run_folder_open(&session->folder, config->out_folder, config->resume != 0));
  (void)snprintf(session->result->out_folder, sizeof session->result->out_folder, "%s",
                 session->folder.path);
  CLM_TRY(clm__device_choice_open(&config->run, &session->device, &session->tune));
  CLM_TRY(open_data(session));
  const bool validates = session->dataset->count > session->dataset->train_count;
  session->monitor.delta = config->early_stopping_delta;
  session->monitor.patience = config->early_stopping_patience;
  CLM_TRY(clm__monitor_parse(config->monitor, validates, &session->monitor.figure));
  session->order = (clm__order_config){.dataset = session->dataset,
                                       .batch_size = (size_t)config->run.batch_size,
                                       .seed = config->seed,
                                       .shuffle = config->data.shuffle != 0};
  CLM_TRY(open_model(session));
  CLM_TRY(open_team(session));
  CLM_TRY(tell_variants(session));
  return tell_begin(session);
}

clm_status clm__session_open(clm__session *session, const clm_train_config *config,
                             clm_train_result *result)
{
  *session = (clm__session){.config = config,
                            .log = config->run.log,
                            .begin_seconds = clm__clock_seconds(),
                            .spoiled_step = clm__testswitch_number("CLEMATIS_TEST_NAN_STEP", 0),
                            .result = result};
  return open_all(session);
}

void clm__session_close(clm__session *session)
{
  clm__loader_destroy(session->loader);
  clm__team_destroy(session->team);
  clm__tune_close(session->tune);
  clm__device_close(session->device);
  clm__model_file_fini(&session->model);
  clm__run_state_fini(&session->state);
  clm__dataset_close(session->dataset);
  clm__run_folder_fini(&session->folder);
  clm__comm_close(session->comm);
}
