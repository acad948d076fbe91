/* Holds a JSON document against the tables of fields.h and tells every fault it finds. */
#ifndef CLM_LAUNCH_CHECKER_H
#define CLM_LAUNCH_CHECKER_H

#include "io/json.h"
#include "launch/fields.h"
#include "launch/report.h"

/* A walk through a document. Begin with {.report = ...}. */
typedef struct clm__checker {
  clm__report *report;
  clm__str path;       /* of the value looked at, in the document's own spelling */
  clm__str for_vertex; /* names of fields that only Vertex AI can honour, ", " between */
} clm__checker;

/* Checks an object against its message. Errors: NO_MEMORY; faults of the document are findings. */
CLM_MUST_CHECK clm_status clm__checker_message(clm__checker *checker, const clm__json_at *at,
                                               const clm__message *message);

/* The same for a list of messages, at most `most` where that is not 0. */
CLM_MUST_CHECK clm_status clm__checker_messages(clm__checker *checker, const clm__json_at *at,
                                                const clm__field *field);
void clm__checker_fini(clm__checker *checker);

/* The value of a key in either spelling; missing where `object` has none, or null. */
clm__json_at clm__checker_find(const clm__json_at *object, const char *snake);

/* Reads a whole number or a text of digits; false where it is neither or too large. */
bool clm__checker_read_int(const clm__json_at *at, int64_t *value);

/* Reads "12.5s" or a number of seconds, at least 0; false where it is neither. */
bool clm__checker_read_duration(const clm__json_at *at, double *seconds);

#endif
