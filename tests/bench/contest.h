/* Programs that do the same, measured in turns within one run: on a machine that others use too,
 * only such figures can be compared. */
#ifndef CLM_TESTS_BENCH_CONTEST_H
#define CLM_TESTS_BENCH_CONTEST_H

#include "bench/bench.h"
#include "bench/peer.h"
#include "bench/samples.h"

#define CONTESTANTS_MAX 8
#define CONTEST_TASK_SIZE 4200

typedef struct contestant {
  char name[96];
  double work;                   /* images of one repeat */
  clm_status (*run)(void *user); /* one repeat; NULL: a peer does `task` */
  void *user;
  const bench_peer *peer;
  char task[CONTEST_TASK_SIZE];
  samples_time *times; /* of a repeat */
  size_t count;
  samples_figures wall; /* seconds an image */
  samples_figures busy;
} contestant;

/* The first contestant is ours. */
typedef struct bench_contest {
  contestant items[CONTESTANTS_MAX];
  size_t count;
} bench_contest;

/* Adds one of our own, or a peer's task. Texts are copied; the rest is borrowed until the end. */
void contest_add(bench_contest *contest, const char *name, double work,
                 clm_status (*run)(void *user), void *user);
void contest_add_peer(bench_contest *contest, const bench_peer *peer, const char *name, double work,
                      const char *task);

/* Every contestant has a turn of about turn_seconds a round, at least one repeat. A peer that fails
 * is named and leaves; a failure of ours is an error. */
typedef struct contest_rules {
  int rounds;
  double turn_seconds;
} contest_rules;
CLM_MUST_CHECK clm_status contest_run(bench_contest *contest, const contest_rules *rules);

/* Tells title and figures to people, and to JSON as a member `key`. */
void contest_tell(bench_run *bench, const bench_contest *contest, const char *key,
                  const char *title);

void contest_fini(bench_contest *contest);

#endif
