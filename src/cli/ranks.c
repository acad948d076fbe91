#include "cli/ranks.h"

#include "cli/say.h"
#include "cli/stop.h"

#include <time.h>

#define TURN_MS 1500
#define TURNS_MOST 10
#define PIECES 30

clm_status clm__ranks_join(clm_job **job)
{
  clm_job *joined = NULL;
  const clm_status status = clm_job_open(clm__say_log(), &joined);
  if (status != CLM_OK) return clm__say_library_error(status);
  if (clm_job_size(joined) > 1) clm__say_as_rank(clm_job_rank(joined), clm_job_host(joined));
  *job = joined;
  return CLM_OK;
}

/* Where ranks have lost each other the lowest one left should speak: the others give it time, and
 * are silent where the launcher tells them to end. */
static bool waits_in_vain(int rank)
{
  const int turns = rank < TURNS_MOST ? rank : TURNS_MOST;
  for (int i = 0; i < turns * PIECES && !clm__stop_is_wanted(); i++)
    (void)nanosleep(&(struct timespec){.tv_nsec = TURN_MS * 1000000L / PIECES}, NULL);
  return !clm__stop_is_wanted();
}

clm_status clm__ranks_say(const clm_job *job, clm_status status)
{
  const int rank = clm_job_rank(job);
  if (rank > 0) clm__say_to_log("%s", clm_error_last()->message);
  if (rank > 0 && (status != CLM_PEER_FAILED || !waits_in_vain(rank))) return status;
  return clm__say_agreed_error(status);
}

clm_status clm__ranks_agree(clm_job *job, clm_status mine)
{
  if (clm_job_size(job) == 1) return mine;
  const clm_status status = clm_job_agree(job, mine, clm__say_kept_error());
  return status == CLM_OK ? CLM_OK : clm__ranks_say(job, status);
}
