#include "clematis/version.h"

const char *clm_version(void) { return CLM_VERSION; }

const char *clm_version_details(void) { return CLM_VERSION_DETAILS; }
