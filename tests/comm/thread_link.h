/* A link whose ranks are threads of the test: messages arrive in an order drawn from a seed, and
 * faults are made on purpose. */
#ifndef CLM_TESTS_COMM_THREAD_LINK_H
#define CLM_TESTS_COMM_THREAD_LINK_H

#include "comm/comm.h"

#define WORLD_MAX 8

typedef struct world world;

/* What one rank does; runs in a thread of its own and must not use cmocka's assertions. Returns
 * whether all was as expected. */
typedef bool (*rank_function)(clm__comm *comm, world *all);

struct world {
  int size;
  uint64_t seed;   /* of the order of arrival */
  int broken_rank; /* whose network fails when it is told to; -1: none */
  rank_function run;
  void *shared;          /* of the test */
  bool clean[WORLD_MAX]; /* how each rank left */
  struct post *post;     /* of the link */
};

/* Runs all ranks of a world to their end; says whether all were content. */
bool run_world(world *all);

/* From now on every test of a message set of the broken rank fails. Threads: any. */
void break_network(world *all);

#endif
