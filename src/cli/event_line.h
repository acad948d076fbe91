/* A line of `--progress json`: one JSON object, written field by field. */
#ifndef CLM_CLI_EVENT_LINE_H
#define CLM_CLI_EVENT_LINE_H

#include "cli/text.h"

#include <stdbool.h>
#include <stdint.h>

/* Begins a line with the event's name and the time of now. clm__say_event ends it, prints it and
 * frees it. */
clm__text clm__event_line_begin(const char *event);
void clm__event_line_end(clm__text *line);

void clm__event_line_text(clm__text *line, const char *key, const char *value);
void clm__event_line_count(clm__text *line, const char *key, uint64_t value);
/* What JSON cannot say (not a number, infinity) becomes null. */
void clm__event_line_number(clm__text *line, const char *key, double value);
/* A list of texts: the lines of `value`. */
void clm__event_line_list(clm__text *line, const char *key, const char *value);
void clm__event_line_flag(clm__text *line, const char *key, bool value);

#endif
