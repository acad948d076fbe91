/* The engines that the named Pythons offer. */
#ifndef CLM_TESTS_BENCH_PEERS_H
#define CLM_TESTS_BENCH_PEERS_H

#include "bench/contest.h"

typedef enum peer_task { PEER_STEP = 1, PEER_INFER = 2, PEER_DATA = 4 } peer_task;

#define PEERS_MAX (BENCH_PYTHONS_MAX * 5)

typedef struct bench_peers {
  bench_peer items[PEERS_MAX];
  size_t count;
} bench_peers;

/* Starts, in every Python of bench->against, the engines that can do the task; those that cannot be
 * imported are named on the error stream. peers is valid for peers_close also on failure. */
CLM_MUST_CHECK clm_status peers_open(bench_peers *peers, const bench_run *bench, peer_task task);
void peers_close(bench_peers *peers);

#endif
