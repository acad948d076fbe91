#include "train/team_private.h"

#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"

#include <string.h>

static bool has_ranks(const clm__team *team) { return clm__comm_get_size(team->comm) > 1; }

static size_t untrained_elements(const clm__team *team)
{
  return team->layout->elements - team->layout->trainable_elements;
}

clm_status clm__team_tell_pending(clm__team *team)
{
  if (!has_ranks(team)) return CLM_OK;
  const clm_status status =
      team->pending.status != CLM_OK ? clm__error_raise(&team->pending) : CLM_OK;
  return clm__comm_agree_last(team->comm, status);
}

/* What the replicas of a rank hold. */
typedef struct holdings {
  uint64_t digest; /* of the first replica's trained weights */
  bool differ;     /* those of another one are not the same */
} holdings;

/* Adds a replica's moving averages to the sum, weighted by the images that made them. */
static void add_averages(clm__team *team, const team_member *member)
{
  const float *untrained = team->values + team->layout->trainable_elements;
  const float weight =
      team->unsettled_images > 0
          ? (float)((double)member->unsettled_images / (double)team->unsettled_images)
          : 0.0F;
  for (size_t i = 0; i < untrained_elements(team); i++) team->averages[i] += weight * untrained[i];
}

static clm_status read_members(clm__team *team, holdings *held)
{
  memset(team->averages, 0, untrained_elements(team) * sizeof(float));
  for (int i = 0; i < team->member_count; i++) {
    const team_member *member = &team->members[i];
    CLM_TRY(clm__replica_read_weights(member->replica, team->values));
    const uint64_t digest = clm__hash_bytes(CLM__HASH_START, team->values,
                                            team->layout->trainable_elements * sizeof(float));
    if (i == 0) held->digest = digest;
    held->differ = held->differ || digest != held->digest;
    add_averages(team, member);
  }
  return CLM_OK;
}

static clm_status write_members(clm__team *team)
{
  if (team->unsettled_images > 0)
    memcpy(team->values + team->layout->trainable_elements, team->averages,
           untrained_elements(team) * sizeof(float));
  for (int i = 0; i < team->member_count; i++) {
    CLM_TRY(clm__replica_write_weights(team->members[i].replica, team->values));
    team->members[i].unsettled_images = 0;
  }
  team->unsettled_images = 0;
  team->is_settled = true;
  return CLM_OK;
}

static clm_status find_drift(clm__team *team, const holdings *own, bool *drifted)
{
  const int ranks = clm__comm_get_size(team->comm);
  CLM_TRY(clm__comm_gather(team->comm, own, sizeof *own, team->gathered));
  const holdings *all = team->gathered;
  bool found = false;
  for (int rank = 0; rank < ranks; rank++)
    found = found || all[rank].differ || all[rank].digest != all[0].digest;
  *drifted = found;
  return CLM_OK;
}

/* Devices of different kinds round differently, so a little drift is no fault there. */
static clm_status mend_drift(clm__team *team)
{
  if (clm__comm_get_rank(team->comm) == 0)
    clm__log(team->config.replica.log, team->is_mixed ? CLM_LOG_DETAIL : CLM_LOG_WARNING,
             "the weights of the replicas are no longer the same after step %llu; those of the "
             "first one are given to all",
             (unsigned long long)team->steps);
  const clm_status status = clm__replica_read_weights(team->members[0].replica, team->values);
  CLM_TRY(clm__comm_agree_last(team->comm, status));
  return clm__comm_broadcast(team->comm, team->values, team->layout->elements * sizeof(float));
}

clm_status clm__team_settle(clm__team *team)
{
  if (team->size == 1 || team->is_settled) return CLM_OK;
  CLM_TRY(clm__team_tell_pending(team));
  holdings own = {0};
  bool drifted = false;
  CLM_TRY(clm__comm_agree_last(team->comm, read_members(team, &own)));
  CLM_TRY(clm__bucket_start(team->averages_bucket));
  CLM_TRY(clm__bucket_wait(team->averages_bucket));
  CLM_TRY(find_drift(team, &own, &drifted));
  if (drifted) CLM_TRY(mend_drift(team));
  return clm__comm_agree_last(team->comm, write_members(team));
}
