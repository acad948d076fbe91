#include "cli/ranks.h"

#include "cli/say.h"

#include <time.h>

#define TURN_MS 500
#define TURNS_MOST 10

clm_status clm__ranks_join(clm_job **job)
{
  clm_job *joined = NULL;
  const clm_status status = clm_job_open(clm__say_log(), &joined);
  if (status != CLM_OK) return clm__say_library_error(status);
  if (clm_job_size(joined) > 1) clm__say_as_rank(clm_job_rank(joined), clm_job_host(joined));
  *job = joined;
  return CLM_OK;
}

/* Where ranks have lost each other the lowest one left should speak: the others give it time, in
 * which the launcher mostly ends them. */
static void wait_for_turn(int rank)
{
  const long turns = rank < TURNS_MOST ? rank : TURNS_MOST;
  const long wait_ms = turns * TURN_MS;
  (void)nanosleep(
      &(struct timespec){.tv_sec = wait_ms / 1000, .tv_nsec = wait_ms % 1000 * 1000000L}, NULL);
}

clm_status clm__ranks_say(const clm_job *job, clm_status status)
{
  const int rank = clm_job_rank(job);
  if (rank > 0 && status != CLM_PEER_FAILED) return status;
  if (rank > 0) wait_for_turn(rank);
  return clm__say_agreed_error(status);
}

clm_status clm__ranks_agree(clm_job *job, clm_status mine)
{
  if (clm_job_size(job) == 1) return mine;
  const clm_status status = clm_job_agree(job, mine, clm__say_kept_error());
  return status == CLM_OK ? CLM_OK : clm__ranks_say(job, status);
}
