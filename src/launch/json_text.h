/* JSON for people to read: indented, or as YAML in block style. */
#ifndef CLM_LAUNCH_JSON_TEXT_H
#define CLM_LAUNCH_JSON_TEXT_H

#include "base/str.h"

#include <stdbool.h>

/* Adds a JSON document anew, two blanks a level. As YAML its texts keep JSON's quotes, which YAML
 * reads the same way. Errors: BAD_DATA, NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__json_text_add(const char *json, bool yaml, clm__str *text);

#endif
