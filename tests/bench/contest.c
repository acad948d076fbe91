#include "bench/contest.h"

#include "base/mem.h"

#include <math.h>
#include <stdio.h>

#define REPEATS_MAX 200

static contestant *add(bench_contest *contest, const char *name, double work)
{
  CLM_ASSERT(contest->count < CONTESTANTS_MAX);
  contestant *item = &contest->items[contest->count++];
  *item = (contestant){.work = work};
  (void)snprintf(item->name, sizeof item->name, "%s", name);
  return item;
}

void contest_add(bench_contest *contest, const char *name, double work,
                 clm_status (*run)(void *user), void *user)
{
  contestant *item = add(contest, name, work);
  item->run = run;
  item->user = user;
}

void contest_add_peer(bench_contest *contest, const bench_peer *peer, const char *name, double work,
                      const char *task)
{
  contestant *item = add(contest, name, work);
  item->peer = peer;
  (void)snprintf(item->task, sizeof item->task, "%s", task);
}

static clm_status take_turn(const contestant *item, int repeats, samples_time *times)
{
  if (item->run == NULL) return peer_measure(item->peer, item->task, repeats, times);
  for (int i = 0; i < repeats; i++) {
    const samples_time begin = samples_now();
    CLM_TRY(item->run(item->user));
    times[i] = samples_since(begin);
  }
  return CLM_OK;
}

static void leave(bench_contest *contest, size_t index)
{
  clm__mem_free(contest->items[index].times);
  for (size_t i = index; i + 1 < contest->count; i++) contest->items[i] = contest->items[i + 1];
  contest->count--;
}

/* A first turn that counts for nothing: it warms up and tells how many repeats fill a turn. */
static clm_status warm_up(contestant *item, const contest_rules *rules, int *repeats)
{
  samples_time time = {0};
  CLM_TRY(take_turn(item, 1, &time));
  if (time.wall < rules->turn_seconds) CLM_TRY(take_turn(item, 1, &time));
  const double wanted = rules->turn_seconds / time.wall;
  *repeats = (int)fmin(fmax(wanted, 1), REPEATS_MAX);
  return clm__mem_alloc((size_t)*repeats * (size_t)rules->rounds, sizeof *item->times,
                        &item->times);
}

static clm_status warm_up_all(bench_contest *contest, const contest_rules *rules, int *repeats)
{
  for (size_t i = 0; i < contest->count;) {
    const clm_status status = warm_up(&contest->items[i], rules, &repeats[i]);
    if (status != CLM_OK && contest->items[i].run != NULL) return status;
    if (status == CLM_OK) {
      i++;
      continue;
    }
    bench_note("%s leaves: %s", contest->items[i].name, clm_error_last()->message);
    leave(contest, i);
  }
  return CLM_OK;
}

static clm_status evaluate(contestant *item)
{
  double *values = NULL;
  CLM_TRY(clm__mem_alloc(item->count, sizeof *values, &values));
  for (size_t i = 0; i < item->count; i++) values[i] = item->times[i].wall / item->work;
  item->wall = samples_evaluate(values, item->count);
  for (size_t i = 0; i < item->count; i++) values[i] = item->times[i].busy / item->work;
  item->busy = samples_evaluate(values, item->count);
  clm__mem_free(values);
  return CLM_OK;
}

clm_status contest_run(bench_contest *contest, const contest_rules *rules)
{
  int repeats[CONTESTANTS_MAX];
  CLM_TRY(warm_up_all(contest, rules, repeats));
  for (int round = 0; round < rules->rounds; round++)
    for (size_t i = 0; i < contest->count; i++) {
      contestant *item = &contest->items[i];
      CLM_TRY(take_turn(item, repeats[i], item->times + item->count));
      item->count += (size_t)repeats[i];
    }
  for (size_t i = 0; i < contest->count; i++) CLM_TRY(evaluate(&contest->items[i]));
  return CLM_OK;
}

static void write_contestant(clm__json_writer *json, const contestant *item, const contestant *ours)
{
  const samples_figures *wall = &item->wall;
  clm__json_begin_object(json, NULL);
  clm__json_put_text(json, "name", item->name);
  clm__json_put_number(json, "images", item->work);
  clm__json_put_number(json, "median_ms", wall->median * item->work * 1e3);
  clm__json_put_number(json, "low_ms", wall->low * item->work * 1e3);
  clm__json_put_number(json, "high_ms", wall->high * item->work * 1e3);
  clm__json_put_number(json, "best_ms", wall->best * item->work * 1e3);
  clm__json_put_number(json, "busy_ms", item->busy.median * item->work * 1e3);
  clm__json_put_number(json, "images_per_second", 1 / wall->median);
  clm__json_put_number(json, "ratio", wall->median / ours->wall.median);
  clm__json_put_number(json, "ratio_busy", item->busy.median / ours->busy.median);
  clm__json_put_int(json, "samples", (int64_t)wall->count);
  clm__json_end_object(json);
}

static void say_contestant(const bench_run *bench, const contestant *item, const contestant *ours)
{
  const samples_figures *wall = &item->wall;
  const double ms = item->work * 1e3;
  char spread[32];
  (void)snprintf(spread, sizeof spread, "%.1f-%.1f", wall->low * ms, wall->high * ms);
  bench_say(bench, "%-34s %9.1f %15s %9.1f %9.1f %9.0f %7.2f %7.2f", item->name, wall->median * ms,
            spread, wall->best * ms, item->busy.median * ms, 1 / wall->median,
            wall->median / ours->wall.median, item->busy.median / ours->busy.median);
}

void contest_tell(bench_run *bench, const bench_contest *contest, const char *key,
                  const char *title)
{
  const contestant *ours = &contest->items[0];
  bench_say(bench, "\n%-34s %9s %15s %9s %9s %9s %7s %7s", title, "median ms", "half within",
            "best ms", "busy ms", "images/s", "ratio", "busy");
  clm__json_begin_list(&bench->json, key);
  for (size_t i = 0; i < contest->count; i++) {
    say_contestant(bench, &contest->items[i], ours);
    write_contestant(&bench->json, &contest->items[i], ours);
  }
  clm__json_end_list(&bench->json);
}

void contest_fini(bench_contest *contest)
{
  while (contest->count > 0) leave(contest, contest->count - 1);
}
