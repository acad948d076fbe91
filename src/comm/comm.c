#define _POSIX_C_SOURCE 200809L
#include "comm/comm_private.h"

#include "base/mem.h"
#include "sys/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The functions in which ranks meet. */
enum { CALL_OPEN, CALL_CLOSE, CALL_BARRIER, CALL_BROADCAST, CALL_GATHER, CALL_AGREE };

#define BROADCAST_PIECE ((size_t)16 << 20)

static clm_status create(const clm_log *log, clm__comm **comm);
static void destroy(clm__comm *comm);
static clm_status meet(clm__comm *comm, uint64_t call, const void *payload, size_t size_bytes);

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
  CLM_TRY(meet(comm, CALL_OPEN, &own, sizeof own));
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
                          meet(comm, CALL_CLOSE, NULL, 0) == CLM_OK;
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

static clm_status start_locked(clm__comm *comm, clm__exchange *exchange)
{
  CLM_TRY(clm__comm_check_locked(comm));
  const clm_status status = comm->ops->start_set(exchange->set);
  return status == CLM_OK ? CLM_OK : clm__comm_remember_locked(comm, status);
}

/* Moves the exchange and the buckets on: another rank may need our part of a bucket before it comes
 * to this exchange. */
static clm_status step_locked(clm__comm *comm, clm__exchange *exchange, bool *moved, bool *done)
{
  CLM_TRY(clm__comm_progress_locked(comm, moved));
  const clm_status status = comm->ops->test_set(exchange->set, moved, done);
  return status == CLM_OK ? CLM_OK : clm__comm_remember_locked(comm, status);
}

/* Runs an exchange to its end. */
static clm_status run(clm__comm *comm, clm__exchange *exchange, const char *doing)
{
  bool done = false;
  clm__patience patience = clm__patience_begin();
  (void)pthread_mutex_lock(&comm->lock);
  clm_status status = start_locked(comm, exchange);
  while (status == CLM_OK && !done) {
    const double now = clm__clock_seconds();
    bool moved = false;
    status = step_locked(comm, exchange, &moved, &done);
    if (status != CLM_OK || done) break;
    (void)pthread_mutex_unlock(&comm->lock);
    const bool is_over = clm__patience_is_over(&patience, now, moved, comm->timeout_ms);
    (void)pthread_mutex_lock(&comm->lock);
    if (is_over)
      status = clm__comm_remember_locked(comm, clm__exchange_fail_locked(exchange, comm, doing));
  }
  (void)pthread_mutex_unlock(&comm->lock);
  return status;
}

static const char *describe_call(uint64_t call)
{
  switch (call) {
  case CALL_OPEN:
    return "joining the job";
  case CALL_CLOSE:
    return "leaving the job";
  case CALL_BARRIER:
    return "waiting for all ranks";
  case CALL_BROADCAST:
    return "sending the data of one rank to all";
  case CALL_GATHER:
    return "telling all ranks";
  case CALL_AGREE:
    return "agreeing on the outcome of the set-up";
  default:
    return "doing something unknown";
  }
}

/* Fails where a rank met us with another call or another size. */
static clm_status check_slots(const clm__comm *comm)
{
  for (int rank = 0; rank < comm->facts.size; rank++) {
    const clm__slot *const slot = &comm->slots[rank];
    CLM_REQUIRE(
        slot->call == comm->mine.call && slot->size_bytes == comm->mine.size_bytes, CLM_INTERNAL,
        "the ranks have lost each other: rank %d (%s) is %s with %llu bytes, but rank %d "
        "(%s) is %s with %llu bytes",
        rank, comm->hosts[rank].name, describe_call(slot->call),
        (unsigned long long)slot->size_bytes, comm->facts.rank, comm->hosts[comm->facts.rank].name,
        describe_call(comm->mine.call), (unsigned long long)comm->mine.size_bytes);
  }
  return CLM_OK;
}

/* Waits for all ranks and brings every rank's payload into slots. Without payload the size is only
 * compared. */
static clm_status meet(clm__comm *comm, uint64_t call, const void *payload, size_t size_bytes)
{
  comm->mine.call = call;
  comm->mine.size_bytes = size_bytes;
  if (payload != NULL) memcpy(comm->mine.payload, payload, size_bytes);
  comm->slots[comm->facts.rank] = comm->mine;
  CLM_TRY(run(comm, &comm->meeting, describe_call(call)));
  const clm_status status = check_slots(comm);
  if (status == CLM_OK) return CLM_OK;
  (void)pthread_mutex_lock(&comm->lock);
  (void)clm__comm_remember_locked(comm, status);
  (void)pthread_mutex_unlock(&comm->lock);
  return status;
}

clm_status clm__comm_barrier(clm__comm *comm)
{
  if (comm->link == NULL) return CLM_OK;
  CLM_TRY(meet(comm, CALL_BARRIER, NULL, 0));
  return CLM_OK;
}

clm_status clm__comm_gather(clm__comm *comm, const void *mine, size_t size_bytes, void *all)
{
  CLM_ASSERT(size_bytes <= CLM__COMM_GATHER_MAX);
  if (comm->link == NULL) {
    memcpy(all, mine, size_bytes);
    return CLM_OK;
  }
  CLM_TRY(meet(comm, CALL_GATHER, mine, size_bytes));
  for (int rank = 0; rank < comm->facts.size; rank++)
    memcpy((unsigned char *)all + (size_t)rank * size_bytes, comm->slots[rank].payload, size_bytes);
  return CLM_OK;
}

static bool has_failed(clm__comm *comm)
{
  (void)pthread_mutex_lock(&comm->lock);
  const bool result = comm->failure.status != CLM_OK;
  (void)pthread_mutex_unlock(&comm->lock);
  return result;
}

/* One piece down a binomial tree: the parent of place p, counted from the root, is p without its
 * lowest bit. */
static clm_status pass_piece(clm__comm *comm, int root, void *bytes, size_t size_bytes)
{
  const int size = comm->facts.size;
  const int place = (comm->facts.rank - root + size) % size;
  clm_status status = CLM_OK;
  clm__exchange from_parent = {0};
  clm__exchange to_children = {0};
  clm__message message = {.tag = CLM__TAG_BROADCAST, .bytes = bytes, .size_bytes = size_bytes};
  CLM_TRY_TO(done, status, clm__exchange_init(&from_parent, 1));
  CLM_TRY_TO(done, status, clm__exchange_init(&to_children, 8 * sizeof size));
  for (int bit = 1; bit < size && (place & bit) == 0 && place + bit < size; bit *= 2) {
    message.peer = (place + bit + root) % size;
    clm__exchange_add(&to_children, &message);
  }
  message.is_receive = true;
  message.peer = ((place & (place - 1)) + root) % size;
  if (place != 0) clm__exchange_add(&from_parent, &message);
  CLM_TRY_TO(done, status, clm__exchange_make(&from_parent, comm));
  CLM_TRY_TO(done, status, clm__exchange_make(&to_children, comm));
  CLM_TRY_TO(done, status, run(comm, &from_parent, describe_call(CALL_BROADCAST)));
  CLM_TRY_TO(done, status, run(comm, &to_children, describe_call(CALL_BROADCAST)));
done:
  /* What has failed may still be in flight and is not touched again. */
  if (has_failed(comm)) return status;
  clm__exchange_fini(&from_parent, comm);
  clm__exchange_fini(&to_children, comm);
  return status;
}

static clm_status pass_down(clm__comm *comm, int root, void *bytes, size_t size_bytes)
{
  for (size_t at = 0; at < size_bytes; at += BROADCAST_PIECE) {
    const size_t left = size_bytes - at;
    CLM_TRY(pass_piece(comm, root, (unsigned char *)bytes + at,
                       left < BROADCAST_PIECE ? left : BROADCAST_PIECE));
  }
  return CLM_OK;
}

clm_status clm__comm_broadcast(clm__comm *comm, void *bytes, size_t size_bytes)
{
  if (comm->link == NULL) return CLM_OK;
  CLM_TRY(meet(comm, CALL_BROADCAST, NULL, size_bytes));
  return pass_down(comm, 0, bytes, size_bytes);
}

static int get_weight(clm_status status)
{
  switch (status) {
  case CLM_OK:
    return 0;
  case CLM_STOPPED:
    return 1;
  case CLM_PEER_FAILED:
    return 2;
  default:
    return 3;
  }
}

static clm_status get_said(const clm__comm *comm, int rank)
{
  clm_status status = CLM_OK;
  memcpy(&status, comm->slots[rank].payload, sizeof status);
  return status;
}

clm_status clm__comm_agree(clm__comm *comm, clm_status mine, const char *message)
{
  if (comm->link == NULL) {
    CLM_REQUIRE(mine == CLM_OK, mine, "%s", message);
    return CLM_OK;
  }
  char text[CLM_ERROR_MESSAGE_SIZE] = "";
  if (mine != CLM_OK) (void)snprintf(text, sizeof text, "%s", message);
  const clm_status met = meet(comm, CALL_AGREE, &mine, sizeof mine);
  /* Our own failure says more than that the others are gone. */
  if (met != CLM_OK && mine != CLM_OK) CLM_FAIL(mine, "%s", text);
  CLM_TRY(met);

  int worst = 0;
  for (int rank = 1; rank < comm->facts.size; rank++)
    if (get_weight(get_said(comm, rank)) > get_weight(get_said(comm, worst))) worst = rank;
  const clm_status outcome = get_said(comm, worst);
  if (outcome == CLM_OK) return CLM_OK;
  CLM_TRY(pass_down(comm, worst, text, sizeof text));
  CLM_FAIL(outcome, "rank %d (%s): %s", worst, comm->hosts[worst].name, text);
}
