#include "sys/trace.h"

#include "base/mem.h"
#include "sys/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { LANES_MAX = 512, LANE_NAME_SIZE = 48 };

struct clm__trace {
  clm__trace_config config;
  atomic_bool is_on;
  atomic_uint_fast64_t step;

  /* The lock guards all below. */
  pthread_mutex_t lock;
  clm__trace_span *spans; /* [span_max] */
  size_t count;
  size_t left_out;
  int lane_count;
  char lanes[LANES_MAX][LANE_NAME_SIZE];
};

clm_status clm__trace_create(const clm__trace_config *config, clm__trace **trace)
{
  clm__trace *made = NULL;
  CLM_TRY(clm__mem_alloc(1, sizeof *made, &made));
  made->config = *config;
  const clm_status status = clm__mem_alloc(config->span_max, sizeof *made->spans, &made->spans);
  if (status != CLM_OK) {
    clm__mem_free(made);
    return status;
  }
  (void)pthread_mutex_init(&made->lock, NULL);
  (void)clm__trace_add_lane(made, "main");
  *trace = made;
  return CLM_OK;
}

void clm__trace_destroy(clm__trace *trace)
{
  if (trace == NULL) return;
  (void)pthread_mutex_destroy(&trace->lock);
  clm__mem_free(trace->spans);
  clm__mem_free(trace);
}

static int find_lane_locked(clm__trace *trace, const char *name)
{
  for (int lane = 0; lane < trace->lane_count; lane++)
    if (strcmp(trace->lanes[lane], name) == 0) return lane;
  const bool has_room = trace->lane_count < LANES_MAX;
  const int lane = has_room ? trace->lane_count++ : LANES_MAX - 1;
  (void)snprintf(trace->lanes[lane], LANE_NAME_SIZE, "%s", has_room ? name : "the rest");
  return lane;
}

int clm__trace_add_lane(clm__trace *trace, const char *name)
{
  if (trace == NULL) return CLM__TRACE_MAIN;
  (void)pthread_mutex_lock(&trace->lock);
  const int lane = find_lane_locked(trace, name);
  (void)pthread_mutex_unlock(&trace->lock);
  return lane;
}

void clm__trace_begin_step(clm__trace *trace, uint64_t step)
{
  if (trace == NULL) return;
  trace->step = step;
  trace->is_on = step >= trace->config.first_step && step <= trace->config.last_step;
}

void clm__trace_end_step(clm__trace *trace)
{
  if (trace != NULL) trace->step = 0;
}

uint64_t clm__trace_step(const clm__trace *trace) { return trace != NULL ? trace->step : 0; }

bool clm__trace_is_on(const clm__trace *trace) { return trace != NULL && trace->is_on; }

void clm__trace_add(clm__trace *trace, const clm__trace_span *span)
{
  if (!clm__trace_is_on(trace)) return;
  (void)pthread_mutex_lock(&trace->lock);
  if (trace->count < trace->config.span_max)
    trace->spans[trace->count++] = *span;
  else
    trace->left_out++;
  (void)pthread_mutex_unlock(&trace->lock);
}

void clm__trace_leave_out(clm__trace *trace)
{
  (void)pthread_mutex_lock(&trace->lock);
  trace->left_out++;
  (void)pthread_mutex_unlock(&trace->lock);
}

double clm__trace_begin(const clm__trace *trace)
{
  return clm__trace_is_on(trace) ? clm__clock_seconds() : 0.0;
}

void clm__trace_end(clm__trace *trace, double begin_seconds, const clm__trace_span *span)
{
  if (!(begin_seconds > 0.0)) return;
  clm__trace_span whole = *span;
  whole.begin_seconds = begin_seconds;
  whole.end_seconds = clm__clock_seconds();
  whole.step = clm__trace_step(trace);
  clm__trace_add(trace, &whole);
}

clm__trace_counts clm__trace_get_counts(const clm__trace *trace)
{
  pthread_mutex_t *lock = (pthread_mutex_t *)&trace->lock;
  (void)pthread_mutex_lock(lock);
  const clm__trace_counts counts = {
      .spans = trace->count, .left_out = trace->left_out, .lanes = trace->lane_count};
  (void)pthread_mutex_unlock(lock);
  return counts;
}

const clm__trace_span *clm__trace_get_span(const clm__trace *trace, size_t index)
{
  return &trace->spans[index];
}

const char *clm__trace_get_lane(const clm__trace *trace, int lane) { return trace->lanes[lane]; }
