#include "train/session.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/num.h"
#include "sys/thread.h"
#include "train/device_choice.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- shares and the global batch ---- */

static clm_status settle_batch(clm__session *session)
{
  const clm_train_config *config = session->config;
  session->batch_size = config->run.batch_size;
  if (config->batch_per_device == 0) return CLM_OK;
  CLM_REQUIRE(config->batch_per_device <= INT_MAX / session->replica_count, CLM_USAGE,
              "%d images for each of %d devices are too many for a batch", config->batch_per_device,
              session->replica_count);
  session->batch_size = config->batch_per_device * session->replica_count;
  clm__log(session->log, CLM_LOG_INFO, "%d devices with %d images each: the batch size is %d",
           session->replica_count, config->batch_per_device, session->batch_size);
  return CLM_OK;
}

static clm_status settle_shares(clm__session *session)
{
  const clm_train_config *config = session->config;
  CLM_TRY(settle_batch(session));
  if (config->shares == NULL) return CLM_OK;
  return clm__share_plan_read(config->shares, session->replica_count, &session->share_plan);
}

/* ---- devices ---- */

clm_status clm__session_open_devices(clm__session *session)
{
  clm__comm *comm = session->comm;
  const clm__device_wish wish = {
      .config = &session->config->run, .comm = comm, .trace = session->tracing.trace};
  const clm_status status =
      clm__device_choice_open_all(&wish, &session->devices, &session->device_count, &session->tune);
  CLM_TRY(clm__comm_agree_last(comm, status));
  CLM_TRY(clm__team_count_replicas(comm, session->device_count, &session->replica_count));
  CLM_TRY(clm__comm_agree_last(comm, settle_shares(session)));
  return CLM_OK;
}

void clm__session_close_devices(clm__session *session)
{
  clm__device_choice_close_all(session->devices, session->device_count);
  clm__tune_close(session->tune);
  clm__share_plan_fini(&session->share_plan);
}

void clm__session_name_devices(const clm__session *session, char *text, size_t size)
{
  size_t length = 0;
  text[0] = '\0';
  for (int i = 0; i < session->device_count && length < size; i++) {
    const clm__device_info *info = &session->devices[i]->info;
    length += (size_t)snprintf(text + length, size - length, "%s%s: %s, %s", i > 0 ? "\n" : "",
                               info->id, info->name, info->platform);
  }
}

/* ---- the team ---- */

static clm_status fill_team(clm__session *session, int batch_max)
{
  CLM_TRY(clm__team_write_weights(session->team, session->model.weights->values));
  CLM_TRY(clm__team_write_slots(session->team, session->model.optim_state));
  CLM_TRY(clm__data_source_loader(&session->config->data, session->dataset,
                                  &session->model.graph->input_shape, batch_max, session->log,
                                  &session->loader));
  clm__loader_set_trace(session->loader, session->tracing.trace);
  return CLM_OK;
}

static const double *get_shares(const clm__session *session)
{
  const clm__share_plan *plan = &session->share_plan;
  return plan->count > 0 ? plan->shares + session->share_set * (size_t)plan->replicas : NULL;
}

static size_t find_share_set(const clm__session *session)
{
  const uint64_t done = (uint64_t)session->model.optim_state->iterations;
  return clm__share_plan_find(&session->share_plan, done + 1);
}

clm_status clm__session_open_team(clm__session *session)
{
  const clm_train_config *config = session->config;
  const size_t largest_batch =
      clm__min_size((size_t)session->batch_size,
                    clm__max_size(session->dataset->train_count,
                                  session->dataset->count - session->dataset->train_count));
  session->share_set = find_share_set(session);
  const clm__replica_config replica = {.graph = session->model.graph,
                                       .weights = session->model.weights,
                                       .loss = session->model.compile.loss,
                                       .loss_attributes = session->model.compile.loss_attributes,
                                       .optim_state = session->model.optim_state,
                                       .seed = config->seed,
                                       .join = config->sync_batchnorm ? CLM__JOIN_ALL
                                                                      : CLM__JOIN_MARKED,
                                       .tune = session->tune,
                                       .variant = config->run.variant,
                                       .threads = clm__thread_processors(),
                                       .log = session->log};
  const clm__team_config team = {
      .devices = session->devices,
      .device_count = session->device_count,
      .comm = session->comm,
      .replica = replica,
      .batch_size = session->batch_size,
      .largest_batch = largest_batch,
      .shares = get_shares(session),
      .share_sets = (int)(session->share_plan.count - session->share_set),
      .trace = session->tracing.trace,
      .wire = config->wire == CLM_WIRE_BF16 ? CLM__WIRE_BF16 : CLM__WIRE_F32};
  if (session->replica_count == 1)
    clm__helper_serve(session->helper, session->devices[0], session->dataset->class_count,
                      (int)largest_batch);
  CLM_TRY(clm__team_create(&team, &session->team));
  CLM_TRY(clm__comm_agree_last(session->comm, fill_team(session, (int)largest_batch)));
  CLM_TRY(clm__comm_agree_last(session->comm, clm__session_note_shares(session)));
  return CLM_OK;
}

/* Shares that count already are not new because a run goes on. */
static clm_status keep_shares(clm__run_state *state, uint64_t done, const char *shares)
{
  char *text = NULL;
  CLM_TRY(clm__share_plan_extend(state->shares, done + 1, shares, &text));
  if (state->shares == NULL || strcmp(text, state->shares) != 0) state->shares_step = done;
  clm__mem_free(state->shares);
  state->shares = text;
  return CLM_OK;
}

static void forget_shares(clm__run_state *state)
{
  clm__mem_free(state->shares);
  state->shares = NULL;
  state->shares_step = 0;
}

clm_status clm__session_note_shares(clm__session *session)
{
  const uint64_t done = (uint64_t)session->model.optim_state->iterations;
  char *shares = NULL;
  if (session->replica_count == 1) {
    forget_shares(&session->state);
    return CLM_OK;
  }
  CLM_TRY(clm__team_name_shares(session->team, &shares));
  if (clm__session_is_first(session))
    clm__log(session->log, CLM_LOG_INFO, "Shares of the %d devices from step %llu on: %s",
             session->replica_count, (unsigned long long)done + 1, shares);
  const clm_status status = keep_shares(&session->state, done, shares);
  clm__mem_free(shares);
  return status;
}

bool clm__session_follow_shares(clm__session *session)
{
  const size_t set = find_share_set(session);
  if (set == session->share_set) return false;
  session->share_set = set;
  clm__team_set_shares(session->team, get_shares(session));
  return true;
}

/* ---- the table at the end ---- */

static void tell_rows(const clm__session *session, const clm__team_row *rows)
{
  clm__log(session->log, CLM_LOG_INFO, "%-6s %-14s %7s %10s %7s", "rank", "device", "share",
           "images/s", "waited");
  for (int i = 0; i < session->replica_count; i++)
    clm__log(session->log, CLM_LOG_INFO, "%-6d %-14s %6.1f%% %10.1f %6.1f%%%s", rows[i].rank,
             rows[i].id, 100.0 * rows[i].share, rows[i].images_per_second,
             100.0 * rows[i].wait_share,
             rows[i].is_hindrance ? "  the job would be faster without it" : "");
}

clm_status clm__session_tell_devices(clm__session *session)
{
  if (session->replica_count == 1) return CLM_OK;
  clm__team_row *rows = NULL;
  CLM_TRY(clm__comm_agree_last(
      session->comm, clm__mem_alloc((size_t)session->replica_count, sizeof *rows, &rows)));
  const clm_status status = clm__team_report(session->team, rows);
  if (status == CLM_OK && clm__session_is_first(session)) tell_rows(session, rows);
  clm__mem_free(rows);
  return status;
}
