#include "train/session.h"

#include "base/mem.h"
#include "train/session_model.h"

static clm_status check_resumed(const clm__session *session)
{
  const clm__run_state *state = &session->state;
  const clm_train_config *config = session->config;
  CLM_REQUIRE(state->data_digest == clm__dataset_digest(session->dataset), CLM_BAD_DATA,
              "cannot resume: the images in %s, or their split, are not those the run began with",
              config->data.folder);
  CLM_REQUIRE(state->batch_size == session->batch_size, CLM_USAGE,
              "cannot resume: the run began with batch size %d, now %d was asked for",
              state->batch_size, session->batch_size);
  CLM_REQUIRE(state->seed == config->seed, CLM_USAGE,
              "cannot resume: the run began with seed %llu, now %llu was asked for",
              (unsigned long long)state->seed, (unsigned long long)config->seed);
  return CLM_OK;
}

static clm_status begin_state(clm__session *session)
{
  clm__run_state *state = &session->state;
  state->seed = session->config->seed;
  state->batch_size = session->batch_size;
  state->data_digest = clm__dataset_digest(session->dataset);
  state->best_epoch = -1;
  return clm__run_state_set_classes(state, (const char *const *)session->dataset->class_names,
                                    session->dataset->class_count);
}

static clm_status load_or_make(clm__session *session)
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

/* ---- from rank 0 to the others: a checkpoint in memory ---- */

static clm_status pack_model(clm__session *session, char **bytes, size_t *size_bytes)
{
  clm__model_file file = session->model;
  CLM_TRY(clm__run_state_to_json(&session->state, &file.extra));
  const clm_status status = clm__model_file_pack(&file, bytes, size_bytes);
  clm__mem_free(file.extra);
  return status;
}

static clm_status load_and_pack(clm__session *session, char **bytes, size_t *size_bytes)
{
  CLM_TRY(load_or_make(session));
  if (clm__comm_get_size(session->comm) == 1) return CLM_OK;
  return pack_model(session, bytes, size_bytes);
}

static clm_status unpack_model(clm__session *session, const char *bytes, size_t size_bytes)
{
  CLM_TRY(clm__model_file_read_bytes(bytes, size_bytes, session->log, &session->model));
  CLM_REQUIRE(session->model.optim_state != NULL && session->model.extra != NULL, CLM_INTERNAL,
              "the model that rank 0 sent has no state");
  return clm__run_state_from_json(session->model.extra, &session->state);
}

clm_status clm__session_open_model(clm__session *session)
{
  const bool is_first = clm__session_is_first(session);
  char *bytes = NULL;
  size_t size_bytes = 0;
  clm_status status = is_first ? load_and_pack(session, &bytes, &size_bytes) : CLM_OK;
  status = clm__job_share(session->comm, status, &bytes, &size_bytes);
  if (status == CLM_OK) {
    if (!is_first) status = unpack_model(session, bytes, size_bytes);
    status = clm__comm_agree_last(session->comm, status);
  }
  clm__mem_free(bytes);
  return status;
}
