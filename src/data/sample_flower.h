/* Pictures of flowers: a function of (seed, kind, number). Random numbers are drawn in statements
 * of their own, since C leaves the order within an expression open. */
#ifndef CLM_DATA_SAMPLE_FLOWER_H
#define CLM_DATA_SAMPLE_FLOWER_H

#include "data/image.h"

#define CLM__SAMPLE_KIND_COUNT 5

/* "buttercup", ...: also the names of the folders. */
const char *clm__sample_kind_name(int kind);

/* Draws a picture. Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__sample_flower(uint64_t seed, int kind, int number,
                                             clm__image *image);

#endif
