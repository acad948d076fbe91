#include "train/team_private.h"

#include "base/mem.h"
#include "base/num.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Floats. Smaller parts cost more messages than they hide, larger ones hide less. */
enum { PART_LEAST = 64 * 1024, PART_MOST = 1024 * 1024, PART_ALIGN = 16 };

/* ---- the cut ---- */

/* The largest beginning of a weight below `end`; 0 where there is none. */
static size_t find_start(const clm__weights *layout, size_t end)
{
  size_t start = 0;
  for (int i = 0; i < layout->count; i++) {
    const clm__weight *weight = &layout->items[i];
    if (weight->trainable && weight->offset < end && weight->offset > start) start = weight->offset;
  }
  return start;
}

/* Where the part that ends at `end` begins: at a weight, once it is large enough. */
static size_t find_first(const clm__weights *layout, size_t end)
{
  size_t first = end;
  while (first > 0 && end - first < PART_LEAST) first = find_start(layout, first);
  return end - first > PART_MOST ? end - PART_MOST : first;
}

/* Fills places where it is not NULL; returns the number of parts, at least 1. */
static int cut(const clm__weights *layout, clm__gradient_part *places)
{
  int count = 0;
  size_t end = layout->trainable_elements;
  do {
    const size_t first = end > 0 ? find_first(layout, end) : 0;
    if (places != NULL) places[count] = (clm__gradient_part){.first = first, .count = end - first};
    count++;
    end = first;
  } while (end > 0);
  return count;
}

static size_t place_elements(const clm__team *team, int part, const clm__gradient_part *place)
{
  const size_t behind = part == team->part_count - 1 ? FIGURE_COUNT : 0;
  return clm__round_up(place->count + behind, PART_ALIGN);
}

/* A CPU computes in the host's memory, so that its gradients need no copy. But figures ride behind
 * the last part, where the flat array has the next weights: that one is copied. */
static bool is_lent(const team_member *member, int part)
{
  return member->lends && part < member->team->part_count - 1;
}

/* Elements of the flat array that the device computes in, at the beginning of the memory. */
static size_t flat_elements(const team_member *member)
{
  const size_t trainable = member->team->layout->trainable_elements;
  return member->lends ? clm__round_up(trainable, PART_ALIGN) : 0;
}

static void lay_out(const clm__team *team, team_member *member)
{
  float *next = member->gradients + flat_elements(member);
  for (int i = 0; i < team->part_count; i++) {
    clm__gradient_part *place = &member->places[i];
    place->target = is_lent(member, i) ? member->gradients + place->first : next;
    if (!is_lent(member, i)) next += place_elements(team, i, place);
  }
}

static size_t gradient_elements(const team_member *member)
{
  size_t elements = flat_elements(member);
  for (int i = 0; i < member->team->part_count; i++)
    if (!is_lent(member, i)) elements += place_elements(member->team, i, &member->places[i]);
  return elements;
}

clm_status clm__team_cut_parts(clm__team *team)
{
  team->part_count = cut(team->layout, NULL);
  for (int i = 0; i < team->member_count; i++) {
    team_member *const member = &team->members[i];
    const clm__device_info *const info = &member->device->info;
    member->lends = info->kind == CLM__DEVICE_CPU && info->has_unified_memory;
    CLM_TRY(clm__mem_alloc((size_t)team->part_count, sizeof *member->places, &member->places));
    (void)cut(team->layout, member->places);
  }
  return CLM_OK;
}

clm_status clm__team_open_window(clm__team *team)
{
  return clm__window_create(team->comm, gradient_elements(&team->members[0]) * sizeof(float),
                            team->part_count, &team->window);
}

static clm_status make_places(clm__team *team, team_member *member)
{
  if (member->index == 0)
    member->gradients = clm__window_get_bytes(team->window);
  else
    CLM_TRY(clm__mem_alloc_aligned(gradient_elements(member) * sizeof(float), &member->gradients));
  lay_out(team, member);
  return CLM_OK;
}

static clm_status make_bucket(clm__team *team, int index)
{
  const bool is_last = index == team->part_count - 1;
  const clm__gradient_part *place = &team->members[0].places[index];
  team_part *part = &team->parts[index];
  *part = (team_part){.sum = place->target, .count = place->count, .state = PART_DONE};
  (void)snprintf(part->name, sizeof part->name, "all-reduce %d", index);
  const clm__bucket_config bucket = {.values = part->sum,
                                     .count = part->count + (is_last ? FIGURE_COUNT : 0),
                                     .window = team->window,
                                     .wire = is_last ? CLM__WIRE_F32 : team->config.wire,
                                     .trace = team->config.trace,
                                     .name = part->name};
  return clm__bucket_create(team->comm, &bucket, &part->bucket);
}

clm_status clm__team_make_parts(clm__team *team)
{
  CLM_TRY(clm__mem_alloc((size_t)team->part_count, sizeof *team->parts, &team->parts));
  for (int i = 0; i < team->member_count; i++) CLM_TRY(make_places(team, &team->members[i]));
  for (int i = 0; i < team->part_count; i++) CLM_TRY(make_bucket(team, i));
  return CLM_OK;
}

void clm__team_free_parts(clm__team *team)
{
  bool in_flight = false;
  for (int i = 0; team->parts != NULL && i < team->part_count; i++) {
    clm__bucket *bucket = team->parts[i].bucket;
    in_flight = in_flight || (bucket != NULL && !clm__bucket_is_done(bucket));
    clm__bucket_destroy(bucket);
  }
  clm__mem_free(team->parts);
  for (int i = 0; team->members != NULL && i < team->member_count; i++) {
    clm__mem_free(team->members[i].places);
    if (i > 0) clm__mem_free(team->members[i].gradients);
  }
  /* The network may still write into the first member's. */
  if (!in_flight) clm__window_destroy(team->window);
}

/* ---- figures ---- */

/* Two floats whose sums over up to 4096 ranks are exact. */
enum { LOW_BITS = 12, LOW_MASK = (1 << LOW_BITS) - 1 };

void clm__team_encode_count(uint64_t count, float *low, float *high)
{
  *low = (float)(count & LOW_MASK);
  *high = (float)(count >> LOW_BITS);
}

uint64_t clm__team_decode_count(float low, float high)
{
  return ((uint64_t)high << LOW_BITS) + (uint64_t)low;
}

void clm__team_encode(const clm__team_result *result, float *figures)
{
  clm__team_encode_count(result->count, &figures[FIGURE_COUNT_LOW], &figures[FIGURE_COUNT_HIGH]);
  clm__team_encode_count(result->hit_count, &figures[FIGURE_HITS_LOW], &figures[FIGURE_HITS_HIGH]);
  const float high = (float)result->loss_sum;
  figures[FIGURE_LOSS_HIGH] = high;
  figures[FIGURE_LOSS_LOW] = isfinite(high) ? (float)(result->loss_sum - (double)high) : 0.0F;
  figures[FIGURE_NOT_FINITE] = result->is_finite ? 0.0F : 1.0F;
  figures[FIGURE_STOP] = result->wants_stop ? 1.0F : 0.0F;
  figures[FIGURE_SAVE] = result->wants_save ? 1.0F : 0.0F;
  figures[FIGURE_FAILURE] = 0.0F;
}

void clm__team_decode(const float *figures, clm__team_result *result)
{
  *result = (clm__team_result){
      .loss_sum = (double)figures[FIGURE_LOSS_HIGH] + (double)figures[FIGURE_LOSS_LOW],
      .hit_count = clm__team_decode_count(figures[FIGURE_HITS_LOW], figures[FIGURE_HITS_HIGH]),
      .count = clm__team_decode_count(figures[FIGURE_COUNT_LOW], figures[FIGURE_COUNT_HIGH]),
      .is_finite = figures[FIGURE_NOT_FINITE] == 0.0F,
      .wants_stop = figures[FIGURE_STOP] != 0.0F,
      .wants_save = figures[FIGURE_SAVE] != 0.0F};
}

/* ---- summing over the replicas of this rank ---- */

static void add_values(float *restrict sum, const float *restrict values, size_t count)
{
  for (size_t i = 0; i < count; i++) sum[i] += values[i];
}

static void sum_figures(clm__team *team, float *figures)
{
  const clm__team_input *input = team->input;
  clm__team_result own = {
      .is_finite = true, .wants_stop = input->wants_stop, .wants_save = input->wants_save};
  bool has_failed = input->failure != CLM_OK || team->pending.status != CLM_OK;
  for (int i = 0; i < team->member_count; i++) {
    const team_member *member = &team->members[i];
    own.loss_sum += member->figures.loss_sum;
    own.hit_count += (uint64_t)member->figures.hit_count;
    own.count += (uint64_t)member->figures.count;
    own.is_finite = own.is_finite && member->figures.is_finite;
    has_failed = has_failed || member->has_failed;
  }
  clm__team_encode(&own, figures);
  if (has_failed) figures[FIGURE_FAILURE] = 1.0F;
}

static bool adds(const team_member *member) { return member->input.count > 0; }

/* In the order of the members, whoever came last. Of a replica that has failed anything will do. */
static void sum_part(clm__team *team, int index)
{
  const team_part *part = &team->parts[index];
  if (!adds(&team->members[0])) memset(part->sum, 0, part->count * sizeof(float));
  for (int i = 1; i < team->member_count; i++)
    if (adds(&team->members[i]))
      add_values(part->sum, team->members[i].places[index].target, part->count);
  if (index == team->part_count - 1) sum_figures(team, part->sum + part->count);
}

void clm__team_arrive(clm__team *team, int index)
{
  team_part *part = &team->parts[index];
  (void)pthread_mutex_lock(&team->lock);
  const bool is_last = ++part->arrived == team->member_count;
  (void)pthread_mutex_unlock(&team->lock);
  if (!is_last) return;
  sum_part(team, index);
  const clm_status status = clm__bucket_start(part->bucket);
  (void)pthread_mutex_lock(&team->lock);
  if (status != CLM_OK && team->link_failure.status == CLM_OK)
    team->link_failure = *clm_error_last();
  part->state = PART_SUMMING;
  (void)pthread_cond_broadcast(&team->changed);
  (void)pthread_mutex_unlock(&team->lock);
}
