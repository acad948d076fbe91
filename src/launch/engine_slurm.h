/* A batch script for Slurm. */
#ifndef CLM_LAUNCH_ENGINE_SLURM_H
#define CLM_LAUNCH_ENGINE_SLURM_H

#include "launch/plan.h"

/* Adds the script. Errors: UNSUPPORTED (replicas that differ), USAGE (a bad container), NO_MEMORY.
 */
CLM_MUST_CHECK clm_status clm__engine_slurm(const clm__plan *plan, const clm_launch_config *config,
                                            clm__str *script);

#endif
