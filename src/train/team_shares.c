#include "train/team_private.h"

#include "base/mem.h"
#include "base/num.h"
#include "base/str.h"

#include <math.h>
#include <string.h>

/* Measured shares are whole thousandths, so that all ranks compute the same bounds. */
#define SHARES_WHOLE 1000.0
/* A change of less is noise. */
#define SHARES_CHANGE 0.1
enum { FIRST_LOOK = 4, LOOK_MOST = 64 };

/* ---- dealing ---- */

/* Rounded up, so that one image goes to the first replica; what fractions of shares lose in adding
 * up makes no image. */
size_t clm__team_bound(const double *shares, int size, int place, size_t count)
{
  double before = 0.0;
  double all = 0.0;
  for (int i = 0; i < size; i++) {
    if (i < place) before += shares[i];
    all += shares[i];
  }
  if (place == 0) return 0;
  return place >= size ? count : (size_t)ceil((double)count * before / all - 1e-6);
}

void clm__team_deal(const clm__team *team, size_t count, int *counts)
{
  const double *shares = team->shares + team->first;
  size_t begin = 0;
  size_t surplus = 0;
  for (int i = 0; i < team->member_count; i++) {
    const size_t end = clm__team_bound(shares, team->member_count, i + 1, count);
    const size_t most = (size_t)team->members[i].batch_max;
    const size_t wanted = end - begin;
    counts[i] = (int)clm__min_size(wanted, most);
    surplus += wanted - (size_t)counts[i];
    begin = end;
  }
  /* Files gone bad and rounding may ask more of one replica than it has room for. */
  for (int i = 0; i < team->member_count && surplus > 0; i++) {
    const size_t more = clm__min_size(surplus, (size_t)(team->members[i].batch_max - counts[i]));
    counts[i] += (int)more;
    surplus -= more;
  }
  CLM_ASSERT(surplus == 0);
}

/* ---- measuring ---- */

typedef struct rank_speeds {
  double images_per_second[CLM__TEAM_LOCAL_MAX]; /* 0: not known */
} rank_speeds;

static void measure_own(clm__team *team, rank_speeds *own)
{
  *own = (rank_speeds){0};
  for (int i = 0; i < team->member_count; i++) {
    team_member *member = &team->members[i];
    if (member->lately_images > 0 && member->lately_seconds > 0.0)
      own->images_per_second[i] = (double)member->lately_images / member->lately_seconds;
    member->lately_images = 0;
    member->lately_seconds = 0.0;
  }
}

static void take_speeds(clm__team *team)
{
  const rank_speeds *all = team->gathered;
  int place = 0;
  for (int rank = 0; rank < clm__comm_get_size(team->comm); rank++)
    for (int i = 0; i < team->rank_counts[rank]; i++, place++)
      if (all[rank].images_per_second[i] > 0.0)
        team->speeds[place] = all[rank].images_per_second[i];
}

/* A share that asks for more than a replica has room for is cut; the others take the rest. */
static void limit_shares(const clm__team *team, double *shares)
{
  for (int round = 0; round < team->size; round++) {
    double all = 0.0;
    bool is_cut = false;
    for (int i = 0; i < team->size; i++) all += shares[i];
    for (int i = 0; i < team->size; i++) {
      const double most = (double)team->rooms[i] - 1.0;
      if ((double)team->config.largest_batch * shares[i] <= most * all) continue;
      if (team->rooms[i] >= (int)team->config.largest_batch) continue;
      shares[i] = fmax(1.0, floor(most / (double)team->config.largest_batch * all));
      is_cut = true;
    }
    if (!is_cut) return;
  }
}

static void compute_shares(const clm__team *team, double *shares)
{
  double all = 0.0;
  for (int i = 0; i < team->size; i++) all += team->speeds[i];
  for (int i = 0; i < team->size; i++)
    shares[i] = fmax(1.0, floor(SHARES_WHOLE * team->speeds[i] / all + 0.5));
  limit_shares(team, shares);
}

static bool is_worth_it(const clm__team *team, const double *shares)
{
  double old_all = 0.0;
  double new_all = 0.0;
  for (int i = 0; i < team->size; i++) {
    old_all += team->shares[i];
    new_all += shares[i];
  }
  for (int i = 0; i < team->size; i++) {
    const double was = team->shares[i] / old_all;
    const double is = shares[i] / new_all;
    if (fabs(is - was) > SHARES_CHANGE * was) return true;
  }
  return false;
}

void clm__team_set_shares(clm__team *team, const double *shares)
{
  memcpy(team->shares, shares, (size_t)team->size * sizeof *team->shares);
}

clm_status clm__team_name_shares(const clm__team *team, char **text)
{
  clm__str list = {0};
  for (int i = 0; i < team->size; i++) {
    const clm_status status = clm__str_add(&list, "%s%.17g", i > 0 ? "," : "", team->shares[i]);
    if (status == CLM_OK) continue;
    clm__str_fini(&list);
    return status;
  }
  return clm__str_take(&list, text);
}

static bool is_time_to_look(clm__team *team)
{
  if (!team->is_measured || team->steps < team->next_look) return false;
  team->next_look = team->steps + clm__min_size(clm__max_size(team->steps, FIRST_LOOK), LOOK_MOST);
  return true;
}

static bool knows_all_speeds(const clm__team *team)
{
  for (int i = 0; i < team->size; i++)
    if (!(team->speeds[i] > 0.0)) return false;
  return true;
}

clm_status clm__team_look_at_shares(clm__team *team, bool *changed)
{
  *changed = false;
  if (!is_time_to_look(team)) return CLM_OK;
  const bool is_first = team->steps == 1;
  rank_speeds own;
  measure_own(team, &own);
  /* The first step makes drivers compile and caches fill. */
  if (is_first) return CLM_OK;
  CLM_TRY(clm__comm_gather(team->comm, &own, sizeof own, team->gathered));
  take_speeds(team);
  if (!knows_all_speeds(team)) return CLM_OK;
  compute_shares(team, team->new_shares);
  if (!is_worth_it(team, team->new_shares)) return CLM_OK;
  memcpy(team->shares, team->new_shares, (size_t)team->size * sizeof *team->shares);
  *changed = true;
  return CLM_OK;
}
