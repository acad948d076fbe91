/* A loaded model made ready to evaluate or predict. */
#ifndef CLM_TRAIN_INFERENCE_H
#define CLM_TRAIN_INFERENCE_H

#include "dev/tune.h"
#include "exec/replica.h"
#include "train/model.h"

typedef struct clm__inference {
  clm__device *device;
  clm__tune *tune;
  clm__replica *replica;
  void *loss_attributes; /* owned where the model was not compiled */
} clm__inference;

/* Opens a device and puts the model there without training's memory. with_loss: for evaluation (the
 * model's loss, sparse cross-entropy where it has none), else for prediction. The struct is valid
 * for clm__inference_close also on failure. Errors: BAD_DATA (the file has no weights), those of
 * devices and replicas. */
CLM_MUST_CHECK clm_status clm__inference_open(clm__inference *inference, const clm_model *model,
                                              const clm_run_config *config, int batch_max,
                                              bool with_loss);
void clm__inference_close(clm__inference *inference);

#endif
