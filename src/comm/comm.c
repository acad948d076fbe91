#define _POSIX_C_SOURCE 200809L
#include "comm/comm_private.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static clm_status create(const clm_log *log, clm__comm **comm);
static void destroy(clm__comm *comm);

/* What mpirun (Open MPI), srun and other launchers set for each rank. */
static bool is_started_as_rank(void)
{
  return getenv("OMPI_COMM_WORLD_SIZE") != NULL || getenv("PMIX_RANK") != NULL ||
         getenv("PMI_RANK") != NULL;
}

#ifdef CLM_HAVE_MPI
static clm_status open_link(clm__link **link, const clm__link_ops **ops, clm__link_facts *facts)
{
  CLM_TRY(clm__link_open_mpi(link, ops, facts));
  return CLM_OK;
}
#else
/* A job of one rank needs no MPI: it gets no link. */
static clm_status open_link(clm__link **link, const clm__link_ops **ops, clm__link_facts *facts)
{
  (void)link, (void)ops, (void)facts;
  const char *const size = getenv("OMPI_COMM_WORLD_SIZE");
  if (size != NULL && strcmp(size, "1") == 0) return CLM_OK;
  CLM_FAIL(CLM_UNSUPPORTED, "this process was started as one rank of several, but Clematis was "
                            "built without MPI: build it where Open MPI is installed");
}
#endif

clm_status clm__comm_open(const clm_log *log, clm__comm **comm)
{
  clm__link *link = NULL;
  const clm__link_ops *ops = NULL;
  clm__link_facts facts = {0};
  if (is_started_as_rank()) CLM_TRY(open_link(&link, &ops, &facts));
  if (link == NULL)
    CLM_TRY(create(log, comm));
  else
    CLM_TRY(clm__comm_open_link(log, link, ops, &facts, comm));
  return CLM_OK;
}

clm_status clm__comm_open_alone(const clm_log *log, clm__comm **comm) { return create(log, comm); }

static clm_status create(const clm_log *log, clm__comm **comm)
{
  clm_status status = CLM_OK;
  clm__comm *made = NULL;
  CLM_TRY(clm__mem_alloc(1, sizeof *made, &made));
  made->log = log;
  made->facts = (clm__link_facts){.size = 1, .local_size = 1};
  made->timeout_ms = CLM__COMM_TIMEOUT_MS;
  CLM_TRY_TO(failed, status, clm__mem_alloc(1, sizeof *made->hosts, &made->hosts));
  (void)gethostname(made->hosts[0].name, sizeof made->hosts[0].name - 1);
  if (pthread_mutex_init(&made->lock, NULL) != 0)
    CLM_FAIL_TO(failed, status, CLM_NO_MEMORY, "the system gives no lock");
  *comm = made;
  return CLM_OK;
failed:
  clm__mem_free(made->hosts);
  clm__mem_free(made);
  return status;
}

static void destroy(clm__comm *comm)
{
  clm__mem_free(comm->meeting.messages);
  clm__mem_free(comm->slots);
  clm__mem_free(comm->hosts);
  (void)pthread_mutex_destroy(&comm->lock);
  clm__mem_free(comm);
}

static clm_status prepare_meetings(clm__comm *comm)
{
  const int size = comm->facts.size;
  const int rank = comm->facts.rank;
  CLM_TRY(clm__mem_alloc((size_t)size, sizeof *comm->slots, &comm->slots));
  CLM_TRY(clm__exchange_init(&comm->meeting, 2 * (size_t)size));
  for (int step = 1; step < size; step++) {
    const int to = (rank + step) % size;
    const int from = (rank - step + size) % size;
    clm__exchange_add(&comm->meeting, &(clm__message){.peer = from,
                                                      .tag = CLM__TAG_MEETING,
                                                      .is_receive = true,
                                                      .bytes = &comm->slots[from],
                                                      .size_bytes = sizeof(clm__slot)});
    clm__exchange_add(&comm->meeting, &(clm__message){.peer = to,
                                                      .tag = CLM__TAG_MEETING,
                                                      .bytes = &comm->mine,
                                                      .size_bytes = sizeof(clm__slot)});
  }
  return clm__exchange_make(&comm->meeting, comm);
}

static clm_status learn_hosts(clm__comm *comm)
{
  const clm__host own = comm->hosts[0];
  clm__mem_free(comm->hosts);
  comm->hosts = NULL;
  CLM_TRY(clm__mem_alloc((size_t)comm->facts.size, sizeof *comm->hosts, &comm->hosts));
  CLM_TRY(clm__comm_meet(comm, CLM__CALL_OPEN, &own, sizeof own));
  for (int rank = 0; rank < comm->facts.size; rank++)
    memcpy(&comm->hosts[rank], comm->slots[rank].payload, sizeof own);
  return CLM_OK;
}

clm_status clm__comm_open_link(const clm_log *log, clm__link *link, const clm__link_ops *ops,
                               const clm__link_facts *facts, clm__comm **comm)
{
  clm_status status = CLM_OK;
  clm__comm *made = NULL;
  CLM_TRY_TO(no_comm, status, create(log, &made));
  made->link = link;
  made->ops = ops;
  made->facts = *facts;
  CLM_TRY_TO(failed, status, prepare_meetings(made));
  CLM_TRY_TO(failed, status, learn_hosts(made));
  clm__log(log, CLM_LOG_DETAIL, "rank %d of %d on %s, where it is %d of %d", facts->rank,
           facts->size, made->hosts[facts->rank].name, facts->local_rank, facts->local_size);
  *comm = made;
  return CLM_OK;
failed:
  destroy(made);
no_comm:
  ops->close(link, false);
  return status;
}

static bool has_bucket_in_flight(const clm__comm *comm)
{
  for (clm__bucket *bucket = comm->buckets; bucket != NULL; bucket = clm__bucket_next(bucket))
    if (!clm__bucket_is_done(bucket)) return true;
  return false;
}

void clm__comm_close(clm__comm *comm)
{
  if (comm == NULL) return;
  if (comm->link != NULL) {
    const bool is_clean = comm->failure.status == CLM_OK && !has_bucket_in_flight(comm) &&
                          clm__comm_meet(comm, CLM__CALL_CLOSE, NULL, 0) == CLM_OK;
    if (is_clean)
      clm__exchange_fini(&comm->meeting, comm);
    else
      clm__log(comm->log, CLM_LOG_DETAIL, "rank %d leaves the job without a farewell",
               comm->facts.rank);
    comm->ops->close(comm->link, is_clean);
  }
  destroy(comm);
}

int clm__comm_get_rank(const clm__comm *comm) { return comm->facts.rank; }
int clm__comm_get_size(const clm__comm *comm) { return comm->facts.size; }
int clm__comm_get_local_rank(const clm__comm *comm) { return comm->facts.local_rank; }
int clm__comm_get_local_size(const clm__comm *comm) { return comm->facts.local_size; }

const char *clm__comm_get_host(const clm__comm *comm, int rank)
{
  CLM_ASSERT(rank >= 0 && rank < comm->facts.size);
  return comm->hosts[rank].name;
}

void clm__comm_set_timeout(clm__comm *comm, int timeout_ms)
{
  CLM_ASSERT(timeout_ms >= 1);
  comm->timeout_ms = timeout_ms;
}

clm_status clm__comm_check_locked(const clm__comm *comm)
{
  return comm->failure.status == CLM_OK ? CLM_OK : clm__error_raise(&comm->failure);
}

clm_status clm__comm_remember_locked(clm__comm *comm, clm_status status)
{
  if (comm->failure.status == CLM_OK) comm->failure = *clm_error_last();
  return status;
}

clm_status clm__comm_progress_locked(clm__comm *comm, bool *moved)
{
  CLM_TRY(clm__comm_check_locked(comm));
  for (clm__bucket *bucket = comm->buckets; bucket != NULL; bucket = clm__bucket_next(bucket)) {
    const clm_status status = clm__bucket_progress_locked(bucket, moved);
    if (status != CLM_OK) return clm__comm_remember_locked(comm, status);
  }
  return CLM_OK;
}

clm_status clm__comm_poll(clm__comm *comm)
{
  bool moved = false;
  (void)pthread_mutex_lock(&comm->lock);
  const clm_status status = clm__comm_progress_locked(comm, &moved);
  (void)pthread_mutex_unlock(&comm->lock);
  CLM_TRY(status);
  return CLM_OK;
}
