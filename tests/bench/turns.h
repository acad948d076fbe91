/* Ranks of a job of their own that work when told, so that they can take turns with others: an idle
 * rank sleeps in the opening of a pipe and disturbs nobody. The pipes are turn.RANK and reply in a
 * folder; an order is a line "STEPS SUMS", "0 0" ends the job, the answer a line of figures.
 * Scripts give orders too. */
#ifndef CLM_TESTS_BENCH_TURNS_H
#define CLM_TESTS_BENCH_TURNS_H

#include "bench/act.h"

#include <sys/types.h>

#define TURNS_LINE_SIZE 4096

/* ---- the job ---- */

typedef struct turn_order {
  int steps;
  int sums;
} turn_order;

/* Waits for this rank's next order. Errors: IO. */
CLM_MUST_CHECK clm_status turns_wait(const char *folder, int rank, turn_order *order);
/* Rank 0's answer. Errors: IO. */
CLM_MUST_CHECK clm_status turns_answer(const char *folder, const act_figures *figures);

/* ---- who gives orders ---- */

typedef struct bench_turns {
  char folder[1024];
  int ranks;
  int reply;     /* 0: not open */
  pid_t process; /* 0: none */
} bench_turns;

/* Starts a job of `ranks` by arguments that end with NULL, with pipes in the folder, which must
 * exist. The struct is valid for turns_end also on failure. Errors: IO. */
CLM_MUST_CHECK clm_status turns_begin(bench_turns *turns, const char *folder, int ranks,
                                      const char *const *arguments);
/* Lets the job work and waits for its answer. Errors: IO, where it ends or does not answer. */
CLM_MUST_CHECK clm_status turns_order(bench_turns *turns, const turn_order *order,
                                      act_figures *figures);
void turns_end(bench_turns *turns);

/* Reads the figures behind `line`. Errors: BAD_DATA. */
CLM_MUST_CHECK clm_status turns_parse(const char *line, act_figures *figures);

#endif
