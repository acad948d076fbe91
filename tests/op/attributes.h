/* Attributes written as text, "filters=4 strides=2,1 padding=same activation=relu", read through an
 * op's table of fields, so that a test needs no header of the op. Pairs and sides may be one
 * number. Keys that are not named keep their default. */
#ifndef CLM_TESTS_OP_ATTRIBUTES_H
#define CLM_TESTS_OP_ATTRIBUTES_H

#include "op/field.h"

/* Fills a zeroed struct; text may be NULL. The test fails for an unknown key or value. */
void attributes_read(const clm__field *fields, const char *text, void *attributes);

#endif
