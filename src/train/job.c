#include "train/job.h"

#include "base/mem.h"

#include <stdio.h>
#include <string.h>

clm_status clm_job_open(const clm_log *log, clm_job **job)
{
  clm_job *made = NULL;
  CLM_TRY(clm__mem_alloc(1, sizeof *made, &made));
  const clm_status status = clm__comm_open(log, &made->comm);
  if (status != CLM_OK) {
    clm__mem_free(made);
    return status;
  }
  *job = made;
  return CLM_OK;
}

void clm_job_close(clm_job *job)
{
  if (job == NULL) return;
  clm__comm_close(job->comm);
  clm__mem_free(job);
}

int clm_job_rank(const clm_job *job) { return job != NULL ? clm__comm_get_rank(job->comm) : 0; }

int clm_job_size(const clm_job *job) { return job != NULL ? clm__comm_get_size(job->comm) : 1; }

const char *clm_job_host(const clm_job *job)
{
  return job != NULL ? clm__comm_get_host(job->comm, clm__comm_get_rank(job->comm)) : "";
}

clm_status clm_job_agree(clm_job *job, clm_status mine, const char *message)
{
  /* The message may be the thread's own. */
  char copy[CLM_ERROR_MESSAGE_SIZE] = "";
  if (mine != CLM_OK) (void)snprintf(copy, sizeof copy, "%s", message);
  if (job == NULL) {
    CLM_REQUIRE(mine == CLM_OK, mine, "%s", copy);
    return CLM_OK;
  }
  return clm__comm_agree(job->comm, mine, copy);
}

clm_status clm_job_share(clm_job *job, const char *mine, char **text)
{
  char *shared = NULL;
  clm_status status = CLM_OK;
  if (mine != NULL && clm_job_rank(job) == 0) status = clm__mem_copy_text(mine, &shared);
  if (job == NULL) {
    CLM_TRY(status);
  } else {
    size_t size_bytes = shared != NULL ? strlen(shared) + 1 : 0;
    status = clm__job_share(job->comm, status, &shared, &size_bytes);
    if (status != CLM_OK || size_bytes == 0) {
      clm__mem_free(shared);
      shared = NULL;
    }
    CLM_TRY(status);
  }
  *text = shared;
  return CLM_OK;
}

clm_status clm__job_share(clm__comm *comm, clm_status mine, char **bytes, size_t *size_bytes)
{
  CLM_TRY(clm__comm_agree_last(comm, mine));
  if (clm__comm_get_size(comm) == 1) return CLM_OK;
  const bool has_own = clm__comm_get_rank(comm) == 0;
  uint64_t size = has_own ? *size_bytes : 0;
  CLM_TRY(clm__comm_broadcast(comm, &size, sizeof size));
  char *room = has_own ? *bytes : NULL;
  const clm_status status = has_own ? CLM_OK : clm__mem_alloc((size_t)size, 1, &room);
  clm_status shared = clm__comm_agree_last(comm, status);
  if (shared == CLM_OK) shared = clm__comm_broadcast(comm, room, (size_t)size);
  if (shared != CLM_OK) {
    if (!has_own) clm__mem_free(room);
    return clm__error_pass(shared, __FILE__, __LINE__, __func__);
  }
  *bytes = room;
  *size_bytes = (size_t)size;
  return CLM_OK;
}
