#include "cli/format.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

char *clm__format_count(uint64_t count, char text[CLM__FORMAT_SIZE])
{
  char digits[CLM__FORMAT_SIZE];
  (void)snprintf(digits, sizeof digits, "%" PRIu64, count);
  const size_t length = strlen(digits);
  size_t at = 0;
  for (size_t i = 0; i < length; i++) {
    if (i > 0 && (length - i) % 3 == 0) text[at++] = ',';
    text[at++] = digits[i];
  }
  text[at] = '\0';
  return text;
}

char *clm__format_bytes(uint64_t bytes, char text[CLM__FORMAT_SIZE])
{
  static const char *const units[] = {"bytes", "KB", "MB", "GB", "TB"};
  double value = (double)bytes;
  int unit = 0;
  while (value >= 1000 && unit < 4) {
    value /= 1024;
    unit++;
  }
  (void)snprintf(text, CLM__FORMAT_SIZE, unit == 0 ? "%.0f %s" : "%.3g %s", value, units[unit]);
  return text;
}

char *clm__format_seconds(double seconds, char text[CLM__FORMAT_SIZE])
{
  const long whole = isfinite(seconds) && seconds > 0 && seconds < 1e9 ? (long)seconds : 0;
  if (whole > 3600)
    (void)snprintf(text, CLM__FORMAT_SIZE, "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60,
                   whole % 60);
  else if (whole > 60)
    (void)snprintf(text, CLM__FORMAT_SIZE, "%ld:%02ld", whole / 60, whole % 60);
  else
    (void)snprintf(text, CLM__FORMAT_SIZE, "%lds", whole);
  return text;
}

char *clm__format_step_time(double seconds, char text[CLM__FORMAT_SIZE])
{
  if (seconds >= 1 || seconds == 0)
    (void)snprintf(text, CLM__FORMAT_SIZE, "%.0fs/step", seconds);
  else if (seconds >= 1e-3)
    (void)snprintf(text, CLM__FORMAT_SIZE, "%.0fms/step", seconds * 1e3);
  else
    (void)snprintf(text, CLM__FORMAT_SIZE, "%.0fus/step", seconds * 1e6);
  return text;
}

char *clm__format_figure(double value, char text[CLM__FORMAT_SIZE])
{
  (void)snprintf(text, CLM__FORMAT_SIZE, fabs(value) > 1e-3 ? "%.4f" : "%.4e", value);
  return text;
}
