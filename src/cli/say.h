/* What the program says: errors and warnings on stderr, results on stdout, and the library's
 * messages in between. A live line (a progress bar) is cleared before anything else is said. With
 * --progress json stdout has events alone, warnings among them. */
#ifndef CLM_CLI_SAY_H
#define CLM_CLI_SAY_H

#include "clematis/clematis.h"

#include "cli/text.h"

#include <stdbool.h>

/* What becomes of messages. */
typedef struct clm__voice {
  bool quiet;       /* results and errors alone */
  bool verbose;     /* details, and the trail of an error */
  bool info_to_out; /* the library's messages are part of the result: train */
  bool events;      /* stdout is for other programs: clm__say_event alone writes there */
} clm__voice;

void clm__say_set_voice(const clm__voice *voice);

/* This process is one rank of several: rank 0 speaks for all, the others only warn, with their
 * number and host. Errors are kept instead of said, so that all ranks can agree on one. */
void clm__say_as_rank(int rank, const char *host);

/* The error that was kept last. */
const char *clm__say_kept_error(void);

/* Says what is wrong, in one line on stderr, and returns status. */
clm_status clm__say_error(clm_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Says the thread's library error of this status, and with --verbose where it came from. */
clm_status clm__say_library_error(clm_status status);

/* The same for an error that the ranks have agreed on: nothing is kept. */
clm_status clm__say_agreed_error(clm_status status);

/* Says in one line on stderr how it ended, never kept. */
void clm__say_notice(const char *format, ...) __attribute__((format(printf, 1, 2)));

void clm__say_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A line of the result, on stdout. */
void clm__say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A whole text of the result, as it is. */
void clm__say_text(const char *text);

/* A line that a person likes to see, on stdout, left out with --quiet. */
void clm__say_info(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Ends an event's line (event_line.h), prints it on stdout and frees it. */
void clm__say_event(clm__text *line);

/* A line for this rank's log file alone. */
void clm__say_to_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* From here on all that is said, and all details, is kept for the log file of this rank ... */
void clm__say_begin_log(int rank, const char *host);
/* ... which is written into this folder; a second call does nothing. What fails is a warning. */
void clm__say_open_log(const char *folder);

/* Draws a live line on stdout in place of the one before; an empty text clears it. */
void clm__say_live(const char *text);

/* Where the library's messages go. */
const clm_log *clm__say_log(void);

/* Ends the output. Errors: IO where stdout could not be written (a full disk). */
clm_status clm__say_finish(clm_status status);

#endif
