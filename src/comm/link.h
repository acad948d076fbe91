/* What comm needs from a message-passing library: sets of messages that are sent and received
 * together, again and again. comm_mpi.c is one such link; a comm that is alone has none. No
 * function here waits, but opening and closing; comm calls one at a time. */
#ifndef CLM_COMM_LINK_H
#define CLM_COMM_LINK_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct clm__link clm__link;
typedef struct clm__message_set clm__message_set;

typedef struct clm__message {
  int peer;
  int tag; /* 0..tag_max; messages of one peer and tag arrive in order */
  bool is_receive;
  void *bytes; /* kept until the set is destroyed; of a send only read */
  size_t size_bytes;
} clm__message;

/* What a link says about its job. */
typedef struct clm__link_facts {
  int rank;
  int size;
  int local_rank;
  int local_size;
  int tag_max;
} clm__link_facts;

typedef struct clm__link_ops {
  /* Makes a set of messages, not yet started. Errors: UNSUPPORTED (a message is too large),
   * NO_MEMORY. */
  clm_status (*create_set)(clm__link *link, const clm__message *messages, size_t count,
                           clm__message_set **set);
  /* Takes NULL; the set is not in flight. */
  void (*destroy_set)(clm__message_set *set);
  /* Errors: PEER_FAILED. */
  clm_status (*start_set)(clm__message_set *set);
  /* Sets *moved where a message arrived or left, *done where all have. Errors: PEER_FAILED. */
  clm_status (*test_set)(clm__message_set *set, bool *moved, bool *done);
  /* Whether message `index` of a set in flight is still on its way. */
  bool (*is_missing)(const clm__message_set *set, size_t index);
  /* Leaves the job: all ranks are here where is_clean, else without a word. */
  void (*close)(clm__link *link, bool is_clean);
} clm__link_ops;

/* Joins the job through MPI. Errors: UNSUPPORTED, PEER_FAILED, NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__link_open_mpi(clm__link **link, const clm__link_ops **ops,
                                             clm__link_facts *facts);

#endif
