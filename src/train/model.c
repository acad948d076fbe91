#include "train/model.h"

#include "base/log.h"
#include "base/mem.h"
#include "graph/summary.h"

clm_status clm_model_load(const char *path, const clm_log *log, clm_model **model)
{
  clm_model *made = NULL;
  CLM_TRY(clm__mem_alloc(1, sizeof *made, &made));
  clm_status status = clm__model_file_read(path, log, &made->file);
  if (status == CLM_OK && made->file.extra != NULL &&
      clm__run_state_from_json(made->file.extra, &made->state) != CLM_OK) {
    clm__log(log, CLM_LOG_WARNING, "%s: the names of its classes cannot be read: %s", path,
             clm_error_last()->message);
    clm_error_clear();
  }
  if (status == CLM_OK && clm__graph_output_shape(made->file.graph)->rank != 1)
    status = clm__error_fail(CLM_BAD_DATA, __FILE__, __LINE__, __func__,
                             "%s is no classifier: its output is not one number a class", path);
  if (status == CLM_OK && made->file.graph->input_shape.rank != 3)
    status =
        clm__error_fail(CLM_BAD_DATA, __FILE__, __LINE__, __func__,
                        "%s takes no images: its input has not height, width and channels", path);
  if (status != CLM_OK) {
    clm_model_destroy(made);
    return status;
  }
  *model = made;
  return CLM_OK;
}

void clm_model_destroy(clm_model *model)
{
  if (model == NULL) return;
  clm__model_file_fini(&model->file);
  clm__run_state_fini(&model->state);
  clm__mem_free(model);
}

clm_status clm_model_summary(const clm_model *model, int columns, char **text)
{
  const clm__weights *weights = model->file.weights;
  clm__weights *laid_out = NULL;
  if (weights == NULL) {
    CLM_TRY(clm__weights_create(model->file.graph, &laid_out));
    weights = laid_out;
  }
  size_t optimizer_params = 0;
  if (model->file.optim_state != NULL)
    optimizer_params =
        clm__weights_count_params(weights, true) * (size_t)model->file.optim_state->slot_count +
        2; /* the iteration and the learning rate */
  const clm_status status =
      clm__summary(model->file.graph, weights, columns, optimizer_params, text);
  clm__weights_destroy(laid_out);
  return status;
}

void clm_text_free(char *text) { clm__mem_free(text); }

void clm_model_input_size(const clm_model *model, int *height, int *width, int *channels)
{
  const clm__shape *input = &model->file.graph->input_shape;
  *height = input->dims[0];
  *width = input->dims[1];
  *channels = input->dims[2];
}

int clm_model_class_count(const clm_model *model)
{
  return clm__graph_output_shape(model->file.graph)->dims[0];
}

const char *clm_model_class_name(const clm_model *model, int index)
{
  const clm__run_state *state = &model->state;
  return index >= 0 && index < state->class_count ? state->class_names[index] : NULL;
}
