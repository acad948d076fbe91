/* The programs of a device: private to device.c and program.c. */
#ifndef CLM_DEV_PROGRAM_TABLE_H
#define CLM_DEV_PROGRAM_TABLE_H

#include "dev/device.h"

typedef struct clm__program_table clm__program_table;

CLM_MUST_CHECK clm_status clm__program_table_create(clm__program_table **table);
/* Keeps on disk what there is time for when the device closes. */
void clm__program_store_last(clm__device *device);
/* Releases all programs; takes NULL. */
void clm__program_table_destroy(clm__program_table *table);

#endif
