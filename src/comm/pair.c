#include "comm/pair.h"

#include "base/mem.h"
#include "base/num.h"
#include "comm/comm_private.h"
#include "sys/clock.h"

#define PIECE_BYTES ((size_t)16 << 20)
enum { CLOCK_ROUNDS = 24 };

/* A message to a rank and one from it, each of which can be run again. */
typedef struct pair {
  clm__exchange to;
  clm__exchange from;
  double said;
  double heard;
} pair;

static clm_status make_message(clm__comm *comm, const clm__message *message,
                               clm__exchange *exchange)
{
  CLM_TRY(clm__exchange_init(exchange, 1));
  clm__exchange_add(exchange, message);
  return clm__exchange_make(exchange, comm);
}

static clm_status make_pair(clm__comm *comm, int peer, pair *made)
{
  clm__message message = {
      .peer = peer, .tag = CLM__TAG_PAIR, .bytes = &made->said, .size_bytes = sizeof made->said};
  CLM_TRY(make_message(comm, &message, &made->to));
  message.is_receive = true;
  message.bytes = &made->heard;
  return make_message(comm, &message, &made->from);
}

static clm_status ask_once(clm__comm *comm, pair *with, clm__clock_offset *best)
{
  static const char doing[] = "asking rank 0 for the time";
  const double begin = clm__clock_seconds();
  CLM_TRY(clm__exchange_run(&with->to, comm, doing));
  CLM_TRY(clm__exchange_run(&with->from, comm, doing));
  const double end = clm__clock_seconds();
  if (0.5 * (end - begin) < best->error_seconds)
    *best = (clm__clock_offset){.seconds = with->heard - 0.5 * (begin + end),
                                .error_seconds = 0.5 * (end - begin)};
  return CLM_OK;
}

static clm_status answer_once(clm__comm *comm, pair *with)
{
  static const char doing[] = "telling a rank the time";
  CLM_TRY(clm__exchange_run(&with->from, comm, doing));
  with->said = clm__clock_seconds();
  return clm__exchange_run(&with->to, comm, doing);
}

/* The rounds of this rank with another one. What has failed may still be in flight and is kept. */
static clm_status compare_with(clm__comm *comm, int peer, clm__clock_offset *best)
{
  pair *with = NULL;
  CLM_TRY(clm__mem_alloc(1, sizeof *with, &with));
  clm_status status = make_pair(comm, peer, with);
  for (int round = 0; round < CLOCK_ROUNDS && status == CLM_OK; round++)
    status = peer == 0 ? ask_once(comm, with, best) : answer_once(comm, with);
  if (clm__comm_has_failed(comm)) return status;
  clm__exchange_fini(&with->to, comm);
  clm__exchange_fini(&with->from, comm);
  clm__mem_free(with);
  return status;
}

clm_status clm__pair_compare_clocks(clm__comm *comm, clm__clock_offset *offset)
{
  const int size = clm__comm_get_size(comm);
  clm__clock_offset best = {.error_seconds = 1e300};
  CLM_TRY(clm__comm_barrier(comm));
  if (clm__comm_get_rank(comm) > 0) {
    CLM_TRY(compare_with(comm, 0, &best));
  } else {
    for (int peer = 1; peer < size; peer++) CLM_TRY(compare_with(comm, peer, &best));
    best = (clm__clock_offset){0};
  }
  *offset = best;
  return CLM_OK;
}

static clm_status send_piece(clm__comm *comm, const clm__message *message)
{
  clm__exchange exchange = {0};
  clm_status status = make_message(comm, message, &exchange);
  if (status == CLM_OK)
    status = clm__exchange_run(&exchange, comm, "bringing what the ranks have to rank 0");
  if (!clm__comm_has_failed(comm)) clm__exchange_fini(&exchange, comm);
  return status;
}

clm_status clm__pair_send(clm__comm *comm, int from, void *bytes, size_t size_bytes)
{
  const bool is_receive = clm__comm_get_rank(comm) == 0;
  for (size_t at = 0; at < size_bytes; at += PIECE_BYTES) {
    const clm__message message = {.peer = is_receive ? from : 0,
                                  .tag = CLM__TAG_PAIR,
                                  .is_receive = is_receive,
                                  .bytes = (unsigned char *)bytes + at,
                                  .size_bytes = clm__min_size(size_bytes - at, PIECE_BYTES)};
    CLM_TRY(send_piece(comm, &message));
  }
  return CLM_OK;
}
