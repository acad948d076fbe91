#include "train/inference.h"

#include "base/mem.h"
#include "op/registry.h"
#include "sys/thread.h"
#include "train/device_choice.h"

static clm_status default_loss(clm__inference *inference, const clm__loss **loss)
{
  CLM_TRY(clm__registry_find_loss("sparse_categorical_crossentropy", loss));
  CLM_TRY(clm__mem_alloc(1, (*loss)->attribute_bytes, &inference->loss_attributes));
  clm__field_set_defaults((*loss)->fields, inference->loss_attributes);
  return CLM_OK;
}

clm_status clm__inference_open(clm__inference *inference, const clm_model *model,
                               const clm_run_config *config, int batch_max, bool with_loss)
{
  *inference = (clm__inference){0};
  const clm__model_file *file = &model->file;
  CLM_REQUIRE(file->weights != NULL, CLM_BAD_DATA,
              "the model has no weights: it is only a description; train it first");
  clm__replica_config replica = {.graph = file->graph,
                                 .weights = file->weights,
                                 .batch_max = batch_max,
                                 .variant = config->variant,
                                 .threads = clm__thread_processors(),
                                 .log = config->log};
  if (with_loss) {
    replica.loss = file->compile.loss;
    replica.loss_attributes = file->compile.loss_attributes;
    if (replica.loss == NULL) {
      CLM_TRY(default_loss(inference, &replica.loss));
      replica.loss_attributes = inference->loss_attributes;
    }
  }
  CLM_TRY(clm__device_choice_open(config, &inference->device, &inference->tune));
  replica.device = inference->device;
  replica.tune = inference->tune;
  CLM_TRY(clm__replica_create(&replica, &inference->replica));
  return clm__replica_write_weights(inference->replica, file->weights->values);
}

void clm__inference_close(clm__inference *inference)
{
  clm__replica_destroy(inference->replica);
  clm__tune_close(inference->tune);
  clm__device_close(inference->device);
  clm__mem_free(inference->loss_attributes);
  *inference = (clm__inference){0};
}
