/* What the files of comm share. Functions named _locked are called with the comm's lock held. */
#ifndef CLM_COMM_COMM_PRIVATE_H
#define CLM_COMM_COMM_PRIVATE_H

#include "comm/bucket.h"
#include "comm/comm.h"
#include "comm/link.h"

#include <pthread.h>
#include <stdatomic.h>

/* Tags of messages: two for each bucket follow. */
enum { CLM__TAG_MEETING, CLM__TAG_BROADCAST, CLM__TAG_PAIR, CLM__TAG_BUCKETS };

/* Messages that are started and done together. Zeroed, it is valid and empty. */
typedef struct clm__exchange {
  clm__message *messages; /* [count] */
  size_t count;
  clm__message_set *set;
} clm__exchange;

/* The functions in which ranks meet. */
enum {
  CLM__CALL_OPEN,
  CLM__CALL_CLOSE,
  CLM__CALL_BARRIER,
  CLM__CALL_BROADCAST,
  CLM__CALL_GATHER,
  CLM__CALL_AGREE
};

/* What a rank says in a meeting. */
typedef struct clm__slot {
  uint64_t call; /* which function the rank is in */
  uint64_t size_bytes;
  unsigned char payload[CLM__COMM_GATHER_MAX];
} clm__slot;

typedef struct clm__host {
  char name[CLM__COMM_GATHER_MAX];
} clm__host;

struct clm__comm {
  const clm_log *log;
  clm__link *link; /* NULL: alone */
  const clm__link_ops *ops;
  clm__link_facts facts;
  pthread_mutex_t lock;
  atomic_int timeout_ms;
  clm_error failure; /* status CLM_OK while there was none */
  clm__host *hosts;  /* [size] */
  clm__slot mine;
  clm__slot *slots; /* [size] */
  clm__exchange meeting;
  clm__bucket *buckets; /* a list */
  int buckets_made;
};

/* Joins a job through a link, which the comm then owns, also where this fails. Collective. */
CLM_MUST_CHECK clm_status clm__comm_open_link(const clm_log *log, clm__link *link,
                                              const clm__link_ops *ops,
                                              const clm__link_facts *facts, clm__comm **comm);

/* A wait that gives up when nothing has moved for too long. Begin with clm__patience_begin. */
typedef struct clm__patience {
  double last_sign;
  int idle_polls;
} clm__patience;

clm__patience clm__patience_begin(void);

/* Tells whether to give up after a poll that began at `polled`; sleeps a little where the last
 * polls were idle. A process that was itself stopped for a while polls again before it judges. */
bool clm__patience_is_over(clm__patience *patience, double polled, bool moved, int timeout_ms);

/* Room for messages, which the caller fills before clm__exchange_make. Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__exchange_init(clm__exchange *exchange, size_t capacity);
void clm__exchange_add(clm__exchange *exchange, const clm__message *message);
CLM_MUST_CHECK clm_status clm__exchange_make(clm__exchange *exchange, clm__comm *comm);
void clm__exchange_fini(clm__exchange *exchange, clm__comm *comm);

/* Runs an exchange to its end, while buckets move on. Errors: PEER_FAILED, which the comm
 * remembers; the exchange may then still be in flight and must not be freed. */
CLM_MUST_CHECK clm_status clm__exchange_run(clm__exchange *exchange, clm__comm *comm,
                                            const char *doing);
/* Whether something has failed, so that exchanges may be in flight for ever. */
bool clm__comm_has_failed(clm__comm *comm);

/* PEER_FAILED with the ranks that an exchange in flight still waits for, where there are any. */
CLM_MUST_CHECK clm_status clm__exchange_fail_locked(const clm__exchange *exchange, clm__comm *comm,
                                                    const char *doing);

/* PEER_FAILED with the ranks that are silent, where there are any. */
typedef bool (*clm__is_silent)(const void *user, int rank);
CLM_MUST_CHECK clm_status clm__comm_fail_silent(const clm__comm *comm, const char *doing,
                                                clm__is_silent is_silent, const void *user);

/* Returns the failure of the comm, CLM_OK where there was none. */
CLM_MUST_CHECK clm_status clm__comm_check_locked(const clm__comm *comm);
/* Makes this thread's error, with that status, the comm's failure; returns status. */
clm_status clm__comm_remember_locked(clm__comm *comm, clm_status status);

/* Waits for all ranks and brings every rank's payload into slots. Without payload the size is only
 * compared. Collective. Errors: PEER_FAILED, INTERNAL. */
CLM_MUST_CHECK clm_status clm__comm_meet(clm__comm *comm, uint64_t call, const void *payload,
                                         size_t size_bytes);

/* Moves all buckets on; sets *moved where a message did. */
CLM_MUST_CHECK clm_status clm__comm_progress_locked(clm__comm *comm, bool *moved);
CLM_MUST_CHECK clm_status clm__bucket_progress_locked(clm__bucket *bucket, bool *moved);
clm__bucket *clm__bucket_next(const clm__bucket *bucket);

#endif
