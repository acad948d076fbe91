#include "train/team_private.h"

#include "base/mem.h"
#include "base/num.h"
#include "sys/clock.h"

#include <string.h>

/* What a rank brings to a joint: figures over the images of its replicas [2,channels], and before
 * them: */
enum { SLOT_IMAGES_LOW, SLOT_IMAGES_HIGH, SLOT_FAILURE, SLOT_FIGURES };

/* ---- making ready ---- */

static size_t slot_floats(const team_joint *joint) { return SLOT_FIGURES + 2 * joint->channels; }

static size_t slots_floats(const clm__team *team, const team_joint *joint)
{
  return (size_t)clm__comm_get_size(team->comm) * slot_floats(joint);
}

static clm_status make_joint(clm__team *team, const clm__joint *place, team_joint *joint)
{
  joint->kind = place->kind;
  joint->channels = place->channels;
  const size_t count = slots_floats(team, joint);
  CLM_TRY(clm__mem_alloc(count, sizeof *joint->slots, &joint->slots));
  CLM_TRY(clm__mem_alloc(2 * joint->channels, sizeof *joint->figures, &joint->figures));
  const clm__bucket_config bucket = {
      .values = joint->slots, .count = count, .trace = team->config.trace, .name = "statistics"};
  return clm__bucket_create(team->comm, &bucket, &joint->bucket);
}

clm_status clm__team_make_joints(clm__team *team)
{
  const clm__replica *replica = team->members[0].replica;
  const int count = clm__replica_joint_count(replica);
  size_t channels = 0;
  CLM_TRY(clm__mem_alloc((size_t)count, sizeof *team->joints, &team->joints));
  team->joint_count = count;
  for (int i = 0; i < count; i++) {
    CLM_TRY(make_joint(team, clm__replica_joint(replica, i), &team->joints[i]));
    channels = clm__max_size(channels, team->joints[i].channels);
  }
  return clm__mem_alloc(2 * channels, sizeof *team->joint_scratch, &team->joint_scratch);
}

void clm__team_free_joints(clm__team *team)
{
  for (int i = 0; i < team->joint_count; i++) {
    clm__bucket_destroy(team->joints[i].bucket);
    clm__mem_free(team->joints[i].figures);
    clm__mem_free(team->joints[i].slots);
  }
  clm__mem_free(team->joint_scratch);
  clm__mem_free(team->joints);
}

/* ---- joining ---- */

static clm__joint_total begin_total(const clm__team *team, const team_joint *joint)
{
  clm__joint_total total = {
      .kind = joint->kind, .channels = joint->channels, .figures = team->joint_scratch};
  clm__joint_begin(&total);
  return total;
}

/* What the replicas of this rank bring, in their order, whoever came last. */
static void fill_slot(clm__team *team, const team_joint *joint)
{
  clm__joint_total total = begin_total(team, joint);
  bool has_failed = team->input->failure != CLM_OK || team->pending.status != CLM_OK;
  for (int i = 0; i < team->member_count; i++) {
    const team_member *member = &team->members[i];
    has_failed = has_failed || member->has_failed;
    if (member->figures_brought != NULL)
      clm__joint_add(&total, member->figures_brought, (uint64_t)member->input.count);
  }
  memset(joint->slots, 0, slots_floats(team, joint) * sizeof *joint->slots);
  float *slot = joint->slots + (size_t)clm__comm_get_rank(team->comm) * slot_floats(joint);
  clm__team_encode_count(total.images, &slot[SLOT_IMAGES_LOW], &slot[SLOT_IMAGES_HIGH]);
  slot[SLOT_FAILURE] = has_failed ? 1.0F : 0.0F;
  clm__joint_store(&total, slot + SLOT_FIGURES);
}

/* Joins what the ranks have brought, in their order; answers whether none has failed. */
static bool join_ranks(clm__team *team, const team_joint *joint, uint64_t *images)
{
  clm__joint_total total = begin_total(team, joint);
  bool has_failed = false;
  const float *slot = joint->slots;
  for (int rank = 0; rank < clm__comm_get_size(team->comm); rank++, slot += slot_floats(joint)) {
    has_failed = has_failed || slot[SLOT_FAILURE] != 0.0F;
    clm__joint_add(&total, slot + SLOT_FIGURES,
                   clm__team_decode_count(slot[SLOT_IMAGES_LOW], slot[SLOT_IMAGES_HIGH]));
  }
  clm__joint_store(&total, joint->figures);
  *images = total.images;
  return !has_failed;
}

static clm_status exchange(clm__team *team, const team_joint *joint)
{
  fill_slot(team, joint);
  CLM_TRY(clm__bucket_start(joint->bucket));
  return clm__bucket_wait(joint->bucket);
}

/* Done by the last replica of this rank to come, for all. */
static void complete_joint(clm__team *team, int index)
{
  const team_joint *joint = &team->joints[index];
  uint64_t images = 0;
  clm_status status = CLM_OK;
  bool goes_on = false;
  if (!clm__team_has_link_failed(team)) {
    status = exchange(team, joint);
    if (status == CLM_OK) goes_on = join_ranks(team, joint, &images);
  }
  (void)pthread_mutex_lock(&team->lock);
  if (status != CLM_OK) team->link_failure = *clm_error_last();
  team->is_void = !goes_on;
  team->joint_images = images;
  team->joints_done = index + 1;
  (void)pthread_cond_broadcast(&team->changed);
  (void)pthread_mutex_unlock(&team->lock);
}

/* Waits until every replica of the job has come to this member's next joint. */
static void meet(clm__team *team, team_member *member, const float *own)
{
  const double begin = clm__clock_seconds();
  const double traced = clm__trace_begin(team->config.trace);
  const int index = member->joints_met++;
  (void)pthread_mutex_lock(&team->lock);
  member->figures_brought = own;
  const bool is_last = ++team->joint_arrived == team->member_count;
  if (is_last) team->joint_arrived = 0;
  while (!is_last && team->joints_done <= index)
    (void)pthread_cond_wait(&team->changed, &team->lock);
  (void)pthread_mutex_unlock(&team->lock);
  if (is_last) complete_joint(team, index);
  clm__trace_end(team->config.trace, traced,
                 &(clm__trace_span){
                     .category = "reduce", .name = "wait for statistics", .lane = member->lane});
  member->joint_seconds += clm__clock_seconds() - begin;
}

/* What was agreed in the last joint stays until this member comes to the next one. */
clm_status clm__team_join(void *user, int joint, const float *own, clm__joined *joined)
{
  team_member *member = user;
  clm__team *team = member->team;
  CLM_ASSERT(joint == member->joints_met);
  if (joint == team->joint_count / 2) CLM_TRY(clm__team_fail_on_request(team, member));
  CLM_TRY(clm__team_bring_ready(team, member));
  meet(team, member, own);
  member->gave_up = team->is_void;
  CLM_REQUIRE(!member->gave_up, CLM_PEER_FAILED, "another replica of the job has failed");
  *joined = (clm__joined){.figures = team->joints[joint].figures, .images = team->joint_images};
  return CLM_OK;
}

void clm__team_fail_joint(clm__team *team, team_member *member)
{
  if (member->joints_met == team->joint_count) return;
  member->has_failed = true;
  meet(team, member, NULL);
  member->gave_up = true;
}
