#include "comm/comm_private.h"
#include "comm/window_private.h"

#include "base/mem.h"
#include "base/num.h"
#include "sys/shared_memory.h"

/* What a rank says of one of its buckets, alone in its cache line. */
typedef struct board {
  _Alignas(64) _Atomic uint32_t stage;
  uint64_t first; /* of the values among the floats behind the boards; before the first stage */
} board;

struct clm__window {
  clm__comm *comm;
  int bucket_max;
  int bucket_count;
  clm__shared_memory **seen; /* [size] of each rank; NULL: not shared */
  float *values;             /* of this rank */
};

/* What a rank tells the others of its memory. */
typedef struct offer {
  clm__shared_memory_key key;
  int32_t is_there;
} offer;

static size_t boards_bytes(const clm__window *window)
{
  return clm__round_up((size_t)window->bucket_max * sizeof(board), 4096);
}

static board *get_boards(const clm__window *window, int rank)
{
  return clm__shared_memory_get_bytes(window->seen[rank]);
}

static float *get_floats(const clm__window *window, int rank)
{
  return (float *)((unsigned char *)get_boards(window, rank) + boards_bytes(window));
}

static void stop_sharing(clm__window *window)
{
  if (window->seen == NULL) return;
  for (int rank = 0; rank < window->comm->facts.size; rank++)
    clm__shared_memory_destroy(window->seen[rank]);
  clm__mem_free(window->seen);
  window->seen = NULL;
}

/* What does not work is no failure: the ranks send messages then. */
static bool look_away(const clm__window *window, clm_status status)
{
  if (status == CLM_OK) return true;
  clm__log(window->comm->log, CLM_LOG_DETAIL, "the ranks send each other messages: %s",
           clm_error_last()->message);
  clm_error_clear();
  return false;
}

static bool is_everywhere(const clm__window *window, const offer *offers)
{
  for (int rank = 0; rank < window->comm->facts.size; rank++)
    if (!offers[rank].is_there) return false;
  return true;
}

static bool see_others(clm__window *window, const offer *offers)
{
  const clm__comm *const comm = window->comm;
  for (int rank = 0; rank < comm->facts.size; rank++) {
    if (rank == comm->facts.rank) continue;
    if (!look_away(window, clm__shared_memory_attach(&offers[rank].key, &window->seen[rank])))
      return false;
  }
  return true;
}

/* Collective: all ranks see each other's memory in the end, or none does. */
static clm_status share(clm__window *window, size_t size_bytes, offer *offers)
{
  clm__comm *const comm = window->comm;
  const int own = comm->facts.rank;
  offer mine = {0};
  mine.is_there = look_away(
      window, clm__shared_memory_create(boards_bytes(window) + size_bytes, &window->seen[own]));
  if (mine.is_there) mine.key = clm__shared_memory_get_key(window->seen[own]);
  CLM_TRY(clm__comm_gather(comm, &mine, sizeof mine, offers));
  mine.is_there = is_everywhere(window, offers) && see_others(window, offers);
  CLM_TRY(clm__comm_gather(comm, &mine, sizeof mine, offers));
  if (!is_everywhere(window, offers)) {
    stop_sharing(window);
    return CLM_OK;
  }
  clm__shared_memory_hide(window->seen[own]);
  window->values = get_floats(window, own);
  return CLM_OK;
}

static clm_status make(clm__comm *comm, int bucket_max, clm__window **window, offer **offers)
{
  const size_t size = (size_t)comm->facts.size;
  CLM_TRY(clm__mem_alloc(1, sizeof **window, window));
  **window = (clm__window){.comm = comm, .bucket_max = bucket_max};
  CLM_TRY(clm__mem_alloc(size, sizeof *(*window)->seen, &(*window)->seen));
  return clm__mem_alloc(size, sizeof **offers, offers);
}

static clm_status fill(clm__window *window, size_t size_bytes, offer *offers)
{
  const clm__link_facts *const facts = &window->comm->facts;
  if (facts->size > 1 && facts->local_size == facts->size)
    CLM_TRY(share(window, size_bytes, offers));
  else
    stop_sharing(window);
  clm_status status = CLM_OK;
  if (window->seen == NULL) status = clm__mem_alloc_aligned(size_bytes, &window->values);
  return clm__comm_agree_last(window->comm, status);
}

clm_status clm__window_create(clm__comm *comm, size_t size_bytes, int bucket_max,
                              clm__window **window)
{
  clm_status status = CLM_OK;
  clm__window *made = NULL;
  offer *offers = NULL;
  CLM_TRY_TO(done, status, clm__comm_agree_last(comm, make(comm, bucket_max, &made, &offers)));
  CLM_TRY_TO(done, status, fill(made, size_bytes, offers));
  *window = made;
done:
  clm__mem_free(offers);
  if (status != CLM_OK) clm__window_destroy(made);
  return status;
}

void clm__window_destroy(clm__window *window)
{
  if (window == NULL) return;
  if (!clm__window_is_shared(window)) clm__mem_free(window->values);
  stop_sharing(window);
  clm__mem_free(window);
}

void *clm__window_get_bytes(const clm__window *window) { return window->values; }

bool clm__window_is_shared(const clm__window *window) { return window->seen != NULL; }

int clm__window_add(clm__window *window, const float *values)
{
  CLM_ASSERT(window->bucket_count < window->bucket_max);
  const int place = window->bucket_count++;
  get_boards(window, window->comm->facts.rank)[place].first = (uint64_t)(values - window->values);
  return place;
}

void clm__window_say(clm__window *window, int place, uint32_t stage)
{
  board *const own = &get_boards(window, window->comm->facts.rank)[place];
  atomic_store_explicit(&own->stage, stage, memory_order_release);
}

bool clm__window_has_said(const clm__window *window, int rank, int place, uint32_t stage)
{
  board *const theirs = &get_boards(window, rank)[place];
  const uint32_t said = atomic_load_explicit(&theirs->stage, memory_order_acquire);
  return (int32_t)(said - stage) >= 0;
}

float *clm__window_get_values(const clm__window *window, int rank, int place)
{
  return get_floats(window, rank) + get_boards(window, rank)[place].first;
}
