#include "train/tracing.h"

#include "base/str.h"
#include "io/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* One event a line. */
static void end_event(clm__json_writer *writer)
{
  clm__json_end_object(writer);
  if (writer->status == CLM_OK) writer->status = clm__str_add(&writer->text, "\n");
}

/* Names a process or a thread: {"ph": "M", "name": what, ..., "args": {"name": name}}. */
static void put_name(clm__json_writer *writer, const char *what, int rank, int lane,
                     const char *name)
{
  clm__json_begin_object(writer, NULL);
  clm__json_put_text(writer, "ph", "M");
  clm__json_put_text(writer, "name", what);
  clm__json_put_int(writer, "pid", rank);
  clm__json_put_int(writer, "tid", lane);
  clm__json_begin_object(writer, "args");
  clm__json_put_text(writer, "name", name);
  clm__json_end_object(writer);
  end_event(writer);
}

/* Nanoseconds as microseconds, which the format counts in. */
static void put_microseconds(clm__json_writer *writer, const char *key, int64_t nanoseconds)
{
  char text[32];
  (void)snprintf(text, sizeof text, "%s%" PRId64 ".%03d", nanoseconds < 0 ? "-" : "",
                 (nanoseconds < 0 ? -nanoseconds : nanoseconds) / 1000,
                 (int)((nanoseconds < 0 ? -nanoseconds : nanoseconds) % 1000));
  clm__json_put_raw(writer, key, text);
}

static int64_t to_nanoseconds(const clm__tracing *tracing, double seconds)
{
  return llround(1e9 * (seconds + tracing->clock.seconds - tracing->zero_seconds));
}

static void put_arguments(clm__json_writer *writer, const clm__trace_span *span)
{
  clm__json_begin_object(writer, "args");
  if (span->step > 0) clm__json_put_int(writer, "step", (int64_t)span->step);
  if (span->detail != NULL) clm__json_put_text(writer, span->category, span->detail);
  if (span->unit != NULL) clm__json_put_int(writer, span->unit, (int64_t)span->amount);
  clm__json_end_object(writer);
}

static void put_span(clm__json_writer *writer, const clm__tracing *tracing, int rank,
                     const clm__trace_span *span)
{
  const int64_t begin = to_nanoseconds(tracing, span->begin_seconds);
  const int64_t end = to_nanoseconds(tracing, span->end_seconds);
  char name[128];
  (void)snprintf(name, sizeof name, "%s%s%s", span->name, span->part != NULL ? "." : "",
                 span->part != NULL ? span->part : "");
  clm__json_begin_object(writer, NULL);
  clm__json_put_text(writer, "ph", "X");
  clm__json_put_text(writer, "name", name);
  clm__json_put_text(writer, "cat", span->category);
  clm__json_put_int(writer, "pid", rank);
  clm__json_put_int(writer, "tid", span->lane);
  put_microseconds(writer, "ts", begin);
  put_microseconds(writer, "dur", end - begin);
  put_arguments(writer, span);
  end_event(writer);
}

clm_status clm__tracing_text(const clm__tracing *tracing, int rank, const char *host, char **text)
{
  clm__json_writer writer = {0};
  char name[320];
  const clm__trace_counts counts = clm__trace_get_counts(tracing->trace);
  (void)snprintf(name, sizeof name, "rank %d on %s", rank, host);
  put_name(&writer, "process_name", rank, CLM__TRACE_MAIN, name);
  for (int lane = 0; lane < counts.lanes; lane++)
    put_name(&writer, "thread_name", rank, lane, clm__trace_get_lane(tracing->trace, lane));
  for (size_t i = 0; i < counts.spans; i++)
    put_span(&writer, tracing, rank, clm__trace_get_span(tracing->trace, i));
  return clm__json_take(&writer, text);
}
