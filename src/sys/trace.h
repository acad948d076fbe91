/* What ran when: spans of time of one process, for a picture of a few training steps.
 *
 * All memory is taken at the start; what does not fit is counted and left out. A trace of NULL is
 * off, and every function takes it. Threads: any. */
#ifndef CLM_SYS_TRACE_H
#define CLM_SYS_TRACE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct clm__trace clm__trace;

typedef struct clm__trace_config {
  uint64_t first_step; /* spans are kept from its begin ... */
  uint64_t last_step;  /* ... until the step behind this one begins */
  size_t span_max;
} clm__trace_config;

CLM_MUST_CHECK clm_status clm__trace_create(const clm__trace_config *config, clm__trace **trace);
void clm__trace_destroy(clm__trace *trace);

/* A lane is what does one thing after the other: a thread, a queue, a sum between ranks. Spans of a
 * lane lie beside or inside each other. */
#define CLM__TRACE_MAIN 0 /* the thread that called clm_train */
/* The number of the lane of this name, which is copied where it is new; a trace with too many lanes
 * has one for the rest. */
int clm__trace_add_lane(clm__trace *trace, const char *name);

/* Steps are counted from 1; step 0 is what lies between steps. */
void clm__trace_begin_step(clm__trace *trace, uint64_t step);
void clm__trace_end_step(clm__trace *trace);
uint64_t clm__trace_step(const clm__trace *trace);

/* Whether spans are kept now. */
bool clm__trace_is_on(const clm__trace *trace);

typedef struct clm__trace_span {
  const char *category; /* all texts live as long as the trace */
  const char *name;
  const char *part;   /* behind the name: "conv2d.fwd"; NULL: none */
  const char *detail; /* more about it; NULL: none */
  const char *unit;   /* of amount, "bytes"; NULL: there is none */
  uint64_t amount;
  uint64_t step;
  int lane;
  double begin_seconds; /* of clm__clock_seconds */
  double end_seconds;
} clm__trace_span;

/* Keeps a span. */
void clm__trace_add(clm__trace *trace, const clm__trace_span *span);

/* Counts a span that could not be kept. */
void clm__trace_leave_out(clm__trace *trace);

/* The time of now, 0 while spans are not kept ... */
double clm__trace_begin(const clm__trace *trace);
/* ... and a span from there until now, in the step of now; nothing where that time was 0. */
void clm__trace_end(clm__trace *trace, double begin_seconds, const clm__trace_span *span);

/* ---- at the end, when no thread adds any more ---- */

typedef struct clm__trace_counts {
  size_t spans;
  size_t left_out; /* did not fit */
  int lanes;
} clm__trace_counts;
clm__trace_counts clm__trace_get_counts(const clm__trace *trace);
const clm__trace_span *clm__trace_get_span(const clm__trace *trace, size_t index);
const char *clm__trace_get_lane(const clm__trace *trace, int lane);

#endif
