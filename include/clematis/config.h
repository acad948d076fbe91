/* Configuration files: one flat JSON object of options. */
#ifndef CLEMATIS_CONFIG_H
#define CLEMATIS_CONFIG_H

#include "clematis/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads a configuration file as text, taken by the caller (clm_text_free). Errors: NO_INPUT,
 * BAD_DATA. */
CLM_API CLM_MUST_CHECK clm_status clm_config_load(const char *path, char **text);

/* Parses JSON text that holds one object of numbers, texts and true/false, and calls visit with
 * each key and its value as text ("10", "adam", "true"), in the order of the text; null values are
 * passed over. A failure of visit ends the reading with it. `name` stands in messages. Errors:
 * BAD_DATA (line and column). */
CLM_API CLM_MUST_CHECK clm_status clm_config_parse(const char *text, const char *name,
                                                   clm_status (*visit)(void *user, const char *key,
                                                                       const char *value),
                                                   void *user);

/* A text as a JSON string with its quotes; taken by the caller (clm_text_free). Errors:
 * NO_MEMORY. */
CLM_API CLM_MUST_CHECK clm_status clm_config_quote(const char *text, char **quoted);

#ifdef __cplusplus
}
#endif
#endif
