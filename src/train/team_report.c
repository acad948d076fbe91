#include "train/team_private.h"

#include "base/num.h"

#include <math.h>
#include <string.h>

/* What must be gained before a device is called a hindrance. */
#define GAIN_LEAST 0.03

clm__team_times clm__team_get_times(const clm__team *team)
{
  return (clm__team_times){.steps = team->timed_steps,
                           .step_seconds = team->step_seconds,
                           .exposed_seconds = team->exposed_seconds};
}

/* What a rank tells of one replica. */
typedef struct replica_facts {
  char id[16];
  double busy_seconds;
  double images;
} replica_facts;

static double get_speed(const replica_facts *facts)
{
  return facts->busy_seconds > 0.0 ? facts->images / facts->busy_seconds : 0.0;
}

static double sum_shares(const clm__team *team)
{
  double all = 0.0;
  for (int i = 0; i < team->size; i++) all += team->shares[i];
  return all;
}

/* The time that the slowest would need for a step of `images` if `left_out` were not there;
 * left_out -1: with all. */
static double predict_step(const clm__team *team, const clm__team_row *rows, double images,
                           int left_out)
{
  const double all = sum_shares(team) - (left_out >= 0 ? team->shares[left_out] : 0.0);
  double speeds = 0.0;
  double slowest = 0.0;
  for (int i = 0; i < team->size; i++) {
    if (i == left_out || !(rows[i].images_per_second > 0.0)) continue;
    speeds += rows[i].images_per_second;
    slowest = fmax(slowest, images * team->shares[i] / all / rows[i].images_per_second);
  }
  return team->is_measured && speeds > 0.0 ? images / speeds : slowest;
}

/* What a step costs beside the replicas' own work stays, but where one replica is left alone. */
static void judge(const clm__team *team, clm__team_row *rows, double images)
{
  const double steps = (double)team->timed_steps;
  const double step = team->step_seconds / steps;
  const double beside = fmax(0.0, step - predict_step(team, rows, images / steps, -1));
  for (int i = 0; i < team->size; i++) {
    const double without =
        predict_step(team, rows, images / steps, i) + (team->size > 2 ? beside : 0.0);
    rows[i].is_hindrance = without < (1.0 - GAIN_LEAST) * step;
  }
}

static void fill_row(const clm__team *team, int place, const replica_facts *facts,
                     clm__team_row *row)
{
  *row = (clm__team_row){.share = team->shares[place] / sum_shares(team),
                         .images_per_second = get_speed(facts)};
  memcpy(row->id, facts->id, sizeof row->id);
  row->id[sizeof row->id - 1] = '\0';
  if (team->step_seconds > 0.0)
    row->wait_share = fmax(0.0, 1.0 - facts->busy_seconds / team->step_seconds);
}

static int count_rounds(const clm__team *team)
{
  int most = 0;
  for (int rank = 0; rank < clm__comm_get_size(team->comm); rank++)
    most = clm__max_int(most, team->rank_counts[rank]);
  return most;
}

/* The places of replica `round` of every rank. */
static void take_round(const clm__team *team, int round, clm__team_row *rows, double *images)
{
  const replica_facts *all = team->gathered;
  int first = 0;
  for (int rank = 0; rank < clm__comm_get_size(team->comm); rank++) {
    if (round < team->rank_counts[rank]) {
      fill_row(team, first + round, &all[rank], &rows[first + round]);
      rows[first + round].rank = rank;
      *images += all[rank].images;
    }
    first += team->rank_counts[rank];
  }
}

clm_status clm__team_report(clm__team *team, clm__team_row *rows)
{
  double images = 0.0;
  for (int round = 0; round < count_rounds(team); round++) {
    replica_facts own = {.busy_seconds = 0.0};
    if (round < team->member_count) {
      const team_member *member = &team->members[round];
      memcpy(own.id, member->device->info.id, sizeof own.id);
      own.busy_seconds = member->busy_seconds;
      own.images = (double)member->images;
    }
    CLM_TRY(clm__comm_gather(team->comm, &own, sizeof own, team->gathered));
    take_round(team, round, rows, &images);
  }
  if (team->timed_steps > 0) judge(team, rows, images);
  return CLM_OK;
}
