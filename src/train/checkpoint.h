/* Checkpoints of a run: .keras files with the run's state as one more member. */
#ifndef CLM_TRAIN_CHECKPOINT_H
#define CLM_TRAIN_CHECKPOINT_H

#include "base/log.h"
#include "io/model_file.h"
#include "io/run_state.h"
#include "train/run_folder.h"

/* Writes model and state to path. Nothing that exists is touched before the new file is whole.
 * Errors: IO, NO_MEMORY. */
CLM_MUST_CHECK clm_status clm__checkpoint_write(const char *path, const clm__model_file *model,
                                                const clm__run_state *state);

/* Writes checkpoints/images-<images seen>.keras, then removes all but the newest `keep`. Errors:
 * IO. */
CLM_MUST_CHECK clm_status clm__checkpoint_save(const clm__run_folder *folder, int keep,
                                               const clm__model_file *model,
                                               const clm__run_state *state);

/* The two halves of clm__checkpoint_save for a state that is text already (model->extra): the path
 * of a checkpoint, taken by the caller; and the removal of what is too old. */
CLM_MUST_CHECK clm_status clm__checkpoint_path(const clm__run_folder *folder, uint64_t images_seen,
                                               char **path);
CLM_MUST_CHECK clm_status clm__checkpoint_prune(const clm__run_folder *folder, int keep);

/* Reads the newest checkpoint that is whole; broken ones are named in a WARNING. Both results are
 * taken by the caller. Errors: NO_INPUT where none can be used. */
CLM_MUST_CHECK clm_status clm__checkpoint_load(const clm__run_folder *folder, const clm_log *log,
                                               clm__model_file *model, clm__run_state *state);

#endif
