/* The folder of a run: who writes what where. */
#ifndef CLM_TRAIN_RUN_FOLDER_H
#define CLM_TRAIN_RUN_FOLDER_H

#include "data/dataset.h"

typedef struct clm__run_folder {
  char *path;
  char *checkpoints; /* path/checkpoints */
  char *model;       /* path/model.keras */
  char *best;        /* path/best.keras */
  char *history_csv;
  char *history_json;
} clm__run_folder;

/* Makes the folder (out NULL: a fresh one under runs/) and proves by a real write that it can be
 * used, before any data is read. Without `resume` a folder that already holds a run is refused.
 * Errors: IO, USAGE. */
CLM_MUST_CHECK clm_status clm__run_folder_open(clm__run_folder *folder, const char *out,
                                               bool resume);
/* The same paths without a look at the disk: for ranks that do not write. Errors: NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__run_folder_name(clm__run_folder *folder, const char *path);
void clm__run_folder_fini(clm__run_folder *folder);

/* Writes classes.txt, training_files.txt, validation_files.txt and bad_files.txt; all_count: the
 * samples with the dropped ones behind (clm__dataset_drop_faulty). Errors: IO. */
CLM_MUST_CHECK clm_status clm__run_folder_write_lists(const clm__run_folder *folder,
                                                      const clm__dataset *dataset,
                                                      size_t all_count);

/* Writes path/<name> whole. Errors: IO. */
CLM_MUST_CHECK clm_status clm__run_folder_write_text(const clm__run_folder *folder,
                                                     const char *name, const char *text);

#endif
