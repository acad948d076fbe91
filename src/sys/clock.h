/* Time. */
#ifndef CLM_SYS_CLOCK_H
#define CLM_SYS_CLOCK_H

#include <stdint.h>

/* Seconds of a clock that never jumps; only differences mean something. */
double clm__clock_seconds(void);

/* Seconds since 1970, as the machine's clock has them: it may be set. */
double clm__clock_unix_seconds(void);

#define CLM__CLOCK_STAMP_SIZE 32
/* The local time as "2026-01-31@12:00:00" (Keras' date_saved) into text; returns text. */
char *clm__clock_stamp(char text[CLM__CLOCK_STAMP_SIZE]);

/* The local time as "20260131-120000", for names of folders; returns text. */
char *clm__clock_name(char text[CLM__CLOCK_STAMP_SIZE]);

#endif
