#include "train/team.h"

#include "train/team_private.h"

int clm__team_size(const clm__team *team) { return team->size; }
int clm__team_local_size(const clm__team *team) { return team->member_count; }

/* ---- weights and slots ---- */

clm_status clm__team_write_weights(clm__team *team, const float *values)
{
  for (int i = 0; i < team->member_count; i++)
    CLM_TRY(clm__replica_write_weights(team->members[i].replica, values));
  team->is_settled = true;
  return CLM_OK;
}

clm_status clm__team_read_weights(clm__team *team, float *values)
{
  CLM_TRY(clm__team_settle(team));
  return clm__replica_read_weights(team->members[0].replica, values);
}

clm_status clm__team_write_slots(clm__team *team, const clm__optim_state *state)
{
  for (int i = 0; i < team->member_count; i++)
    CLM_TRY(clm__replica_write_slots(team->members[i].replica, state));
  return CLM_OK;
}

clm_status clm__team_read_slots(clm__team *team, clm__optim_state *state)
{
  return clm__replica_read_slots(team->members[0].replica, state);
}

/* ---- steps ---- */

void clm__team_part(const clm__team *team, size_t global_count, size_t *first, size_t *count)
{
  const int behind = team->first + team->member_count;
  *first = clm__team_bound(team->shares, team->size, team->first, global_count);
  *count = clm__team_bound(team->shares, team->size, behind, global_count) - *first;
}

/* One replica alone does all on its device. */
static clm_status train_alone(clm__team *team, const clm__team_input *input,
                              clm__replica_result *figures)
{
  clm__replica *replica = team->members[0].replica;
  const clm__batch *batch = input->batch;
  const clm__replica_input part = {.pixels = batch->pixels,
                                   .labels = batch->labels,
                                   .image_ids = batch->samples,
                                   .count = batch->count,
                                   .epoch = input->epoch,
                                   .is_spoiled = input->is_spoiled};
  const clm__replica_update_args update = {.gradient_scale = 1.0F / (float)part.count,
                                           .learning_rate = input->learning_rate,
                                           .iterations = input->iterations};
  clm__trace *trace = team->config.trace;
  double traced = clm__trace_begin(trace);
  CLM_TRY(clm__replica_compute(replica, &part));
  clm__trace_end(trace, traced, &(clm__trace_span){.category = "compute", .name = "enqueue"});
  traced = clm__trace_begin(trace);
  CLM_TRY(clm__replica_update(replica, &update));
  CLM_TRY(clm__replica_finish(replica, figures));
  clm__trace_end(trace, traced, &(clm__trace_span){.category = "compute", .name = "finish"});
  return CLM_OK;
}

clm_status clm__team_train(clm__team *team, const clm__team_input *input, clm__team_result *result)
{
  if (team->size > 1) return clm__team_step(team, input, result);
  if (input->failure != CLM_OK) return input->failure;
  clm__replica_result figures = {.is_finite = true};
  if (input->batch->count > 0) CLM_TRY(train_alone(team, input, &figures));
  *result = (clm__team_result){.loss_sum = figures.loss_sum,
                               .hit_count = (uint64_t)figures.hit_count,
                               .count = (uint64_t)figures.count,
                               .is_finite = figures.is_finite,
                               .wants_stop = input->wants_stop,
                               .wants_save = input->wants_save};
  return CLM_OK;
}

clm_status clm__team_sum(clm__team *team, clm__team_result *result)
{
  if (clm__comm_get_size(team->comm) == 1) return CLM_OK;
  CLM_TRY(clm__team_tell_pending(team));
  clm__team_encode(result, team->figures);
  CLM_TRY(clm__bucket_start(team->figures_bucket));
  CLM_TRY(clm__bucket_wait(team->figures_bucket));
  clm__team_decode(team->figures, result);
  return CLM_OK;
}

/* ---- telling ---- */

uint64_t clm__team_device_bytes(const clm__team *team)
{
  uint64_t bytes = 0;
  for (int i = 0; i < team->member_count; i++)
    bytes += clm__replica_device_bytes(team->members[i].replica);
  return bytes;
}

clm_status clm__team_describe(const clm__team *team, char **text)
{
  return clm__replica_describe(team->members[0].replica, text);
}
