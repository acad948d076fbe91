/* What the terminal can show. */
#ifndef CLM_CLI_TERMINAL_H
#define CLM_CLI_TERMINAL_H

#include <stdbool.h>

/* Whether stdout is a terminal that a live line can be drawn on. Ranks under mpirun or srun have a
 * terminal of their own that nobody sees, so there it is none. */
bool clm__terminal_is_live(void);

/* Columns of stdout's terminal, 80 where it is none. */
int clm__terminal_columns(void);

/* Whether colours are wanted: the terminal is live and NO_COLOR is not set. */
bool clm__terminal_has_colour(void);

/* Whether the locale names a character set that is not UTF-8. */
bool clm__terminal_is_ascii(void);

#endif
