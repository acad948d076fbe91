/* The sections of the measurement of scaling: each measures, prints a table for people and writes
 * one member of the JSON document. */
#ifndef CLM_TESTS_BENCH_SCALE_H
#define CLM_TESTS_BENCH_SCALE_H

#include "bench/bench.h"

typedef struct scale_run {
  bench_run bench;  /* what is common to all measurements; no device is open */
  const char *self; /* the full path of this program */
} scale_run;

/* One process on all cores; a team on two halves of them; two ranks with a half of the cores each.
 */
CLM_MUST_CHECK clm_status scale_ranks(scale_run *run);
/* How long training waits for a checkpoint. */
CLM_MUST_CHECK clm_status scale_checkpoint(scale_run *run);
/* Hosts that are network namespaces: launch to first step, and steps of 1 to 8 ranks on slow links.
 */
CLM_MUST_CHECK clm_status scale_hosts(scale_run *run);

/* A rank of a measured job: works as ordered through the pipes in a folder. `on_half`: pinned to
 * its share of the cores, with a part of the CPU, else with the whole CPU. */
CLM_MUST_CHECK clm_status scale_be_rank(const char *folder, int batch, bool on_half);

/* Writes median, quarters and number under `key`; sorts the values. count >= 1. */
void scale_put_samples(scale_run *run, const char *key, double *values, size_t count);

#endif
