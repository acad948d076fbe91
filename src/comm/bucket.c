#include "comm/comm_private.h"
#include "comm/window_private.h"

#include "base/mem.h"
#include "base/num.h"
#include "sys/clock.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

/* Below this number of values sent by a rank, one round with everything to everybody is faster than
 * two rounds. */
enum { SMALL_VALUES = 8192, SUM_BLOCK = 1024 };

/* The rounds of a bucket in flight. In a shared window the first one ends when all ranks have
 * brought their values, the second one when each has summed its shard, for all of them. */
enum { ROUND_SCATTER, ROUND_GATHER, ROUND_DONE };

/* The part of the values that one rank sums. */
typedef struct shard {
  size_t first;
  size_t count;
} shard;

struct clm__bucket {
  clm__comm *comm;
  clm__bucket *next;
  float *values; /* [count] */
  size_t count;
  clm__wire wire;
  bool is_small; /* every rank sums everything, there is no second round */
  atomic_int round;
  unsigned char *received; /* [size - 1][own shard]: the other ranks' parts, in their order */
  uint16_t *coded;         /* [count], of BF16 only */
  float *residual;         /* [count], of BF16 only: of the own shard, what rounding its sum lost */
  clm__exchange rounds[ROUND_DONE];
  clm__window *window; /* a shared one; NULL: sums are made by messages */
  int place;           /* there */
  uint32_t stage;      /* what this rank has said there */
  int heard;           /* ranks that have said it, too */
  clm__trace *trace;
  const char *name;
  int lane;
  double begin_seconds; /* of the sum in flight, for the trace */
};

static clm_status make_messages(clm__bucket *bucket);
static void free_memory(clm__bucket *bucket);

/* Whether every rank sums everything: what costs more messages than it saves is not divided. */
static bool is_small(size_t count, int size)
{
  const size_t ranks = (size_t)size;
  return size == 1 || count <= clm__max_size(ranks, SMALL_VALUES / ranks);
}

static shard get_shard(const clm__bucket *bucket, int rank)
{
  if (bucket->is_small) return (shard){.count = bucket->count};
  const size_t size = (size_t)bucket->comm->facts.size;
  const size_t place = (size_t)rank;
  const size_t each = bucket->count / size;
  const size_t longer = bucket->count % size; /* the first ones have one value more */
  return (shard){.first = place * each + clm__min_size(place, longer),
                 .count = each + (place < longer ? 1 : 0)};
}

clm_status clm__bucket_create(clm__comm *comm, const clm__bucket_config *config,
                              clm__bucket **bucket)
{
  CLM_REQUIRE(config->count <= INT_MAX, CLM_UNSUPPORTED,
              "a bucket of %zu values; at most %d can be summed at once", config->count, INT_MAX);
  clm_status status = CLM_OK;
  clm__bucket *made = NULL;
  CLM_TRY(clm__mem_alloc(1, sizeof *made, &made));
  made->comm = comm;
  made->values = config->values;
  made->count = config->count;
  if (config->window != NULL && clm__window_is_shared(config->window))
    made->window = config->window;
  made->is_small = made->window == NULL && is_small(config->count, comm->facts.size);
  made->wire = made->is_small || made->window != NULL ? CLM__WIRE_F32 : config->wire;
  made->round = ROUND_DONE;
  made->trace = comm->link != NULL ? config->trace : NULL;
  made->name = config->name;
  if (made->trace != NULL) made->lane = clm__trace_add_lane(made->trace, config->name);
  if (made->window != NULL)
    made->place = clm__window_add(made->window, made->values);
  else
    CLM_TRY_TO(failed, status, make_messages(made));
  (void)pthread_mutex_lock(&comm->lock);
  made->next = comm->buckets;
  comm->buckets = made;
  (void)pthread_mutex_unlock(&comm->lock);
  *bucket = made;
  return CLM_OK;
failed:
  free_memory(made);
  return status;
}

/* What another rank brings to our shard. */
static unsigned char *get_part(const clm__bucket *bucket, int peer)
{
  const int own = bucket->comm->facts.rank;
  if (bucket->window != NULL)
    return (unsigned char *)(clm__window_get_values(bucket->window, peer, bucket->place) +
                             get_shard(bucket, own).first);
  const size_t part_bytes = get_shard(bucket, own).count * clm__wire_size_bytes(bucket->wire);
  return bucket->received + (size_t)(peer < own ? peer : peer - 1) * part_bytes;
}

/* Where a shard lies when it is sent as the wire has it. */
static void *get_sent(const clm__bucket *bucket, shard part)
{
  if (bucket->wire == CLM__WIRE_BF16) return bucket->coded + part.first;
  return bucket->values + part.first;
}

/* Round 1: everybody's part of our shard comes in, our parts of the others' go out. */
static void add_scatter(clm__bucket *bucket, int from, int to, int tag)
{
  const size_t value_bytes = clm__wire_size_bytes(bucket->wire);
  const shard own = get_shard(bucket, bucket->comm->facts.rank);
  const shard theirs = get_shard(bucket, to);
  clm__exchange *const round = &bucket->rounds[ROUND_SCATTER];
  clm__exchange_add(round, &(clm__message){.peer = from,
                                           .tag = tag,
                                           .is_receive = true,
                                           .bytes = get_part(bucket, from),
                                           .size_bytes = own.count * value_bytes});
  clm__exchange_add(round, &(clm__message){.peer = to,
                                           .tag = tag,
                                           .bytes = get_sent(bucket, theirs),
                                           .size_bytes = theirs.count * value_bytes});
}

/* Round 2: the sums of the others' shards come in, ours goes out. */
static void add_gather(clm__bucket *bucket, int from, int to, int tag)
{
  const size_t value_bytes = clm__wire_size_bytes(bucket->wire);
  const shard own = get_shard(bucket, bucket->comm->facts.rank);
  const shard theirs = get_shard(bucket, from);
  clm__exchange *const round = &bucket->rounds[ROUND_GATHER];
  clm__exchange_add(round, &(clm__message){.peer = from,
                                           .tag = tag,
                                           .is_receive = true,
                                           .bytes = get_sent(bucket, theirs),
                                           .size_bytes = theirs.count * value_bytes});
  clm__exchange_add(round, &(clm__message){.peer = to,
                                           .tag = tag,
                                           .bytes = get_sent(bucket, own),
                                           .size_bytes = own.count * value_bytes});
}

static clm_status make_buffers(clm__bucket *bucket)
{
  const shard own = get_shard(bucket, bucket->comm->facts.rank);
  const size_t peers = (size_t)bucket->comm->facts.size - 1;
  CLM_TRY(clm__mem_alloc(peers * own.count, clm__wire_size_bytes(bucket->wire), &bucket->received));
  if (bucket->wire != CLM__WIRE_BF16) return CLM_OK;
  CLM_TRY(clm__mem_alloc(bucket->count, sizeof *bucket->coded, &bucket->coded));
  CLM_TRY(clm__mem_alloc(bucket->count, sizeof *bucket->residual, &bucket->residual));
  return CLM_OK;
}

static clm_status make_messages(clm__bucket *bucket)
{
  clm__comm *const comm = bucket->comm;
  if (comm->link == NULL) return CLM_OK;
  const int size = comm->facts.size;
  const int rank = comm->facts.rank;
  const int tag = CLM__TAG_BUCKETS + ROUND_DONE * comm->buckets_made;
  CLM_REQUIRE(tag < comm->facts.tag_max, CLM_UNSUPPORTED,
              "MPI has no more than %d tags, too few for another bucket: make buckets larger",
              comm->facts.tag_max);
  comm->buckets_made++;
  CLM_TRY(make_buffers(bucket));
  for (int round = 0; round < ROUND_DONE; round++)
    CLM_TRY(clm__exchange_init(&bucket->rounds[round], 2 * (size_t)size));
  /* Each rank begins with its neighbour, so that they do not all send to the same one. */
  for (int step = 1; step < size; step++) {
    const int to = (rank + step) % size;
    const int from = (rank - step + size) % size;
    add_scatter(bucket, from, to, tag);
    if (!bucket->is_small) add_gather(bucket, from, to, tag + 1);
  }
  for (int round = 0; round < ROUND_DONE; round++)
    CLM_TRY(clm__exchange_make(&bucket->rounds[round], comm));
  return CLM_OK;
}

static void free_memory(clm__bucket *bucket)
{
  for (int round = 0; round < ROUND_DONE; round++)
    clm__exchange_fini(&bucket->rounds[round], bucket->comm);
  clm__mem_free(bucket->residual);
  clm__mem_free(bucket->coded);
  clm__mem_free(bucket->received);
  clm__mem_free(bucket);
}

void clm__bucket_destroy(clm__bucket *bucket)
{
  if (bucket == NULL) return;
  clm__comm *const comm = bucket->comm;
  (void)pthread_mutex_lock(&comm->lock);
  clm__bucket **link = &comm->buckets;
  while (*link != bucket) link = &(*link)->next;
  *link = bucket->next;
  const bool is_done = clm__bucket_is_done(bucket);
  if (!is_done) {
    const clm_status status =
        clm__error_fail(CLM_PEER_FAILED, __FILE__, __LINE__, __func__,
                        "the sum over the ranks was given up before it was complete");
    (void)clm__comm_remember_locked(comm, status);
  }
  (void)pthread_mutex_unlock(&comm->lock);
  if (is_done) free_memory(bucket);
}

clm__bucket *clm__bucket_next(const clm__bucket *bucket) { return bucket->next; }

bool clm__bucket_is_done(const clm__bucket *bucket) { return bucket->round == ROUND_DONE; }

static clm_status start_round_locked(clm__bucket *bucket, int round)
{
  if (bucket->window != NULL) {
    bucket->heard = 0;
    clm__window_say(bucket->window, bucket->place, ++bucket->stage);
  } else {
    CLM_TRY(bucket->comm->ops->start_set(bucket->rounds[round].set));
  }
  bucket->round = round;
  return CLM_OK;
}

static bool is_silent_in_window(const void *user, int rank)
{
  const clm__bucket *const bucket = user;
  return !clm__window_has_said(bucket->window, rank, bucket->place, bucket->stage);
}

/* Whether all ranks have come as far as this one. */
static bool listen_to_all(clm__bucket *bucket, bool *moved)
{
  const int size = bucket->comm->facts.size;
  int heard = 0;
  for (int rank = 0; rank < size; rank++) heard += is_silent_in_window(bucket, rank) ? 0 : 1;
  *moved = *moved || heard > bucket->heard;
  bucket->heard = heard;
  return heard == size;
}

static clm_status test_round_locked(clm__bucket *bucket, bool *moved, bool *done)
{
  if (bucket->window == NULL)
    return bucket->comm->ops->test_set(bucket->rounds[bucket->round].set, moved, done);
  *done = listen_to_all(bucket, moved);
  return CLM_OK;
}

/* Codes what goes to the other ranks; the own shard stays as it is until it is summed. */
static void encode_parts(clm__bucket *bucket)
{
  const shard own = get_shard(bucket, bucket->comm->facts.rank);
  const size_t behind = own.first + own.count;
  clm__wire_encode_bf16(bucket->coded, bucket->residual, bucket->values, own.first);
  clm__wire_encode_bf16(bucket->coded + behind, bucket->residual + behind, bucket->values + behind,
                        bucket->count - behind);
}

clm_status clm__bucket_start(clm__bucket *bucket)
{
  clm__comm *const comm = bucket->comm;
  CLM_ASSERT(clm__bucket_is_done(bucket));
  if (comm->link == NULL) return CLM_OK;
  bucket->begin_seconds = clm__trace_begin(bucket->trace);
  if (bucket->wire == CLM__WIRE_BF16) encode_parts(bucket);
  (void)pthread_mutex_lock(&comm->lock);
  clm_status status = clm__comm_check_locked(comm);
  if (status == CLM_OK) {
    status = start_round_locked(bucket, ROUND_SCATTER);
    if (status != CLM_OK) (void)clm__comm_remember_locked(comm, status);
  }
  (void)pthread_mutex_unlock(&comm->lock);
  CLM_TRY(status);
  return CLM_OK;
}

/* Where a part of the summed own shard goes now; by messages the others get it later. */
static void put_sum(const clm__bucket *bucket, float *own, const float *sum, size_t at,
                    size_t count)
{
  memcpy(own + at, sum, count * sizeof *sum);
  if (bucket->window == NULL) return;
  const clm__link_facts *const facts = &bucket->comm->facts;
  for (int rank = 0; rank < facts->size; rank++)
    if (rank != facts->rank) memcpy((float *)get_part(bucket, rank) + at, sum, count * sizeof *sum);
}

/* values of the own shard = the sum of all parts, added in the order of ranks. */
static void sum_shard(clm__bucket *bucket)
{
  const clm__link_facts *const facts = &bucket->comm->facts;
  const size_t value_bytes = clm__wire_size_bytes(bucket->wire);
  const shard own = get_shard(bucket, facts->rank);
  float *const values = bucket->values + own.first;
  float sum[SUM_BLOCK];
  for (size_t at = 0; at < own.count; at += SUM_BLOCK) {
    const size_t count = clm__min_size(own.count - at, SUM_BLOCK);
    memset(sum, 0, sizeof sum);
    for (int rank = 0; rank < facts->size; rank++) {
      if (rank == facts->rank)
        clm__wire_add(sum, CLM__WIRE_F32, values + at, count);
      else
        clm__wire_add(sum, bucket->wire, get_part(bucket, rank) + at * value_bytes, count);
    }
    put_sum(bucket, values, sum, at, count);
  }
}

static clm_status end_sum_locked(clm__bucket *bucket)
{
  bucket->round = ROUND_DONE;
  const clm__trace_span span = {.category = "reduce",
                                .name = bucket->name,
                                .unit = "bytes",
                                .amount = bucket->count * clm__wire_size_bytes(bucket->wire),
                                .lane = bucket->lane};
  clm__trace_end(bucket->trace, bucket->begin_seconds, &span);
  return CLM_OK;
}

/* What follows a round whose messages have all arrived and left. */
static clm_status end_round_locked(clm__bucket *bucket)
{
  if (bucket->round == ROUND_GATHER) {
    if (bucket->wire == CLM__WIRE_BF16)
      clm__wire_decode_bf16(bucket->values, bucket->coded, bucket->count);
    return end_sum_locked(bucket);
  }
  sum_shard(bucket);
  if (bucket->is_small) return end_sum_locked(bucket);
  const shard own = get_shard(bucket, bucket->comm->facts.rank);
  if (bucket->wire == CLM__WIRE_BF16)
    clm__wire_encode_bf16(bucket->coded + own.first, bucket->residual + own.first,
                          bucket->values + own.first, own.count);
  return start_round_locked(bucket, ROUND_GATHER);
}

clm_status clm__bucket_progress_locked(clm__bucket *bucket, bool *moved)
{
  while (!clm__bucket_is_done(bucket)) {
    bool done = false;
    CLM_TRY(test_round_locked(bucket, moved, &done));
    if (!done) return CLM_OK;
    *moved = true;
    CLM_TRY(end_round_locked(bucket));
  }
  return CLM_OK;
}

static clm_status fail_silent_locked(const clm__bucket *bucket)
{
  static const char doing[] = "summing over the ranks";
  if (bucket->window != NULL)
    return clm__comm_fail_silent(bucket->comm, doing, is_silent_in_window, bucket);
  return clm__exchange_fail_locked(&bucket->rounds[bucket->round], bucket->comm, doing);
}

clm_status clm__bucket_wait(clm__bucket *bucket)
{
  clm__comm *const comm = bucket->comm;
  clm_status status = CLM_OK;
  clm__patience patience = clm__patience_begin();
  (void)pthread_mutex_lock(&comm->lock);
  while (!clm__bucket_is_done(bucket)) {
    const double now = clm__clock_seconds();
    bool moved = false;
    status = clm__comm_progress_locked(comm, &moved);
    if (status != CLM_OK || clm__bucket_is_done(bucket)) break;
    (void)pthread_mutex_unlock(&comm->lock);
    const bool is_over = clm__patience_is_over(&patience, now, moved, comm->timeout_ms);
    (void)pthread_mutex_lock(&comm->lock);
    if (!is_over || clm__bucket_is_done(bucket)) continue;
    status = fail_silent_locked(bucket);
    if (status != CLM_OK) break;
  }
  (void)pthread_mutex_unlock(&comm->lock);
  CLM_TRY(status);
  return CLM_OK;
}
