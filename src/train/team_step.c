#include "train/team_private.h"

#include "base/mem.h"
#include "base/num.h"
#include "sys/clock.h"

#include <time.h>

/* While backward runs the first thread looks after the sums between ranks this often. */
enum { POLL_NANOSECONDS = 200 * 1000 };

static void rest(long nanoseconds)
{
  (void)nanosleep(
      &(struct timespec){.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000},
      NULL);
}

static bool is_shared_between_ranks(const clm__team *team)
{
  return clm__comm_get_size(team->comm) > 1;
}

/* A network that fails is remembered there: the next start or wait tells. */
static void poll_ranks(clm__team *team)
{
  if (clm__comm_poll(team->comm) != CLM_OK) clm_error_clear();
}

/* ---- up to the last gradient ---- */

clm_status clm__team_fail_on_request(const clm__team *team, const team_member *member)
{
  const bool is_asked =
      team->failing_step == team->steps + 1 && team->first + member->index == team->size - 1;
  CLM_REQUIRE(!is_asked, CLM_DEVICE_FAILED, "device %s (%s) failed because a test wants it to",
              member->device->info.id, member->device->info.name);
  return CLM_OK;
}

/* Whether a sum before `part` is on its way between the ranks, or will be without this member. */
static bool has_sums_before(clm__team *team, int part)
{
  bool found = false;
  (void)pthread_mutex_lock(&team->lock);
  for (int i = 0; i < part && !found; i++)
    found = team->parts[i].state == PART_COMING || !clm__bucket_is_done(team->parts[i].bucket);
  (void)pthread_mutex_unlock(&team->lock);
  return found;
}

/* The first member looks after the sums meanwhile; where there is none it leaves the processor to
 * the kernels. */
static clm_status await_part(clm__team *team, team_member *member, int part)
{
  const bool is_first = member->index == 0 && is_shared_between_ranks(team);
  while (is_first && has_sums_before(team, part)) {
    bool is_there = false;
    CLM_TRY(clm__replica_ask_part(member->replica, part, &is_there));
    if (is_there) return CLM_OK;
    poll_ranks(team);
    rest(POLL_NANOSECONDS);
  }
  return clm__replica_wait_part(member->replica, part);
}

/* A test wants the job's last replica to be slow. */
static void slow_down(const clm__team *team, const team_member *member)
{
  if (!(team->slowness > 1.0) || team->first + member->index != team->size - 1) return;
  const double seconds = clm__clock_seconds() - member->begin_seconds;
  if (member->input.count > 0) rest((long)(1e9 * (team->slowness - 1.0) * seconds));
}

static void note_figures(team_member *member)
{
  member->figures = (clm__replica_result){.is_finite = true};
  if (member->input.count == 0 || member->has_failed || member->gave_up) return;
  const double seconds = clm__clock_seconds() - member->begin_seconds - member->joint_seconds;
  clm__replica_get_figures(member->replica, &member->figures);
  member->busy_seconds += seconds;
  member->lately_seconds += seconds;
  member->images += (uint64_t)member->input.count;
  member->lately_images += (uint64_t)member->input.count;
  member->unsettled_images += (uint64_t)member->input.count;
}

static clm_status compute(clm__team *team, team_member *member)
{
  CLM_TRY(clm__replica_compute(member->replica, &member->input));
  return clm__team_fail_on_request(team, member);
}

/* The same, and no other replica waits in a joint for one that has failed. */
static clm_status compute_for_all(clm__team *team, team_member *member)
{
  const clm_status status = compute(team, member);
  if (status == CLM_OK) return CLM_OK;
  if (member->gave_up) {
    clm_error_clear();
    return CLM_OK;
  }
  const clm_error failure = *clm_error_last();
  clm__team_fail_joint(team, member);
  return clm__error_raise(&failure);
}

clm_status clm__team_bring_ready(clm__team *team, team_member *member)
{
  while (member->parts_brought < team->part_count - 1) {
    bool is_there = false;
    CLM_TRY(clm__replica_ask_part(member->replica, member->parts_brought, &is_there));
    if (!is_there) return CLM_OK;
    clm__team_arrive(team, member->parts_brought++);
  }
  return CLM_OK;
}

/* Brings all parts, come what may: the others wait for them. */
static clm_status bring_gradients(clm__team *team, team_member *member)
{
  member->begin_seconds = clm__clock_seconds();
  clm_status status = compute_for_all(team, member);
  while (member->parts_brought < team->part_count) {
    const int part = member->parts_brought++;
    if (status == CLM_OK && !member->gave_up) status = await_part(team, member, part);
    if (part == team->part_count - 1) {
      slow_down(team, member);
      member->has_failed = status != CLM_OK;
      note_figures(member);
    }
    clm__team_arrive(team, part);
  }
  return status;
}

/* ---- behind the sums ---- */

bool clm__team_has_link_failed(clm__team *team)
{
  (void)pthread_mutex_lock(&team->lock);
  const bool has_failed = team->link_failure.status != CLM_OK;
  (void)pthread_mutex_unlock(&team->lock);
  return has_failed;
}

static void await_start(clm__team *team, const team_part *part)
{
  (void)pthread_mutex_lock(&team->lock);
  while (part->state == PART_COMING) {
    if (!is_shared_between_ranks(team)) {
      (void)pthread_cond_wait(&team->changed, &team->lock);
      continue;
    }
    (void)pthread_mutex_unlock(&team->lock);
    poll_ranks(team);
    rest(POLL_NANOSECONDS);
    (void)pthread_mutex_lock(&team->lock);
  }
  (void)pthread_mutex_unlock(&team->lock);
}

static void decide(clm__team *team, const float *figures)
{
  clm__team_decode(figures, &team->total);
  team->has_failed = figures[FIGURE_FAILURE] != 0.0F;
  team->updates = !team->has_failed && team->total.is_finite && team->total.count > 0;
}

/* The first member completes the sums over the ranks for all. */
static void complete_part(clm__team *team, int index)
{
  team_part *part = &team->parts[index];
  await_start(team, part);
  clm_status status = CLM_OK;
  if (!clm__team_has_link_failed(team)) status = clm__bucket_wait(part->bucket);
  (void)pthread_mutex_lock(&team->lock);
  if (status != CLM_OK) team->link_failure = *clm_error_last();
  if (index == team->part_count - 1 && team->link_failure.status == CLM_OK)
    decide(team, part->sum + part->count);
  part->state = PART_DONE;
  (void)pthread_cond_broadcast(&team->changed);
  (void)pthread_mutex_unlock(&team->lock);
}

static void await_sum(clm__team *team, team_member *member, int index)
{
  if (member->index == 0) {
    complete_part(team, index);
    return;
  }
  (void)pthread_mutex_lock(&team->lock);
  while (team->parts[index].state != PART_DONE)
    (void)pthread_cond_wait(&team->changed, &team->lock);
  (void)pthread_mutex_unlock(&team->lock);
}

static void end_span(const clm__team *team, const team_member *member, double begin,
                     const char *category, const char *name)
{
  clm__trace_end(team->config.trace, begin,
                 &(clm__trace_span){.category = category, .name = name, .lane = member->lane});
}

static clm_status update(clm__team *team, team_member *member)
{
  const clm__replica_update_args args = {.gradient_scale = 1.0F / (float)team->total.count,
                                         .learning_rate = team->input->learning_rate,
                                         .iterations = team->input->iterations};
  const double traced = clm__trace_begin(team->config.trace);
  if (!clm__team_has_link_failed(team) && team->updates)
    CLM_TRY(clm__replica_update(member->replica, &args));
  CLM_TRY(clm__replica_finish(member->replica, &member->figures));
  end_span(team, member, traced, "optimizer", "update");
  return CLM_OK;
}

static clm_status step_member(clm__team *team, team_member *member)
{
  double traced = clm__trace_begin(team->config.trace);
  clm_status status = bring_gradients(team, member);
  end_span(team, member, traced, "compute", "gradients");
  clm_error failure = {.status = CLM_OK};
  if (status != CLM_OK) failure = *clm_error_last();
  const double begin = clm__clock_seconds();
  traced = clm__trace_begin(team->config.trace);
  for (int i = 0; i < team->part_count; i++) {
    await_sum(team, member, i);
    if (status == CLM_OK && !clm__team_has_link_failed(team))
      status = clm__replica_write_part(member->replica, i, team->parts[i].sum);
  }
  end_span(team, member, traced, "reduce", "wait for sums");
  if (member->index == 0) team->exposed_seconds += clm__clock_seconds() - begin;
  if (!member->has_failed) {
    CLM_TRY(status);
    return update(team, member);
  }
  /* Nothing of this step may still be on its way when the replica is destroyed. */
  if (clm__device_finish(member->device) != CLM_OK) clm_error_clear();
  return clm__error_raise(&failure);
}

/* ---- the whole step ---- */

static void deal_input(clm__team *team, const clm__team_input *input)
{
  const clm__batch *batch = input->batch;
  int counts[CLM__TEAM_LOCAL_MAX] = {0};
  bool spoils = input->is_spoiled;
  size_t first = 0;
  if (input->failure == CLM_OK && batch != NULL) clm__team_deal(team, (size_t)batch->count, counts);
  const size_t image_floats = clm__shape_elements(&team->config.replica.graph->input_shape);
  for (int i = 0; i < team->member_count; i++) {
    clm__replica_input *part = &team->members[i].input;
    *part = (clm__replica_input){.count = counts[i], .epoch = input->epoch};
    if (counts[i] == 0) continue;
    part->pixels = batch->pixels + first * image_floats;
    part->labels = batch->labels + first;
    part->image_ids = batch->samples + first;
    part->is_spoiled = spoils;
    spoils = false;
    first += (size_t)counts[i];
  }
}

static void begin_step(clm__team *team, const clm__team_input *input)
{
  team->input = input;
  team->has_failed = false;
  team->updates = false;
  team->joints_done = 0;
  team->joint_arrived = 0;
  team->joint_images = 0;
  team->is_void = false;
  for (int i = 0; i < team->part_count; i++) {
    team->parts[i].arrived = 0;
    team->parts[i].state = PART_COMING;
  }
  for (int i = 0; i < team->member_count; i++) {
    team_member *member = &team->members[i];
    member->has_failed = member->gave_up = false;
    member->parts_brought = member->joints_met = 0;
    member->joint_seconds = 0.0;
  }
  deal_input(team, input);
}

/* This rank's own failure, the worst first: what the caller brought, then the members'. */
static clm_status raise_own(const clm__team *team, const clm_error *brought)
{
  if (brought->status != CLM_OK) return clm__error_raise(brought);
  if (team->pending.status != CLM_OK) return clm__error_raise(&team->pending);
  return clm__team_check_members(team);
}

static clm_status agree(clm__team *team, const clm_error *brought)
{
  const clm_status own = raise_own(team, brought);
  if (!is_shared_between_ranks(team)) return own;
  const clm_error error = *clm_error_last();
  CLM_TRY(clm__comm_agree(team->comm, own, error.message));
  CLM_FAIL(CLM_INTERNAL, "a rank failed in a step and does not say why");
}

/* Behind the last sum the others go on: they learn of a failure in the next step. */
static clm_status end_step(clm__team *team)
{
  const clm_status status = clm__team_check_members(team);
  if (status == CLM_OK) {
    if (team->updates) team->total.is_finite = team->members[0].figures.is_finite;
    return CLM_OK;
  }
  if (!is_shared_between_ranks(team)) return status;
  team->pending = *clm_error_last();
  clm_error_clear();
  return CLM_OK;
}

static void count_step(clm__team *team, double seconds)
{
  team->steps++;
  team->is_settled = false;
  if (team->steps > 1) {
    team->timed_steps++;
    team->step_seconds += seconds;
    return;
  }
  team->exposed_seconds = 0.0;
  for (int i = 0; i < team->member_count; i++) {
    team->members[i].busy_seconds = 0.0;
    team->members[i].images = 0;
  }
}

clm_status clm__team_step(clm__team *team, const clm__team_input *input, clm__team_result *result)
{
  clm_error brought = {.status = CLM_OK};
  if (input->failure != CLM_OK) brought = *clm_error_last();
  brought.status = input->failure;
  const double begin = clm__clock_seconds();
  begin_step(team, input);
  clm__team_run(team, step_member);
  team->input = NULL;
  count_step(team, clm__clock_seconds() - begin);
  if (team->link_failure.status != CLM_OK) return clm__error_raise(&team->link_failure);
  if (team->has_failed) return agree(team, &brought);
  CLM_TRY(end_step(team));
  team->unsettled_images += team->total.count;
  *result = team->total;
  return clm__team_look_at_shares(team, &result->shares_changed);
}

/* ---- evaluation ---- */

static clm_status evaluate_member(clm__team *team, team_member *member)
{
  (void)team;
  member->figures = (clm__replica_result){.is_finite = true};
  CLM_TRY(clm__replica_evaluate(member->replica, &member->input));
  return clm__replica_finish(member->replica, &member->figures);
}

static clm_status build_member(clm__team *team, team_member *member)
{
  (void)team;
  return clm__replica_build_evaluation(member->replica);
}

clm_status clm__team_build_evaluation(clm__team *team)
{
  clm__team_run(team, build_member);
  return clm__team_check_members(team);
}

/* The most images that the members take at once. */
static size_t get_room(const clm__team *team)
{
  size_t room = 0;
  for (int i = 0; i < team->member_count; i++) room += (size_t)team->members[i].batch_max;
  return room;
}

static clm_status evaluate_some(clm__team *team, const clm__batch *batch, clm__team_result *sums)
{
  const clm__team_input input = {.batch = batch};
  deal_input(team, &input);
  for (int i = 0; i < team->member_count; i++) team->members[i].input.image_ids = NULL;
  clm__team_run(team, evaluate_member);
  CLM_TRY(clm__team_check_members(team));
  for (int i = 0; i < team->member_count; i++) {
    sums->loss_sum += team->members[i].figures.loss_sum;
    sums->hit_count += (uint64_t)team->members[i].figures.hit_count;
    sums->count += (uint64_t)team->members[i].figures.count;
  }
  return CLM_OK;
}

clm_status clm__team_evaluate(clm__team *team, const clm__batch *batch, clm__team_result *result)
{
  const size_t image_floats = clm__shape_elements(&team->config.replica.graph->input_shape);
  const size_t room = get_room(team);
  clm__team_result sums = {.is_finite = true};
  for (size_t first = 0; first < (size_t)batch->count; first += room) {
    clm__batch some = *batch;
    some.pixels += first * image_floats;
    some.labels += first;
    some.samples += first;
    some.count = (int)clm__min_size((size_t)batch->count - first, room);
    CLM_TRY(evaluate_some(team, &some, &sums));
  }
  *result = sums;
  return CLM_OK;
}
