#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

void clm__log(const clm_log *log, clm_log_level level, const char *format, ...)
{
  if (log == NULL || log->receive == NULL) return;
  char message[2048];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  log->receive(log->user, level, message);
}
