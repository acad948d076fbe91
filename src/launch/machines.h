/* What is known about the machine types of Google's cloud. */
#ifndef CLM_LAUNCH_MACHINES_H
#define CLM_LAUNCH_MACHINES_H

#include <stdbool.h>

/* Processors of a machine type, the number it ends with: 8 of "n1-standard-8"; 0: not known. */
int clm__machine_processors(const char *machine_type);

/* Whether this many accelerators fit a machine type. Types that are not in the table fit. `allowed`
 * gets the counts that do where the answer is no; static storage. */
bool clm__machine_fits(const char *machine_type, const char *accelerator, int count,
                       const char **allowed);

#endif
