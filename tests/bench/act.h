/* A team on the CPU or on parts of it, with the flowers network and a batch of images in memory:
 * what one process or one rank does while scaling is measured. */
#ifndef CLM_TESTS_BENCH_ACT_H
#define CLM_TESTS_BENCH_ACT_H

#include "bench/trainee.h"
#include "train/team.h"

#define ACT_DEVICES_MAX 2
#define ACT_STEPS_MAX 24 /* of a turn */

typedef struct act_config {
  clm__comm *comm;
  int part; /* the first of this process's parts of the CPU */
  int part_count;
  int device_count; /* parts that this process drives, in one team */
  int batch;        /* global */
} act_config;

typedef struct bench_act {
  act_config config;
  clm__device *devices[ACT_DEVICES_MAX];
  bench_trainee trainee; /* model and images */
  clm__team *team;
  int64_t iterations;
} bench_act;

/* What a turn took, in seconds. */
typedef struct act_figures {
  int steps;
  int sums;
  double busy; /* processor seconds of a step, all ranks together */
  double step[ACT_STEPS_MAX];
  double exposed[ACT_STEPS_MAX]; /* from the last rank's last gradient to the last sum */
  double waited[ACT_STEPS_MAX];  /* mean over the ranks: from the own last gradient to there */
  double sum[ACT_STEPS_MAX];     /* of all gradients over the ranks, with nothing beside it */
  double meet[ACT_STEPS_MAX];    /* [sums] of a message without content from each to each */
} act_figures;

/* The struct is valid for act_close also on failure. Collective. */
CLM_MUST_CHECK clm_status act_open(bench_act *act, const act_config *config);
void act_close(bench_act *act);

/* A step that is not counted, `steps` steps, then `sums` sums: at most ACT_STEPS_MAX each.
 * Collective. The figures of the ranks together are those of rank 0. */
CLM_MUST_CHECK clm_status act_turn(bench_act *act, int steps, int sums, act_figures *figures);

#endif
