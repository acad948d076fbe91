/* Measuring which kernels are fastest on a device, so that training and inference use them. */
#ifndef CLEMATIS_TUNE_H
#define CLEMATIS_TUNE_H

#include "clematis/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum clm_tune_verdict {
  CLM_TUNE_GOOD,    /* right, and timed */
  CLM_TUNE_WRONG,   /* differs from the plain kernels by more than is allowed */
  CLM_TUNE_REFUSED, /* the device or its compiler does not take it */
  CLM_TUNE_CRASHED  /* ended the process that tried it, or did not answer */
} clm_tune_verdict;

/* What became of one candidate. Texts are borrowed for the call. */
typedef struct clm_tune_candidate {
  const char *name; /* "cpu", "gemm", "cpu TILE_H=2" */
  const char *note; /* of REFUSED and CRASHED: why; else "" */
  clm_tune_verdict verdict;
  double error; /* largest relative difference from plain; 0 where it was not compared */
  double allowed;
  double seconds; /* median of a call; 0 where it was not timed */
  int was_used;   /* before */
  int is_used;    /* from now on */
} clm_tune_candidate;

/* What was measured for a pass of an op, or for the parameters of matrix products. */
typedef struct clm_tune_result {
  const char *device; /* id */
  const char *what;   /* "conv2d.fwd"; "gemm" */
  const char *shape;  /* "180x180x3-180x180x16/3x3"; "*" */
  const clm_tune_candidate *candidates;
  size_t count;
  size_t number; /* of the result, from 1 ... */
  size_t total;  /* ... of so many on this device, recorded ones included */
} clm_tune_result;

/* Begin with clm_tune_config_default(). */
typedef struct clm_tune_config {
  clm_run_config run;      /* devices, batch size, file of tuning values, kernel cache, log */
  const char *model;       /* NULL: the flowers network for images of this size */
  int image_height;        /* 180 */
  int image_width;         /* 180 */
  double budget_seconds;   /* 600; 0: no limit */
  double patience_seconds; /* 120: a candidate that does not answer for so long has crashed */
  int again;               /* 1: measure what is recorded, too */
  void (*on_result)(void *user, const clm_tune_result *result);
  void *user;
} clm_tune_config;

/* All defaults. */
CLM_API clm_tune_config clm_tune_config_default(void);

typedef struct clm_tune_summary {
  size_t recorded; /* in this call */
  size_t skipped;  /* recorded before */
  size_t left;     /* for which there was no time */
  size_t bad;      /* candidates that were wrong or crashed */
  char file[1024]; /* where values are recorded */
} clm_tune_summary;

/* Measures the passes of a model's training and inference on the devices and records the winners in
 * the file of tuning values, one after the other, so that a call that is cut short can be repeated.
 * The work is done in a forked process, so that a driver that crashes takes nothing with it:
 * nothing else of the library may run in this process, nor have used a device before. Errors:
 * NO_DEVICE, DEVICE_FAILED, those of reading models and tuning values, IO. */
CLM_API CLM_MUST_CHECK clm_status clm_tune(const clm_tune_config *config,
                                           clm_tune_summary *summary);

#ifdef __cplusplus
}
#endif
#endif
