/* The model of a run: read or made, compiled as the configuration says. */
#ifndef CLM_TRAIN_SESSION_MODEL_H
#define CLM_TRAIN_SESSION_MODEL_H

#include "clematis/train.h"
#include "io/model_file.h"

/* Reads config->model, or makes the flowers network for that many classes; initial weights where
 * the file has none; optimizer and loss as configured. model is zeroed, and valid for
 * clm__model_file_fini also on failure. Errors: as reading, USAGE. */
CLM_MUST_CHECK clm_status clm__session_make_model(const clm_train_config *config, int class_count,
                                                  clm__model_file *model);

/* Applies what the configuration says of optimizer and loss to a model that has weights. */
CLM_MUST_CHECK clm_status clm__session_compile(const clm_train_config *config,
                                               clm__model_file *model);

/* Whether a folder of so many classes fits the model's outputs. Errors: BAD_DATA. */
CLM_MUST_CHECK clm_status clm__session_check_classes(const clm__graph *graph, int class_count,
                                                     const clm_log *log);

#endif
