#include "comm/comm_private.h"

#include "base/num.h"
#include "sys/clock.h"

#include <stdio.h>
#include <string.h>

#define BROADCAST_PIECE ((size_t)16 << 20)

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

clm_status clm__exchange_run(clm__exchange *exchange, clm__comm *comm, const char *doing)
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
    if (!is_over) continue;
    status = clm__exchange_fail_locked(exchange, comm, doing);
    if (status != CLM_OK) (void)clm__comm_remember_locked(comm, status);
  }
  (void)pthread_mutex_unlock(&comm->lock);
  return status;
}

static const char *describe_call(uint64_t call)
{
  switch (call) {
  case CLM__CALL_OPEN:
    return "joining the job";
  case CLM__CALL_CLOSE:
    return "leaving the job";
  case CLM__CALL_BARRIER:
    return "waiting for all ranks";
  case CLM__CALL_BROADCAST:
    return "sending the data of one rank to all";
  case CLM__CALL_GATHER:
    return "telling all ranks";
  case CLM__CALL_AGREE:
    return "agreeing on how it went";
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

clm_status clm__comm_meet(clm__comm *comm, uint64_t call, const void *payload, size_t size_bytes)
{
  comm->mine.call = call;
  comm->mine.size_bytes = size_bytes;
  if (payload != NULL) memcpy(comm->mine.payload, payload, size_bytes);
  comm->slots[comm->facts.rank] = comm->mine;
  CLM_TRY(clm__exchange_run(&comm->meeting, comm, describe_call(call)));
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
  CLM_TRY(clm__comm_meet(comm, CLM__CALL_BARRIER, NULL, 0));
  return CLM_OK;
}

clm_status clm__comm_gather(clm__comm *comm, const void *mine, size_t size_bytes, void *all)
{
  CLM_ASSERT(size_bytes <= CLM__COMM_GATHER_MAX);
  if (comm->link == NULL) {
    memcpy(all, mine, size_bytes);
    return CLM_OK;
  }
  CLM_TRY(clm__comm_meet(comm, CLM__CALL_GATHER, mine, size_bytes));
  for (int rank = 0; rank < comm->facts.size; rank++)
    memcpy((unsigned char *)all + (size_t)rank * size_bytes, comm->slots[rank].payload, size_bytes);
  return CLM_OK;
}

bool clm__comm_has_failed(clm__comm *comm)
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
  CLM_TRY_TO(done, status,
             clm__exchange_run(&from_parent, comm, describe_call(CLM__CALL_BROADCAST)));
  CLM_TRY_TO(done, status,
             clm__exchange_run(&to_children, comm, describe_call(CLM__CALL_BROADCAST)));
done:
  /* What has failed may still be in flight and is not touched again. */
  if (clm__comm_has_failed(comm)) return status;
  clm__exchange_fini(&from_parent, comm);
  clm__exchange_fini(&to_children, comm);
  return status;
}

static clm_status pass_down(clm__comm *comm, int root, void *bytes, size_t size_bytes)
{
  for (size_t at = 0; at < size_bytes; at += BROADCAST_PIECE) {
    const size_t left = size_bytes - at;
    CLM_TRY(
        pass_piece(comm, root, (unsigned char *)bytes + at, clm__min_size(left, BROADCAST_PIECE)));
  }
  return CLM_OK;
}

clm_status clm__comm_broadcast(clm__comm *comm, void *bytes, size_t size_bytes)
{
  if (comm->link == NULL) return CLM_OK;
  CLM_TRY(clm__comm_meet(comm, CLM__CALL_BROADCAST, NULL, size_bytes));
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
  const clm_status met = clm__comm_meet(comm, CLM__CALL_AGREE, &mine, sizeof mine);
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

clm_status clm__comm_agree_last(clm__comm *comm, clm_status mine)
{
  if (comm->facts.size == 1) return mine;
  const clm_error own = *clm_error_last();
  CLM_TRY(clm__comm_agree(comm, mine, own.status == mine ? own.message : clm_status_text(mine)));
  return CLM_OK;
}
