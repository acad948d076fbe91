/* Groups of work-items that add together, as kernels for GPUs use them (clm_group_sum of
 * cl/prelude.cl). */
#ifndef CLM_OP_GROUP_H
#define CLM_OP_GROUP_H

#include "dev/device.h"

#define CLM__GROUP_ITEMS 256 /* where nothing else is asked for; docs/tuning.md says why */

/* Items of a group, a power of two: GROUP of the tuning values ("GROUP=64") where the device takes
 * that many, else CLM__GROUP_ITEMS or the most it takes. */
int clm__group_items(const clm__device_info *info, const char *defines);

/* What `clematis tune` tries besides: smaller groups wait less for each other. */
extern const char *const clm__group_candidates[];

/* The smallest power of two that is not less than `count`, but `most` (one, too) where that is
 * less. */
int clm__group_span(size_t count, int most);

#endif
