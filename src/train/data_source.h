/* From the public data configuration to a checked dataset and a loader. */
#ifndef CLM_TRAIN_DATA_SOURCE_H
#define CLM_TRAIN_DATA_SOURCE_H

#include "clematis/data.h"
#include "data/loader.h"
#include "graph/graph.h"

typedef struct clm__progress {
  void (*call)(void *user, size_t done, size_t count); /* may be NULL */
  void *user;
} clm__progress;

/* Checks the numbers of a configuration. Errors: USAGE. */
CLM_MUST_CHECK clm_status clm__data_source_check(const clm_data_config *config);

/* Lists and splits. Errors: as clm__dataset_open. */
CLM_MUST_CHECK clm_status clm__data_source_list(const clm_data_config *config,
                                                clm__dataset **dataset);

/* Lists, splits, decodes every file once and takes the bad ones out of their subset, telling each
 * in a WARNING (the first ten) and their number. *all_count: samples with the bad ones behind.
 * Errors: as clm__dataset_open and clm__dataset_check. */
CLM_MUST_CHECK clm_status clm__data_source_open(const clm_data_config *config, const clm_log *log,
                                                const clm__progress *progress,
                                                clm__dataset **dataset, size_t *all_count);

/* What the dataset holds, for people; taken by the caller (clm_data_report_free). */
CLM_MUST_CHECK clm_status clm__data_source_report(const clm__dataset *dataset, size_t all_count,
                                                  clm_data_report **report);

/* How pictures are decoded and resized for a model's input. */
clm__decode_options clm__data_source_decode(const clm_data_config *config, const clm__shape *input);
clm__resize_config clm__data_source_resize(const clm_data_config *config, const clm__shape *input);

/* A loader of that dataset for a model's input. Errors: as clm__loader_create. */
CLM_MUST_CHECK clm_status clm__data_source_loader(const clm_data_config *config,
                                                  const clm__dataset *dataset,
                                                  const clm__shape *input, int batch_max,
                                                  const clm_log *log, clm__loader **loader);

#endif
