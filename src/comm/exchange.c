#define _POSIX_C_SOURCE 200809L
#include "comm/comm_private.h"

#include "base/mem.h"
#include "sys/clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { POLLS_BEFORE_SLEEP = 200, RANKS_NAMED_MAX = 8, NAMES_SIZE = 700 };
enum { SLEEP_LEAST_NS = 20 * 1000, SLEEP_MOST_NS = 500 * 1000 };

/* A sixteenth of the time waited so far: so much later an answer is seen at most, and a long wait
 * leaves the processor to others. */
static void rest(double waited_seconds)
{
  const double wish = 1e9 / 16.0 * waited_seconds;
  const long sleep_ns = wish >= SLEEP_MOST_NS ? SLEEP_MOST_NS : (long)wish;
  (void)nanosleep(
      &(struct timespec){.tv_nsec = sleep_ns < SLEEP_LEAST_NS ? SLEEP_LEAST_NS : sleep_ns}, NULL);
}

clm__patience clm__patience_begin(void)
{
  return (clm__patience){.last_sign = clm__clock_seconds()};
}

bool clm__patience_is_over(clm__patience *patience, double polled, bool moved, int timeout_ms)
{
  if (moved) {
    patience->last_sign = clm__clock_seconds();
    patience->idle_polls = 0;
    return false;
  }
  if (++patience->idle_polls > POLLS_BEFORE_SLEEP) rest(polled - patience->last_sign);
  return (polled - patience->last_sign) * 1e3 >= timeout_ms;
}

clm_status clm__exchange_init(clm__exchange *exchange, size_t capacity)
{
  exchange->count = 0;
  return clm__mem_alloc(capacity, sizeof *exchange->messages, &exchange->messages);
}

void clm__exchange_add(clm__exchange *exchange, const clm__message *message)
{
  if (message->size_bytes > 0) exchange->messages[exchange->count++] = *message;
}

clm_status clm__exchange_make(clm__exchange *exchange, clm__comm *comm)
{
  (void)pthread_mutex_lock(&comm->lock);
  const clm_status status =
      comm->ops->create_set(comm->link, exchange->messages, exchange->count, &exchange->set);
  (void)pthread_mutex_unlock(&comm->lock);
  CLM_TRY(status);
  return CLM_OK;
}

void clm__exchange_fini(clm__exchange *exchange, clm__comm *comm)
{
  if (exchange->set != NULL) {
    (void)pthread_mutex_lock(&comm->lock);
    comm->ops->destroy_set(exchange->set);
    (void)pthread_mutex_unlock(&comm->lock);
  }
  clm__mem_free(exchange->messages);
  *exchange = (clm__exchange){0};
}

/* The ranks from which an exchange in flight waits for messages, or to which it sends some. */
typedef struct wanted {
  const clm__exchange *exchange;
  const clm__link_ops *ops;
  bool is_receive;
} wanted;

static bool waits_for(const void *user, int rank)
{
  const wanted *const what = user;
  for (size_t i = 0; i < what->exchange->count; i++) {
    const clm__message *const message = &what->exchange->messages[i];
    if (message->peer == rank && message->is_receive == what->is_receive &&
        what->ops->is_missing(what->exchange->set, i))
      return true;
  }
  return false;
}

/* Writes the first silent ranks into names; returns their number. */
static int name_silent(const clm__comm *comm, clm__is_silent is_silent, const void *user,
                       char names[NAMES_SIZE])
{
  int silent = 0;
  size_t at = 0;
  for (int rank = 0; rank < comm->facts.size; rank++) {
    if (!is_silent(user, rank)) continue;
    silent++;
    if (silent > RANKS_NAMED_MAX || at >= NAMES_SIZE) continue;
    const int written = snprintf(names + at, NAMES_SIZE - at, "%srank %d (%s)",
                                 silent > 1 ? ", " : "", rank, clm__comm_get_host(comm, rank));
    at += written > 0 ? (size_t)written : 0;
  }
  if (silent > RANKS_NAMED_MAX && at < NAMES_SIZE)
    (void)snprintf(names + at, NAMES_SIZE - at, " and %d more", silent - RANKS_NAMED_MAX);
  return silent;
}

clm_status clm__comm_fail_silent(const clm__comm *comm, const char *doing, clm__is_silent is_silent,
                                 const void *user)
{
  char names[NAMES_SIZE] = "";
  if (name_silent(comm, is_silent, user, names) == 0) return CLM_OK;
  CLM_FAIL(CLM_PEER_FAILED,
           "while %s: no answer for %.1f s from %s; look there, or allow more time", doing,
           1e-3 * comm->timeout_ms, names);
}

clm_status clm__exchange_fail_locked(const clm__exchange *exchange, clm__comm *comm,
                                     const char *doing)
{
  /* Who is silent matters more than who does not listen. */
  wanted what = {.exchange = exchange, .ops = comm->ops, .is_receive = true};
  CLM_TRY(clm__comm_fail_silent(comm, doing, waits_for, &what));
  what.is_receive = false;
  return clm__comm_fail_silent(comm, doing, waits_for, &what);
}
