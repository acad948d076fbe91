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

static bool waits_for(const clm__exchange *exchange, const clm__comm *comm, int rank,
                      bool is_receive)
{
  for (size_t i = 0; i < exchange->count; i++) {
    const clm__message *const message = &exchange->messages[i];
    if (message->peer == rank && message->is_receive == is_receive &&
        comm->ops->is_missing(exchange->set, i))
      return true;
  }
  return false;
}

/* Writes the ranks waited for into names; returns their number. */
static int name_missing(const clm__exchange *exchange, const clm__comm *comm, bool is_receive,
                        char names[NAMES_SIZE])
{
  int missing = 0;
  size_t at = 0;
  for (int rank = 0; rank < comm->facts.size; rank++) {
    if (!waits_for(exchange, comm, rank, is_receive)) continue;
    missing++;
    if (missing > RANKS_NAMED_MAX || at >= NAMES_SIZE) continue;
    const int written = snprintf(names + at, NAMES_SIZE - at, "%srank %d (%s)",
                                 missing > 1 ? ", " : "", rank, clm__comm_get_host(comm, rank));
    at += written > 0 ? (size_t)written : 0;
  }
  if (missing > RANKS_NAMED_MAX && at < NAMES_SIZE)
    (void)snprintf(names + at, NAMES_SIZE - at, " and %d more", missing - RANKS_NAMED_MAX);
  return missing;
}

clm_status clm__exchange_fail_locked(const clm__exchange *exchange, clm__comm *comm,
                                     const char *doing)
{
  char names[NAMES_SIZE] = "";
  /* Who is silent matters more than who does not listen. */
  if (name_missing(exchange, comm, true, names) == 0)
    (void)name_missing(exchange, comm, false, names);
  CLM_FAIL(CLM_PEER_FAILED,
           "while %s: no answer for %.1f s from %s; look there, or allow more time", doing,
           1e-3 * comm->timeout_ms, names);
}
