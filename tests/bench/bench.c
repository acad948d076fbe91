#include "bench/bench.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

void bench_say(const bench_run *bench, const char *format, ...)
{
  if (bench->as_json) return;
  va_list arguments;
  va_start(arguments, format);
  (void)vprintf(format, arguments);
  va_end(arguments);
  (void)putchar('\n');
  (void)fflush(stdout);
}

void bench_note(const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  (void)fputs("bench: ", stderr);
  (void)vfprintf(stderr, format, arguments);
  va_end(arguments);
  (void)fputc('\n', stderr);
}

clm_status bench_measure_device(bench_run *bench)
{
  clm__measured now;
  clm__measured *best = &bench->measured;
  CLM_TRY(clm__measure(bench->device, &now));
  best->gflops = fmax(best->gflops, now.gflops);
  best->gbytes = fmax(best->gbytes, now.gbytes);
  if (best->launch_seconds <= 0 || now.launch_seconds < best->launch_seconds)
    best->launch_seconds = now.launch_seconds;
  return CLM_OK;
}
