#include "launch/report.h"

#include <stdarg.h>
#include <stdio.h>

void clm__report_add(clm__report *report, clm_finding_kind kind, const char *path,
                     const char *format, ...)
{
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (kind == CLM_FINDING_ERROR) report->error_count++;
  if (report->findings == NULL || report->findings->visit == NULL) return;
  const clm_finding finding = {.kind = kind, .path = path, .text = text};
  report->findings->visit(report->findings->user, &finding);
}
