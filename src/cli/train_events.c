#include "cli/train_events.h"

#include "cli/event_line.h"
#include "cli/say.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static void add_place(clm__text *line, int epoch, int epochs)
{
  clm__event_line_count(line, "epoch", (uint64_t)epoch + 1);
  clm__event_line_count(line, "epochs", (uint64_t)epochs);
}

static void add_figures(clm__text *line, const clm_figures *figures)
{
  clm__event_line_number(line, "loss", figures->loss);
  clm__event_line_number(line, "accuracy", figures->accuracy);
}

static void add_validation_figures(clm__text *line, const clm_figures *figures)
{
  clm__event_line_number(line, "val_loss", figures->val_loss);
  clm__event_line_number(line, "val_accuracy", figures->val_accuracy);
}

void clm__train_events_start(const clm_run_info *info, int ranks, size_t bad_files)
{
  clm__text line = clm__event_line_begin("start");
  clm__event_line_text(&line, "version", clm_version());
  clm__event_line_text(&line, "run_folder", info->out_folder);
  clm__event_line_count(&line, "ranks", (uint64_t)ranks);
  clm__event_line_list(&line, "devices", info->device_text);
  clm__event_line_count(&line, "train_images", info->train_images);
  clm__event_line_count(&line, "validation_images", info->validation_images);
  clm__event_line_count(&line, "left_out_files", bad_files);
  clm__event_line_count(&line, "steps_per_epoch", info->steps_per_epoch);
  clm__event_line_count(&line, "epochs", (uint64_t)info->epochs);
  clm__event_line_count(&line, "first_epoch", (uint64_t)info->first_epoch + 1);
  clm__event_line_count(&line, "first_step", info->first_step + 1);
  clm__event_line_count(&line, "images_seen", info->images_seen);
  clm__event_line_count(&line, "parameters", info->parameters);
  clm__event_line_number(&line, "learning_rate", info->learning_rate);
  clm__event_line_count(&line, "device_bytes", info->device_bytes);
  clm__event_line_count(&line, "cache_bound_bytes", info->cache_bound_bytes);
  clm__say_event(&line);
}

void clm__train_events_step(const clm_step_info *info, double left_seconds)
{
  clm__text line = clm__event_line_begin("step");
  add_place(&line, info->epoch, info->epochs);
  clm__event_line_count(&line, "step", info->step);
  clm__event_line_count(&line, "steps_per_epoch", info->steps_per_epoch);
  clm__event_line_number(&line, "epoch_seconds", info->seconds);
  clm__event_line_number(&line, "left_seconds", left_seconds);
  clm__event_line_number(&line, "images_per_second", info->images_per_second);
  add_figures(&line, &info->figures);
  clm__say_event(&line);
}

void clm__train_events_validation(const clm_step_info *last, size_t done, size_t count)
{
  clm__text line = clm__event_line_begin("validation");
  add_place(&line, last->epoch, last->epochs);
  clm__event_line_count(&line, "batch", done);
  clm__event_line_count(&line, "batches", count);
  clm__say_event(&line);
}

void clm__train_events_epoch(const clm_epoch_info *info)
{
  clm__text line = clm__event_line_begin("epoch");
  add_place(&line, info->epoch, info->epochs);
  clm__event_line_count(&line, "steps", info->steps);
  clm__event_line_number(&line, "epoch_seconds", info->seconds);
  clm__event_line_number(&line, "train_seconds", info->train_seconds);
  clm__event_line_number(&line, "data_wait_seconds", info->wait_seconds);
  clm__event_line_number(&line, "images_per_second", info->images_per_second);
  clm__event_line_number(&line, "learning_rate", info->learning_rate);
  add_figures(&line, &info->figures);
  add_validation_figures(&line, &info->figures);
  clm__event_line_flag(&line, "is_best", info->is_best != 0);
  clm__say_event(&line);
}

void clm__train_events_checkpoint(const clm_checkpoint_info *info)
{
  clm__text line = clm__event_line_begin("checkpoint");
  clm__event_line_count(&line, "next_epoch", (uint64_t)info->epoch + 1);
  clm__event_line_count(&line, "next_step", info->step + 1);
  clm__event_line_count(&line, "images_seen", info->images_seen);
  clm__event_line_number(&line, "wait_seconds", info->wait_seconds);
  clm__event_line_flag(&line, "is_best", info->to_best != 0);
  clm__event_line_flag(&line, "is_kept", info->to_checkpoints != 0);
  clm__say_event(&line);
}

static const char *name_reason(const clm_train_result *result, clm_status status)
{
  static const char *const names[] = {
      [CLM_STOP_FINISHED] = "finished",
      [CLM_STOP_EARLY] = "stopped_early",
      [CLM_STOP_REQUESTED] = "stopped_on_request",
      [CLM_STOP_NOTHING_LEFT] = "nothing_left",
  };
  return status == CLM_OK || status == CLM_STOPPED ? names[result->reason] : "failed";
}

static void add_results(clm__text *line, const clm_train_result *result)
{
  char digest[17];
  (void)snprintf(digest, sizeof digest, "%016" PRIx64, result->weights_digest);
  clm__event_line_count(line, "epochs_done", (uint64_t)result->epochs_done);
  clm__event_line_number(line, "best_epoch",
                         result->best_epoch >= 0 ? (double)result->best_epoch + 1 : (double)NAN);
  add_figures(line, &result->last);
  add_validation_figures(line, &result->last);
  clm__event_line_number(line, "run_seconds", result->seconds);
  clm__event_line_number(line, "first_step_seconds", result->first_step_seconds);
  clm__event_line_number(line, "data_wait_seconds", result->wait_seconds);
  clm__event_line_number(line, "checkpoint_wait_seconds", result->save_seconds);
  clm__event_line_count(line, "left_out_files", result->skipped_files);
  clm__event_line_count(line, "failed_saves", (uint64_t)result->failed_saves);
  clm__event_line_text(line, "weights_digest", digest);
}

void clm__train_events_end(const clm_train_result *result, clm_status status, const char *message)
{
  const bool is_failure = status != CLM_OK && status != CLM_STOPPED;
  clm__text line = clm__event_line_begin("end");
  clm__event_line_text(&line, "reason", name_reason(result, status));
  clm__event_line_count(&line, "exit_status", (uint64_t)clm_status_exit_code(status));
  clm__event_line_text(&line, "run_folder", result->out_folder);
  if (is_failure)
    clm__event_line_text(&line, "message", message);
  else
    add_results(&line, result);
  clm__say_event(&line);
}
