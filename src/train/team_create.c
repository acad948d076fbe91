#include "train/team_private.h"

#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/testswitch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What a rank brings: passed between ranks as it is. */
typedef struct rank_facts {
  int32_t count;
  uint64_t kinds[CLM__TEAM_LOCAL_MAX];
} rank_facts;

clm_status clm__team_count_replicas(clm__comm *comm, int device_count, int *total)
{
  const int ranks = clm__comm_get_size(comm);
  int32_t *counts = NULL;
  CLM_TRY(clm__mem_alloc((size_t)ranks, sizeof *counts, &counts));
  const int32_t own = device_count;
  clm_status status = clm__comm_gather(comm, &own, sizeof own, counts);
  int sum = 0;
  for (int rank = 0; rank < ranks; rank++) sum += counts[rank];
  clm__mem_free(counts);
  CLM_TRY(status);
  *total = sum;
  return CLM_OK;
}

/* ---- who is there ---- */

static uint64_t get_kind(const clm__device_info *info)
{
  uint64_t hash = clm__hash_text(CLM__HASH_START, info->name);
  hash = clm__hash_text(hash, info->platform);
  return clm__hash_bytes(hash, &info->compute_units, sizeof info->compute_units);
}

static void take_facts(clm__team *team, const rank_facts *all)
{
  const int rank = clm__comm_get_rank(team->comm);
  for (int r = 0; r < clm__comm_get_size(team->comm); r++) {
    if (r < rank) team->first += all[r].count;
    team->size += all[r].count;
    team->rank_counts[r] = all[r].count;
    for (int i = 0; i < all[r].count; i++)
      team->is_mixed = team->is_mixed || all[r].kinds[i] != all[0].kinds[0];
  }
}

static clm_status meet(clm__team *team)
{
  const clm__team_config *config = &team->config;
  const size_t ranks = (size_t)clm__comm_get_size(team->comm);
  CLM_TRY(clm__mem_alloc(ranks, CLM__COMM_GATHER_MAX, &team->gathered));
  CLM_TRY(clm__mem_alloc(ranks, sizeof *team->rank_counts, &team->rank_counts));
  rank_facts own = {.count = config->device_count};
  for (int i = 0; i < config->device_count; i++) own.kinds[i] = get_kind(&config->devices[i]->info);
  CLM_TRY(clm__comm_gather(team->comm, &own, sizeof own, team->gathered));
  take_facts(team, team->gathered);
  /* A slow one is of another kind. */
  if (team->slowness > 0.0 && team->size > 1) team->is_mixed = true;
  const size_t size = (size_t)team->size;
  CLM_TRY(clm__mem_alloc(size, sizeof *team->shares, &team->shares));
  CLM_TRY(clm__mem_alloc(size, sizeof *team->new_shares, &team->new_shares));
  CLM_TRY(clm__mem_alloc(size, sizeof *team->speeds, &team->speeds));
  CLM_TRY(clm__mem_alloc(size, sizeof *team->rooms, &team->rooms));
  team->is_measured = config->shares == NULL && team->is_mixed;
  for (size_t i = 0; i < size; i++)
    team->shares[i] = config->shares != NULL ? config->shares[i] : 1.0;
  return CLM_OK;
}

/* ---- replicas ---- */

/* The most images that fall to a replica by some shares. */
static int get_images(const clm__team *team, const double *shares, int place)
{
  double all = 0.0;
  for (int i = 0; i < team->size; i++) all += shares[i];
  const double most = ceil((double)team->config.largest_batch * shares[place] / all - 1e-9);
  return clm__max_int(1, clm__min_int((int)most, (int)team->config.largest_batch));
}

static int get_most_images(const clm__team *team, int place)
{
  int most = get_images(team, team->shares, place);
  for (int set = 1; set < team->config.share_sets; set++)
    most = clm__max_int(
        most, get_images(team, team->config.shares + (size_t)set * (size_t)team->size, place));
  return most;
}

static clm_status try_replica(clm__team *team, team_member *member, int batch_max)
{
  clm__replica_config config = team->config.replica;
  config.device = member->device;
  config.batch_max = batch_max;
  config.parts = member->places;
  config.part_count = team->part_count;
  config.gradients = member->lends ? member->gradients : NULL;
  if (team->size == 1) config.join = CLM__JOIN_NOTHING;
  config.on_joint = clm__team_join;
  config.joint_user = member;
  CLM_TRY(clm__replica_create(&config, &member->replica));
  member->batch_max = batch_max;
  return CLM_OK;
}

/* Where shares are measured any replica may be given most of a batch, if it has the memory. */
static clm_status make_replica(clm__team *team, team_member *member)
{
  const int most = get_most_images(team, team->first + member->index);
  if (!team->is_measured) return try_replica(team, member, most);
  const clm_status status = try_replica(team, member, (int)team->config.largest_batch);
  if (status != CLM_DEVICE_MEMORY) return status;
  clm__log(team->config.replica.log, CLM_LOG_DETAIL, "%s takes no more than %d images: %s",
           member->device->info.id, most, clm_error_last()->message);
  clm_error_clear();
  return try_replica(team, member, most);
}

static clm_status make_averages(clm__team *team)
{
  const size_t untrained = team->layout->elements - team->layout->trainable_elements;
  CLM_TRY(clm__mem_alloc(team->layout->elements, sizeof(float), &team->values));
  CLM_TRY(clm__mem_alloc(untrained, sizeof(float), &team->averages));
  const clm__bucket_config averages = {.values = team->averages, .count = untrained};
  return clm__bucket_create(team->comm, &averages, &team->averages_bucket);
}

static clm_status make_own(clm__team *team)
{
  if (team->size > 1) {
    CLM_TRY(clm__team_make_parts(team));
    CLM_TRY(make_averages(team));
  }
  const clm__bucket_config figures = {.values = team->figures, .count = FIGURE_COUNT};
  CLM_TRY(clm__bucket_create(team->comm, &figures, &team->figures_bucket));
  for (int i = 0; i < team->member_count; i++) CLM_TRY(make_replica(team, &team->members[i]));
  CLM_TRY(clm__team_make_joints(team));
  return clm__team_start_threads(team);
}

static clm_status make_members(clm__team *team)
{
  const clm__team_config *config = &team->config;
  CLM_REQUIRE(config->device_count <= CLM__TEAM_LOCAL_MAX, CLM_USAGE,
              "%d devices were chosen for one process; at most %d can be used, start more ranks",
              config->device_count, CLM__TEAM_LOCAL_MAX);
  team->member_count = config->device_count;
  CLM_TRY(clm__mem_alloc((size_t)config->device_count, sizeof *team->members, &team->members));
  for (int i = 0; i < config->device_count; i++)
    team->members[i] = (team_member){.team = team, .index = i, .device = config->devices[i]};
  for (int i = 1; i < config->device_count; i++) {
    char name[32];
    (void)snprintf(name, sizeof name, "replica %d", i);
    team->members[i].lane = clm__trace_add_lane(config->trace, name);
  }
  return CLM_OK;
}

/* The rooms of all replicas, so that every rank limits shares in the same way. */
static clm_status tell_rooms(clm__team *team)
{
  int32_t own[CLM__TEAM_LOCAL_MAX] = {0};
  for (int i = 0; i < team->member_count; i++) own[i] = team->members[i].batch_max;
  CLM_TRY(clm__comm_gather(team->comm, own, sizeof own, team->gathered));
  const int32_t *all = team->gathered;
  int place = 0;
  for (int rank = 0; rank < clm__comm_get_size(team->comm); rank++)
    for (int i = 0; i < team->rank_counts[rank]; i++)
      team->rooms[place++] = all[rank * CLM__TEAM_LOCAL_MAX + i];
  return CLM_OK;
}

static clm_status make_team(clm__team *team)
{
  CLM_TRY(clm__comm_agree_last(team->comm, make_members(team)));
  CLM_TRY(meet(team));
  if (team->size > 1) {
    CLM_TRY(clm__comm_agree_last(team->comm, clm__team_cut_parts(team)));
    CLM_TRY(clm__team_open_window(team));
  }
  CLM_TRY(clm__comm_agree_last(team->comm, make_own(team)));
  return tell_rooms(team);
}

clm_status clm__team_create(const clm__team_config *config, clm__team **team)
{
  CLM_ASSERT(config->device_count >= 1 && config->batch_size >= 1 && config->largest_batch >= 1);
  clm__team *made = NULL;
  CLM_TRY(clm__mem_alloc(1, sizeof *made, &made));
  made->config = *config;
  made->comm = config->comm;
  made->layout = config->replica.weights;
  made->is_settled = true;
  made->next_look = 1;
  made->failing_step = clm__testswitch_number("CLEMATIS_TEST_FAIL_DEVICE", 0);
  made->slowness = (double)clm__testswitch_number("CLEMATIS_TEST_SLOW_DEVICE", 0);
  const clm_status status = make_team(made);
  made->config.shares = NULL;
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
  clm__team_stop_threads(team);
  for (int i = 0; i < team->member_count; i++) clm__replica_destroy(team->members[i].replica);
  clm__team_free_joints(team);
  clm__team_free_parts(team);
  clm__bucket_destroy(team->figures_bucket);
  clm__bucket_destroy(team->averages_bucket);
  clm__mem_free(team->averages);
  clm__mem_free(team->values);
  clm__mem_free(team->rooms);
  clm__mem_free(team->speeds);
  clm__mem_free(team->new_shares);
  clm__mem_free(team->shares);
  clm__mem_free(team->rank_counts);
  clm__mem_free(team->gathered);
  clm__mem_free(team->members);
  clm__mem_free(team);
}
