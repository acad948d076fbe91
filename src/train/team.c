#include "train/team.h"

#include "base/mem.h"
#include "base/num.h"

struct clm__team {
  clm__comm *comm;
  clm__replica *replica;
};

clm_status clm__team_create(const clm__team_config *config, clm__team **team)
{
  CLM_ASSERT(config->device_count >= 1);
  clm__team *made = NULL;
  CLM_TRY(clm__mem_alloc(1, sizeof *made, &made));
  made->comm = config->comm;
  clm__replica_config replica = config->replica;
  replica.device = config->devices[0];
  replica.batch_max = (int)clm__min_size((size_t)config->batch_size, config->largest_batch);
  const clm_status status = clm__replica_create(&replica, &made->replica);
  if (status != CLM_OK) {
    clm__team_destroy(made);
    return status;
  }
  *team = made;
  return CLM_OK;
}

void clm__team_destroy(clm__team *team)
{
  if (team == NULL) return;
  clm__replica_destroy(team->replica);
  clm__mem_free(team);
}

int clm__team_size(const clm__team *team) { return clm__comm_get_size(team->comm); }

int clm__team_local_size(const clm__team *team)
{
  (void)team;
  return 1;
}

clm_status clm__team_write_weights(clm__team *team, const float *values)
{
  return clm__replica_write_weights(team->replica, values);
}

clm_status clm__team_read_weights(clm__team *team, float *values)
{
  return clm__replica_read_weights(team->replica, values);
}

clm_status clm__team_write_slots(clm__team *team, const clm__optim_state *state)
{
  return clm__replica_write_slots(team->replica, state);
}

clm_status clm__team_read_slots(clm__team *team, clm__optim_state *state)
{
  return clm__replica_read_slots(team->replica, state);
}

void clm__team_part(const clm__team *team, size_t global_count, size_t *first, size_t *count)
{
  (void)team;
  *first = 0;
  *count = global_count;
}

static clm__team_result to_result(const clm__replica_result *figures)
{
  return (clm__team_result){.loss_sum = figures->loss_sum,
                            .hit_count = (uint64_t)figures->hit_count,
                            .count = (uint64_t)figures->count,
                            .is_finite = figures->is_finite};
}

static clm__replica_input to_input(const clm__batch *batch)
{
  return (clm__replica_input){.pixels = batch->pixels,
                              .labels = batch->labels,
                              .image_ids = batch->samples,
                              .count = batch->count};
}

static clm_status train_alone(clm__team *team, const clm__team_input *input,
                              clm__replica_result *figures)
{
  clm__replica_input part = to_input(input->batch);
  part.epoch = input->epoch;
  part.is_spoiled = input->is_spoiled;
  const clm__replica_update_args update = {.gradient_scale = 1.0F / (float)part.count,
                                           .learning_rate = input->learning_rate,
                                           .iterations = input->iterations};
  CLM_TRY(clm__replica_compute(team->replica, &part));
  CLM_TRY(clm__replica_update(team->replica, &update));
  return clm__replica_finish(team->replica, figures);
}

clm_status clm__team_train(clm__team *team, const clm__team_input *input, clm__team_result *result)
{
  if (input->failure != CLM_OK) return input->failure;
  clm__replica_result figures = {.is_finite = true};
  if (input->batch->count > 0) CLM_TRY(train_alone(team, input, &figures));
  *result = to_result(&figures);
  result->wants_stop = input->wants_stop;
  return CLM_OK;
}

clm_status clm__team_evaluate(clm__team *team, const clm__batch *batch, clm__team_result *result)
{
  clm__replica_result figures;
  clm__replica_input part = to_input(batch);
  part.image_ids = NULL;
  CLM_TRY(clm__replica_evaluate(team->replica, &part));
  CLM_TRY(clm__replica_finish(team->replica, &figures));
  *result = to_result(&figures);
  return CLM_OK;
}

clm_status clm__team_sum(clm__team *team, clm__team_result *result)
{
  (void)team;
  (void)result;
  return CLM_OK;
}

uint64_t clm__team_device_bytes(const clm__team *team)
{
  return clm__replica_device_bytes(team->replica);
}

clm_status clm__team_describe(const clm__team *team, char **text)
{
  return clm__replica_describe(team->replica, text);
}
