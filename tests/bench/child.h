/* Whole programs: their time and memory. */
#ifndef CLM_TESTS_BENCH_CHILD_H
#define CLM_TESTS_BENCH_CHILD_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct child_config {
  const char *const *arguments; /* ends with NULL; the first is the program */
  const char *output;           /* file for its output; NULL: none is kept */
  bool watch_memory;            /* looks at it every 50 ms, so the time is that coarse */
} child_config;

typedef struct child_figures {
  double seconds;
  double busy;         /* seconds of processors, summed over them */
  uint64_t peak_bytes; /* resident; 0 where not watched */
} child_figures;

/* Runs a program to its end. Errors: IO where it cannot run or its status is not 0. */
CLM_MUST_CHECK clm_status child_run(const child_config *config, child_figures *figures);

#endif
