#include "sys/clock.h"

#include <time.h>

double clm__clock_seconds(void)
{
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double clm__clock_unix_seconds(void)
{
  struct timespec now;
  (void)clock_gettime(CLOCK_REALTIME, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static char *format_now(char *text, const char *format)
{
  const time_t now = time(NULL);
  struct tm parts;
  (void)localtime_r(&now, &parts);
  if (strftime(text, CLM__CLOCK_STAMP_SIZE, format, &parts) == 0) text[0] = '\0';
  return text;
}

char *clm__clock_stamp(char text[CLM__CLOCK_STAMP_SIZE])
{
  return format_now(text, "%Y-%m-%d@%H:%M:%S");
}

char *clm__clock_name(char text[CLM__CLOCK_STAMP_SIZE])
{
  return format_now(text, "%Y%m%d-%H%M%S");
}
