/* The one place that writes words for a shell to read. */
#ifndef CLM_LAUNCH_SHELL_H
#define CLM_LAUNCH_SHELL_H

#include "launch/words.h"

/* Adds a word so that any POSIX shell reads it back byte for byte: as it is where it is made of
 * harmless letters, else in single quotes. Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__shell_add(clm__str *str, const char *word);

/* Adds words with a blank between them. Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__shell_add_words(clm__str *str, const clm__words *words);

#endif
