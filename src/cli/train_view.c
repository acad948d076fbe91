#include "cli/train_view.h"

#include "cli/folder_view.h"
#include "cli/format.h"
#include "cli/ranks.h"
#include "cli/say.h"
#include "cli/stop.h"
#include "cli/text.h"
#include "cli/train_events.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static bool tells_programs(const clm__train_view *view)
{
  return view->progress.kind == CLM__PROGRESS_JSON;
}

/* Opens the log file once its folder is known. Ranks without the run folder make none. */
static void open_log(const clm__train_view *view)
{
  const char *folder = view->config->log_folder;
  clm__text inside = {0};
  if (!view->config->log_all || (folder == NULL && view->result->out_folder[0] == '\0')) return;
  clm__text_add(&inside, "%s/logs", view->result->out_folder);
  clm__say_open_log(folder != NULL ? folder : clm__text_get(&inside));
  clm__text_fini(&inside);
}

void clm__train_view_begin(const clm__train_view *view)
{
  const clm_job *job = view->config->train.job;
  if (view->config->log_all) clm__say_begin_log(clm_job_rank(job), clm_job_host(job));
  open_log(view);
}

static clm_status on_data(void *user, const clm_data_report *report)
{
  clm__train_view *view = user;
  view->bad_files = report->bad_count;
  open_log(view);
  clm__folder_view(view->config->train.data.folder, report, false);
  return CLM_OK;
}

/* One line for each line of the devices' text. */
static void say_devices(const char *lines)
{
  while (*lines != '\0') {
    const int length = (int)strcspn(lines, "\n");
    clm__say_info("Device: %.*s", length, lines);
    lines += length + (lines[length] == '\n');
  }
}

static clm_status on_begin(void *user, const clm_run_info *info)
{
  const clm__train_view *view = user;
  const clm_job *job = view->config->train.job;
  char parameters[CLM__FORMAT_SIZE];
  char device[CLM__FORMAT_SIZE];
  char cache[CLM__FORMAT_SIZE];
  char file[CLM__FORMAT_SIZE];
  char seen[CLM__FORMAT_SIZE];
  clm__say_info("Run folder: %s", info->out_folder);
  if (clm_job_size(job) > 1) clm__say_info("Ranks: %d", clm_job_size(job));
  say_devices(info->device_text);
  clm__say_info("Model: %s parameters, learning rate %g, %zu steps an epoch",
                clm__format_count(info->parameters, parameters), info->learning_rate,
                info->steps_per_epoch);
  clm__say_info("Memory: %s on the device, at most %s for the cache of images%s%s",
                clm__format_bytes(info->device_bytes, device),
                clm__format_bytes(info->cache_bound_bytes - info->cache_file_bytes, cache),
                info->cache_file_bytes > 0 ? " and a temporary file of " : "",
                info->cache_file_bytes > 0 ? clm__format_bytes(info->cache_file_bytes, file) : "");
  if (info->images_seen > 0)
    clm__say_info("Going on in epoch %d at step %zu, after %s images", info->first_epoch + 1,
                  info->first_step + 1, clm__format_count(info->images_seen, seen));
  if (tells_programs(view)) clm__train_events_start(info, clm_job_size(job), view->bad_files);
  clm__stop_listen(clm_job_rank(job) == 0);
  return CLM_OK;
}

static clm_status on_epoch_begin(void *user, int epoch, int epochs)
{
  clm__train_view *view = user;
  clm__progress_epoch_begin(&view->progress, epoch, epochs);
  return CLM_OK;
}

static clm_status on_step(void *user, const clm_step_info *info)
{
  clm__train_view *view = user;
  clm__progress_step(&view->progress, info);
  if (clm_job_size(view->config->train.job) > 1) clm__stop_note(info->epoch, info->step);
  return CLM_OK;
}

static clm_status on_validation(void *user, size_t done, size_t count)
{
  clm__train_view *view = user;
  clm__progress_validation(&view->progress, done, count);
  return CLM_OK;
}

static clm_status on_epoch_end(void *user, const clm_epoch_info *info)
{
  clm__train_view *view = user;
  clm__progress_epoch_end(&view->progress, info);
  view->images += info->images_per_second * info->train_seconds;
  view->train_seconds += info->train_seconds;
  return CLM_OK;
}

static void on_checkpoint(void *user, const clm_checkpoint_info *info)
{
  if (tells_programs(user)) clm__train_events_checkpoint(info);
}

static int should_stop(void *user)
{
  (void)user;
  return clm__stop_is_wanted();
}

clm_callback clm__train_view_callback(clm__train_view *view)
{
  return (clm_callback){
      .user = view,
      .on_data = on_data,
      .on_begin = on_begin,
      .on_epoch_begin = on_epoch_begin,
      .on_step = on_step,
      .on_validation = on_validation,
      .on_epoch_end = on_epoch_end,
      .on_checkpoint = on_checkpoint,
      .should_stop = should_stop,
  };
}

static void say_best(const clm_train_result *result)
{
  if (result->best_epoch < 0) return;
  clm__text line = {0};
  char loss[CLM__FORMAT_SIZE];
  char accuracy[CLM__FORMAT_SIZE];
  const bool validated = !isnan(result->best.val_loss);
  const double best_loss = validated ? result->best.val_loss : result->best.loss;
  const double best_accuracy = validated ? result->best.val_accuracy : result->best.accuracy;
  clm__text_add(&line, "%sloss: %s, %saccuracy: %s", validated ? "val_" : "",
                clm__format_figure(best_loss, loss), validated ? "val_" : "",
                clm__format_figure(best_accuracy, accuracy));
  clm__say_info("Best epoch: %d of %d (%s)", result->best_epoch + 1, result->epochs_done,
                clm__text_get(&line));
  clm__text_fini(&line);
}

static void say_times(const clm__train_view *view, const clm_train_result *result)
{
  clm__text speed = {0};
  if (view->train_seconds > 0)
    clm__text_add(&speed, ", %.0f images/s", view->images / view->train_seconds);
  clm__say_info("Time: %.1fs, first step after %.1fs%s; "
                "the device waited %.1fs for data, %.1fs for checkpoints",
                result->seconds, result->first_step_seconds, clm__text_get(&speed),
                result->wait_seconds, result->save_seconds);
  clm__text_fini(&speed);
}

static void warn_of_losses(const clm__train_view *view, const clm_train_result *result)
{
  if (result->skipped_files > view->bad_files) {
    const size_t lost = result->skipped_files - view->bad_files;
    clm__say_warning("%zu image%s could not be read while training and %s left out", lost,
                     lost == 1 ? "" : "s", lost == 1 ? "was" : "were");
  }
  if (result->failed_saves > 0)
    clm__say_warning(
        "%d file%s beside the model could not be written; look at the space and the rights of %s",
        result->failed_saves, result->failed_saves == 1 ? "" : "s", result->out_folder);
}

static void say_end(const clm__train_view *view, const clm_train_result *result)
{
  if (result->reason == CLM_STOP_NOTHING_LEFT) {
    clm__say("Nothing to do: the run has had its %d epochs; --epochs N with a larger N goes on",
             result->epochs_done);
    return;
  }
  if (result->reason == CLM_STOP_EARLY)
    clm__say_info("Stopped early: no better figure for %d epochs",
                  view->config->train.early_stopping_patience);
  if (result->reason == CLM_STOP_REQUESTED)
    clm__say_info("Stopped in epoch %d after step %zu of %zu", view->progress.last.epoch + 1,
                  view->progress.last.step, view->progress.last.steps_per_epoch);
  say_best(result);
  say_times(view, result);
  warn_of_losses(view, result);
  clm__say_info("Weights: digest %016" PRIx64, result->weights_digest);
  if (result->reason == CLM_STOP_REQUESTED) return;
  clm__say("Model: %s/model.keras%s", result->out_folder,
           result->best_epoch >= 0 ? ", of the best epoch: best.keras beside it" : "");
}

void clm__train_view_end(const clm__train_view *view, const clm_train_result *result,
                         clm_status status)
{
  const bool is_failure = status != CLM_OK && status != CLM_STOPPED;
  const clm_error error = *clm_error_last();
  open_log(view);
  if (is_failure)
    (void)clm__ranks_say(view->config->train.job, status);
  else
    say_end(view, result);
  if (!tells_programs(view)) return;
  const char *message = error.status == status ? error.message : clm_status_text(status);
  clm__train_events_end(result, status, message);
}
