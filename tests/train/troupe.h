/* The twelve golden steps, or as many of another model, by any number of ranks and devices in one
 * process: ranks are threads, devices are parts of the device under test. The plain kernels run:
 * others round a sum differently for another number of images, which Adam blows up where a gradient
 * is next to nothing. */
#ifndef CLM_TESTS_TRAIN_TROUPE_H
#define CLM_TESTS_TRAIN_TROUPE_H

#include "comm/thread_link.h"
#include "op/testdevice.h"
#include "train/team.h"

#define TROUPE_STEPS 12
#define TROUPE_KEPT 32
#define TROUPE_REPLICAS (WORLD_MAX * 8)

typedef struct troupe {
  int ranks;
  int devices;          /* of each rank */
  const double *shares; /* may be NULL */
  bool mixed;           /* the job's first device is whole, so that kinds differ */
  clm__wire wire;
  bool normalizes;  /* in place of the golden model: normalization, mean, one Dense */
  bool is_residual; /* in place of it: a smooth residual one with normalizations, by SGD */
  bool is_marked;   /* its normalizations ask for statistics over all replicas */
  clm__join_wish join;
  int steps;        /* at most TROUPE_STEPS */
  int batch;        /* images of a step, at most 8 */
  int nan_step;     /* from 1: the first rank's first images have a loss that is no number */
  int stop_step;    /* from 1: the last rank is asked to stop */
  int save_step;    /* from 1: the first rank wants a checkpoint */
  int missing_step; /* from 1: the last rank has no batch */
  int broken_step;  /* from 1: the last rank loses its network; ranks need not agree then */
  int evaluate;     /* images to evaluate behind the last step */
  bool drifts;      /* behind the last step, the job's last replica holds other weights */
  bool traces;      /* each rank has a trace of its steps */

  /* What came of it, the same on every rank. */
  clm__team_result results[TROUPE_STEPS];
  clm__team_result evaluation;
  float *weights; /* [weight_count] at the end, of every replica; free() */
  size_t weight_count;
  size_t trained_count;
  clm_error failures[WORLD_MAX]; /* of each rank; status CLM_OK where it came to the end */
  clm__team_row rows[TROUPE_REPLICAS];
  char warning[512];    /* the last one, of the first rank */
  uint64_t allocations; /* in the steps behind the first one, of one rank alone */
  uint64_t buffers;
  uint64_t finishes;
  uint64_t kernels;      /* enqueued in all steps of one rank alone */
  uint64_t kernel_spans; /* of its trace */
  /* What is in flight when a network breaks is never freed: a static troupe keeps it in sight of
   * leak checkers. */
  clm__bucket *kept[WORLD_MAX][TROUPE_KEPT];
} troupe;

/* Runs it. Fails the test where ranks disagree. */
void troupe_run(troupe *all, const test_options *options);
void troupe_free(troupe *all);

#endif
