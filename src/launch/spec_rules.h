/* The rules of a job description that no table of fields can say. */
#ifndef CLM_LAUNCH_SPEC_RULES_H
#define CLM_LAUNCH_SPEC_RULES_H

#include "launch/spec.h"

/* Tells what is wrong with a CustomJobSpec (or a bare list of pools) whose fields have the right
 * types or were told already. `prefix` is the path to it ("" or "job_spec."). */
void clm__spec_rules(const clm__json_at *job, const char *prefix, const clm__spec_use *use,
                     clm__report *report);

#endif
