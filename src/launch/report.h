/* Telling findings about a job description. */
#ifndef CLM_LAUNCH_REPORT_H
#define CLM_LAUNCH_REPORT_H

#include "clematis/launch.h"

/* Where findings go. Zeroed, it only counts. */
typedef struct clm__report {
  const clm_findings *findings; /* NULL: nobody listens */
  int error_count;
} clm__report;

/* Tells a finding at once. */
void clm__report_add(clm__report *report, clm_finding_kind kind, const char *path,
                     const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
