/* One list of images for all ranks. */
#ifndef CLM_TRAIN_SHARED_DATA_H
#define CLM_TRAIN_SHARED_DATA_H

#include "comm/comm.h"
#include "train/data_source.h"

/* As clm__data_source_open: rank 0 lists, every rank decodes its part of the files from its own
 * folder, and all leave with the same dataset. Collective. Errors: those of any rank, on all. */
CLM_MUST_CHECK clm_status clm__shared_data_open(const clm_data_config *config, clm__comm *comm,
                                                const clm_log *log, clm__dataset **dataset,
                                                size_t *all_count);

#endif
