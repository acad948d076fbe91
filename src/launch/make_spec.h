/* A job description made of options: the short form, and gcloud's --worker-pool-spec. */
#ifndef CLM_LAUNCH_MAKE_SPEC_H
#define CLM_LAUNCH_MAKE_SPEC_H

#include "clematis/launch.h"

/* The JSON of the job that the options describe; taken by the caller. Errors: USAGE, NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__make_spec(const clm_launch_config *config, char **json);

#endif
