/* --trace: what ran when on all ranks, on the clock of rank 0, as a file that Perfetto and Chrome
 * open. docs/training.md tells what is in it. */
#ifndef CLM_TRAIN_TRACING_H
#define CLM_TRAIN_TRACING_H

#include "comm/pair.h"
#include "sys/trace.h"

typedef struct clm__tracing {
  const char *path;                /* borrowed; NULL: off */
  clm__trace *trace;               /* NULL: off */
  clm__clock_offset clock;         /* of this rank */
  double zero_seconds;             /* where the picture begins, of rank 0's clock */
  struct clm__tracing_part *parts; /* [ranks] for the end */
} clm__tracing;

/* steps: "1-100", counted from the start of this program; NULL: these. Rank 0 proves by a real
 * write that the file can be made. Off where path is NULL. Collective. Errors: USAGE, IO,
 * NO_MEMORY, PEER_FAILED. */
CLM_MUST_CHECK clm_status clm__tracing_begin(clm__tracing *tracing, clm__comm *comm,
                                             const char *path, const char *steps);

/* What the file holds. */
typedef struct clm__tracing_sums {
  uint64_t spans;
  uint64_t left_out;
  int ranks; /* that brought theirs */
} clm__tracing_sums;

/* Rank 0 writes the file. Where the ranks have lost each other it has those of rank 0 alone.
 * Collective. Errors: IO, NO_MEMORY, of this rank. */
CLM_MUST_CHECK clm_status clm__tracing_write(const clm__tracing *tracing, clm__comm *comm,
                                             clm__tracing_sums *sums);
void clm__tracing_fini(clm__tracing *tracing);

/* The spans of a rank as events of the format, with commas between. Taken by the caller. */
CLM_MUST_CHECK clm_status clm__tracing_text(const clm__tracing *tracing, int rank, const char *host,
                                            char **text);

#endif
