#include "train/team_private.h"

#include "base/mem.h"

#include <stdio.h>

static void work_once(team_member *member)
{
  member->failure.status = CLM_OK;
  if (member->team->work(member->team, member) == CLM_OK) return;
  member->failure = *clm_error_last();
  clm_error_clear();
}

static void *live(void *argument)
{
  team_member *const member = argument;
  clm__team *const team = member->team;
  uint64_t seen = 0;
  (void)pthread_mutex_lock(&team->lock);
  for (;;) {
    while (team->ticket == seen && !team->quits)
      (void)pthread_cond_wait(&team->changed, &team->lock);
    if (team->quits) break;
    seen = team->ticket;
    (void)pthread_mutex_unlock(&team->lock);
    work_once(member);
    (void)pthread_mutex_lock(&team->lock);
    team->busy--;
    (void)pthread_cond_broadcast(&team->changed);
  }
  (void)pthread_mutex_unlock(&team->lock);
  return NULL;
}

clm_status clm__team_start_threads(clm__team *team)
{
  CLM_REQUIRE(pthread_mutex_init(&team->lock, NULL) == 0, CLM_NO_MEMORY,
              "the system gives no lock");
  if (pthread_cond_init(&team->changed, NULL) != 0) {
    (void)pthread_mutex_destroy(&team->lock);
    CLM_FAIL(CLM_NO_MEMORY, "the system gives no condition");
  }
  team->has_lock = true;
  for (int i = 1; i < team->member_count; i++) {
    char name[16];
    (void)snprintf(name, sizeof name, "replica %d", i % 100);
    CLM_TRY(clm__thread_start(&team->members[i].thread, name, live, &team->members[i]));
  }
  return CLM_OK;
}

void clm__team_stop_threads(clm__team *team)
{
  if (!team->has_lock) return;
  (void)pthread_mutex_lock(&team->lock);
  team->quits = true;
  (void)pthread_cond_broadcast(&team->changed);
  (void)pthread_mutex_unlock(&team->lock);
  for (int i = 1; i < team->member_count; i++) clm__thread_join(&team->members[i].thread);
  (void)pthread_cond_destroy(&team->changed);
  (void)pthread_mutex_destroy(&team->lock);
  team->has_lock = false;
}

void clm__team_run(clm__team *team, team_work work)
{
  (void)pthread_mutex_lock(&team->lock);
  team->work = work;
  team->busy = team->member_count - 1;
  team->ticket++;
  (void)pthread_cond_broadcast(&team->changed);
  (void)pthread_mutex_unlock(&team->lock);
  work_once(&team->members[0]);
  (void)pthread_mutex_lock(&team->lock);
  while (team->busy > 0) (void)pthread_cond_wait(&team->changed, &team->lock);
  (void)pthread_mutex_unlock(&team->lock);
}

clm_status clm__team_check_members(const clm__team *team)
{
  for (int i = 0; i < team->member_count; i++)
    if (team->members[i].failure.status != CLM_OK)
      return clm__error_raise(&team->members[i].failure);
  return CLM_OK;
}
