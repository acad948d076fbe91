/* Kubernetes' and Vertex AI's $(VAR) in arguments and environments. */
#ifndef CLM_LAUNCH_EXPAND_H
#define CLM_LAUNCH_EXPAND_H

#include "launch/words.h"

/* Adds a text with its $(NAME) replaced by the values in `env`. $$(NAME) stays as $(NAME), and so
 * does a name that is not set. Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__expand(const char *text, const clm__words *env, clm__str *result);

/* "gs://BUCKET/FOLDER" as the path where the bucket is mounted, "/gcs/BUCKET/FOLDER"; other texts
 * as they are; without slashes at the end. Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__expand_bucket(const char *uri, clm__str *result);

#endif
