/* The CustomJob body that Vertex AI takes, in camelCase, as REST does; its jobSpec is for
 * `gcloud ai custom-jobs create --config`. */
#ifndef CLM_LAUNCH_ENGINE_VERTEX_H
#define CLM_LAUNCH_ENGINE_VERTEX_H

#include "launch/plan.h"

/* Adds the body. Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__engine_vertex(const clm__spec *spec, const clm_launch_config *config,
                                             clm__str *body);

#endif
