/* A manifest for the MPI Operator of Kubernetes: MPIJob, kubeflow.org/v2beta1. */
#ifndef CLM_LAUNCH_ENGINE_MPIJOB_H
#define CLM_LAUNCH_ENGINE_MPIJOB_H

#include "launch/plan.h"

/* Adds the manifest, as JSON or YAML. Errors: UNSUPPORTED (replicas that differ), NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__engine_mpijob(const clm__plan *plan, const clm_launch_config *config,
                                             clm__str *manifest);

#endif
