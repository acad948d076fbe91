/* The public model object. */
#ifndef CLM_TRAIN_MODEL_H
#define CLM_TRAIN_MODEL_H

#include "clematis/model.h"
#include "io/model_file.h"
#include "io/run_state.h"

struct clm_model {
  clm__model_file file;
  clm__run_state state; /* of the run that wrote it; class_count 0 where a stranger did */
};

#endif
