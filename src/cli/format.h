/* Numbers as people read them. */
#ifndef CLM_CLI_FORMAT_H
#define CLM_CLI_FORMAT_H

#include <stdint.h>

#define CLM__FORMAT_SIZE 32

/* "3,989,285" into text; returns text. */
char *clm__format_count(uint64_t count, char text[CLM__FORMAT_SIZE]);

/* "15.2 MB", in powers of 1024; returns text. */
char *clm__format_bytes(uint64_t bytes, char text[CLM__FORMAT_SIZE]);

/* "8s", "1:05", "1:02:03", whole seconds downwards as Keras has them; returns text. */
char *clm__format_seconds(double seconds, char text[CLM__FORMAT_SIZE]);

/* "75ms/step", "2s/step", "300us/step"; returns text. */
char *clm__format_step_time(double seconds, char text[CLM__FORMAT_SIZE]);

/* "0.4213", small ones as "3.2100e-04"; returns text. */
char *clm__format_figure(double value, char text[CLM__FORMAT_SIZE]);

#endif
