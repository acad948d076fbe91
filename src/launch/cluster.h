/* The replicas of a Vertex AI job as a replica finds them: CLUSTER_SPEC, else TF_CONFIG. */
#ifndef CLM_LAUNCH_CLUSTER_H
#define CLM_LAUNCH_CLUSTER_H

#include "base/error.h"

#include <stddef.h>

typedef struct clm__member {
  int pool;
  int index;
  char *host; /* without its port */
} clm__member;

/* Zeroed, it is valid and empty. */
typedef struct clm__cluster {
  clm__member *members; /* chief first, then the workers by index */
  size_t count;
  size_t own; /* which of them this replica is; 0 is the chief */
  int port;   /* of the chief's entry, 0: none */
} clm__cluster;

/* Reads the text of one of the two variables; `what` is its name. Errors: BAD_DATA, UNSUPPORTED
 * (parameter servers or evaluators), NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__cluster_read(const char *text, const char *what,
                                            clm__cluster *cluster);
void clm__cluster_fini(clm__cluster *cluster);

#endif
