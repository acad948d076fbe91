#include "train/session.h"

#include "base/log.h"
#include "base/mem.h"
#include "sys/clock.h"
#include "sys/file.h"
#include "train/history.h"

#include <string.h>

/* A save that fails beside training is loud and not fatal: training goes on with what is safe. */
static void forgive_failed_save(clm__session *session, const char *what)
{
  session->result->failed_saves++;
  clm__log(session->log, CLM_LOG_WARNING, "%s could not be written: %s", what,
           clm_error_last()->message);
  clm_error_clear();
}

/* Waits until the model's arrays are free, and tells what the saver could not write. */
static void wait_for_saver(clm__session *session)
{
  if (session->saver == NULL) return;
  clm__saver_wait(session->saver);
  while (clm__saver_take_failure(session->saver) != CLM_OK)
    forgive_failed_save(session, "a checkpoint");
}

clm_status clm__session_fetch(clm__session *session)
{
  wait_for_saver(session);
  CLM_TRY(clm__team_read_weights(session->team, session->model.weights->values));
  return clm__team_read_slots(session->team, session->model.optim_state);
}

static clm_status write_checkpoint(const clm__session *session)
{
  if (!clm__session_is_first(session)) return CLM_OK;
  return clm__checkpoint_save(&session->folder, session->config->keep_checkpoints, &session->model,
                              &session->state);
}

static void tell_checkpoint(const clm__session *session, const clm__saver_job *job, double seconds)
{
  const clm_checkpoint_info info = {.epoch = session->state.epoch,
                                    .step = (size_t)session->state.step,
                                    .images_seen = session->state.images_seen,
                                    .wait_seconds = seconds,
                                    .to_best = job->to_best,
                                    .to_checkpoints = job->to_checkpoints};
  clm__callbacks_checkpoint(&session->callbacks, &info);
}

clm_status clm__session_save(clm__session *session)
{
  const clm__saver_job job = {.to_checkpoints = true};
  const double begin = clm__clock_seconds();
  CLM_TRY(clm__session_fetch(session));
  CLM_TRY(clm__comm_agree_last(session->comm, write_checkpoint(session)));
  tell_checkpoint(session, &job, clm__clock_seconds() - begin);
  return CLM_OK;
}

/* ---- beside training ---- */

static void flush_events(clm__session *session)
{
  if (session->events != NULL && clm__events_flush(session->events) != CLM_OK)
    forgive_failed_save(session, "TensorBoard's event files");
}

clm_status clm__session_begin_saving(clm__session *session)
{
  session->saved_seconds = clm__clock_seconds();
  if (!clm__session_is_first(session)) return CLM_OK;
  const clm__saver_config config = {.folder = &session->folder,
                                    .model = &session->model,
                                    .keep = session->config->keep_checkpoints,
                                    .trace = session->tracing.trace};
  if (session->config->tensorboard)
    CLM_TRY(clm__events_create(&session->folder, session->state.epoch,
                               session->model.optim_state->iterations + 1, &session->events));
  return clm__saver_create(&config, &session->saver);
}

void clm__session_end_saving(clm__session *session)
{
  /* The error that ends a run outlives those of its last checkpoint. */
  const clm_error first = *clm_error_last();
  wait_for_saver(session);
  clm__saver_destroy(session->saver);
  session->saver = NULL;
  flush_events(session);
  clm__events_destroy(session->events);
  session->events = NULL;
  if (first.status != CLM_OK) (void)clm__error_raise(&first);
}

void clm__session_write_trace(clm__session *session)
{
  clm__tracing_sums sums = {0};
  if (session->tracing.trace == NULL) return;
  /* The error that ends a run outlives those of its trace. */
  const clm_error first = *clm_error_last();
  if (clm__tracing_write(&session->tracing, session->comm, &sums) != CLM_OK)
    forgive_failed_save(session, "the trace");
  else if (clm__session_is_first(session))
    clm__log(session->log, CLM_LOG_INFO, "Trace: %s, %llu spans of %d rank%s%s",
             session->tracing.path, (unsigned long long)sums.spans, sums.ranks,
             sums.ranks == 1 ? "" : "s", sums.left_out > 0 ? "" : ", complete");
  if (sums.left_out > 0 && clm__session_is_first(session))
    clm__log(session->log, CLM_LOG_WARNING,
             "%llu spans did not fit into the trace; --trace-steps takes fewer steps",
             (unsigned long long)sums.left_out);
  if (first.status != CLM_OK) (void)clm__error_raise(&first);
}

/* Takes a copy of weights and optimizer, which training waits for, and lets it be written. */
static clm_status save_beside(clm__session *session, bool to_best, bool to_checkpoints)
{
  const double begin = clm__clock_seconds();
  const double traced = clm__trace_begin(session->tracing.trace);
  CLM_TRY(clm__session_fetch(session));
  if (to_checkpoints) session->saved_seconds = begin;
  if (to_checkpoints) session->owes_checkpoint = false;
  const clm__saver_job job = {
      .state = &session->state, .to_best = to_best, .to_checkpoints = to_checkpoints};
  if (session->saver != NULL && clm__saver_start(session->saver, &job) != CLM_OK)
    forgive_failed_save(session, "a checkpoint");
  const double seconds = clm__clock_seconds() - begin;
  clm__trace_end(session->tracing.trace, traced,
                 &(clm__trace_span){.category = "checkpoint", .name = "copy weights"});
  session->result->save_seconds += seconds;
  clm__log(session->log, CLM_LOG_DETAIL, "checkpoint after %llu images: training waited %.1f ms",
           (unsigned long long)session->state.images_seen, 1e3 * seconds);
  tell_checkpoint(session, &job, seconds);
  return CLM_OK;
}

static bool is_due_by_clock(const clm__session *session)
{
  const double interval_seconds = 60.0 * session->config->checkpoint_minutes;
  return interval_seconds > 0.0 &&
         clm__clock_seconds() - session->saved_seconds >= interval_seconds;
}

bool clm__session_wants_checkpoint(clm__session *session)
{
  if (session->saver == NULL) return false;
  const int every = session->config->checkpoint_steps;
  const int64_t step = session->model.optim_state->iterations + 1;
  if (every > 0 && step % every == 0) session->owes_checkpoint = true;
  return (session->owes_checkpoint || is_due_by_clock(session)) &&
         !clm__saver_is_busy(session->saver);
}

/* ---- the library's own callbacks ---- */

static clm_status watch_patience(void *user, const clm_epoch_info *info)
{
  clm__session *session = user;
  (void)info;
  session->stop_early = clm__monitor_is_over(&session->monitor, &session->state);
  return CLM_OK;
}

static clm_status write_history(void *user, const clm_epoch_info *info)
{
  clm__session *session = user;
  (void)info;
  if (!clm__session_is_first(session)) return CLM_OK;
  if (clm__history_write(&session->folder, &session->state) != CLM_OK)
    forgive_failed_save(session, "the history");
  return CLM_OK;
}

/* What the devices are worth, of all ranks; rank 0 writes it. */
static clm_status add_device_events(clm__session *session, int epoch, clm_status *written)
{
  const int count = session->replica_count;
  clm__team_row *rows = NULL;
  if (count == 1) return CLM_OK;
  CLM_TRY(clm__comm_agree_last(session->comm, clm__mem_alloc((size_t)count, sizeof *rows, &rows)));
  const clm_status status = clm__team_report(session->team, rows);
  if (status == CLM_OK && session->events != NULL)
    *written = clm__events_add_devices(session->events, epoch, rows, count);
  clm__mem_free(rows);
  return status;
}

static clm_status add_weight_events(clm__session *session, int epoch, clm_status *written)
{
  if (!session->config->tensorboard_histograms) return CLM_OK;
  CLM_TRY(clm__session_fetch(session));
  if (session->events != NULL && *written == CLM_OK)
    *written = clm__events_add_weights(session->events, epoch, session->model.graph,
                                       session->model.weights);
  return CLM_OK;
}

static clm_status add_epoch_events(void *user, const clm_epoch_info *info)
{
  clm__session *session = user;
  if (!session->config->tensorboard) return CLM_OK;
  clm_status written = CLM_OK;
  CLM_TRY(add_device_events(session, info->epoch, &written));
  CLM_TRY(add_weight_events(session, info->epoch, &written));
  if (session->events == NULL) return CLM_OK;
  if (written == CLM_OK) written = clm__events_add_epoch(session->events, info);
  if (written != CLM_OK) forgive_failed_save(session, "TensorBoard's events of an epoch");
  flush_events(session);
  return CLM_OK;
}

static clm_status add_step_events(void *user, const clm_step_info *info)
{
  clm__session *session = user;
  const int every = session->config->tensorboard_steps;
  const int64_t step = session->model.optim_state->iterations;
  if (session->events == NULL || every == 0 || step % every != 0) return CLM_OK;
  if (clm__events_add_step(session->events, step, &info->figures) != CLM_OK)
    forgive_failed_save(session, "TensorBoard's events of a step");
  return CLM_OK;
}

static clm_status save_after_epoch(void *user, const clm_epoch_info *info)
{
  clm__session *session = user;
  const int every = session->config->checkpoint_epochs;
  const bool to_checkpoints = every > 0 && (info->epoch + 1) % every == 0;
  const bool to_best = info->is_best != 0;
  if (!to_best && !to_checkpoints) return CLM_OK;
  return save_beside(session, to_best, to_checkpoints);
}

static clm_status save_after_step(void *user, const clm_step_info *info)
{
  (void)info;
  clm__session *session = user;
  return session->saves_step ? save_beside(session, false, true) : CLM_OK;
}

void clm__session_add_callbacks(clm__session *session)
{
  const clm_callback early = {.user = session, .on_epoch_end = watch_patience};
  const clm_callback history = {.user = session, .on_epoch_end = write_history};
  const clm_callback events = {
      .user = session, .on_step = add_step_events, .on_epoch_end = add_epoch_events};
  const clm_callback save = {
      .user = session, .on_step = save_after_step, .on_epoch_end = save_after_epoch};
  clm__callbacks_add(&session->own, &early);
  clm__callbacks_add(&session->own, &history);
  clm__callbacks_add(&session->own, &events);
  clm__callbacks_add(&session->own, &save);
}

/* ---- the last model ---- */

static clm_status take_best_weights(clm__session *session)
{
  clm__model_file best = {0};
  CLM_TRY(clm__model_file_read(session->folder.best, session->log, &best));
  const bool fits =
      best.weights != NULL && best.weights->elements == session->model.weights->elements;
  if (fits)
    memcpy(session->model.weights->values, best.weights->values,
           best.weights->elements * sizeof(float));
  clm__model_file_fini(&best);
  CLM_REQUIRE(fits, CLM_BAD_DATA, "%s does not hold the weights of this run", session->folder.best);
  return CLM_OK;
}

static clm_status save_in_checkpoints(clm__session *session)
{
  char *path = NULL;
  CLM_TRY(clm__file_join(session->folder.checkpoints, "model.keras", &path));
  const clm_error first = *clm_error_last();
  const clm_status status = clm__checkpoint_write(path, &session->model, &session->state);
  if (status == CLM_OK)
    clm__log(session->log, CLM_LOG_WARNING, "the model was written to %s instead", path);
  clm__mem_free(path);
  return clm__error_raise(&first);
}

static clm_status write_model(clm__session *session)
{
  if (!clm__session_is_first(session)) return CLM_OK;
  if (session->config->restore_best && session->state.best_epoch >= 0)
    CLM_TRY(take_best_weights(session));
  const clm_status status =
      clm__checkpoint_write(session->folder.model, &session->model, &session->state);
  return status == CLM_OK ? CLM_OK : save_in_checkpoints(session);
}

clm_status clm__session_save_model(clm__session *session)
{
  CLM_TRY(clm__session_fetch(session));
  return clm__comm_agree_last(session->comm, write_model(session));
}
