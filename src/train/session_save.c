#include "train/session.h"

#include "base/log.h"
#include "base/mem.h"
#include "sys/file.h"
#include "train/history.h"

#include <string.h>

clm_status clm__session_fetch(clm__session *session)
{
  CLM_TRY(clm__team_read_weights(session->team, session->model.weights->values));
  return clm__team_read_slots(session->team, session->model.optim_state);
}

static clm_status write_checkpoint(const clm__session *session)
{
  if (!clm__session_is_first(session)) return CLM_OK;
  return clm__checkpoint_save(&session->folder, session->config->keep_checkpoints, &session->model,
                              &session->state);
}

clm_status clm__session_save(clm__session *session)
{
  CLM_TRY(clm__session_fetch(session));
  return clm__job_agree(session->comm, write_checkpoint(session));
}

/* A save that fails beside training is loud and not fatal: training goes on with what is safe. */
static void forgive_failed_save(clm__session *session, const char *what)
{
  session->result->failed_saves++;
  clm__log(session->log, CLM_LOG_WARNING, "%s could not be written: %s", what,
           clm_error_last()->message);
  clm_error_clear();
}

/* ---- the library's own callbacks ---- */

static clm_status save_best(void *user, const clm_epoch_info *info)
{
  clm__session *session = user;
  if (!info->is_best) return CLM_OK;
  CLM_TRY(clm__session_fetch(session));
  if (!clm__session_is_first(session)) return CLM_OK;
  if (clm__checkpoint_write(session->folder.best, &session->model, &session->state) != CLM_OK)
    forgive_failed_save(session, session->folder.best);
  return CLM_OK;
}

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

static clm_status save_checkpoint(void *user, const clm_epoch_info *info)
{
  clm__session *session = user;
  const int every = session->config->checkpoint_epochs;
  if (every <= 0 || (info->epoch + 1) % every != 0) return CLM_OK;
  CLM_TRY(clm__session_fetch(session));
  if (write_checkpoint(session) != CLM_OK) forgive_failed_save(session, "the checkpoint");
  return CLM_OK;
}

void clm__session_add_callbacks(clm__session *session)
{
  const clm_callback best = {.user = session, .on_epoch_end = save_best};
  const clm_callback early = {.user = session, .on_epoch_end = watch_patience};
  const clm_callback history = {.user = session, .on_epoch_end = write_history};
  const clm_callback checkpoint = {.user = session, .on_epoch_end = save_checkpoint};
  clm__callbacks_add(&session->own, &best);
  clm__callbacks_add(&session->own, &early);
  clm__callbacks_add(&session->own, &history);
  clm__callbacks_add(&session->own, &checkpoint);
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
  return clm__job_agree(session->comm, write_model(session));
}
