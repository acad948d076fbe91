#include "train/session_model.h"

#include "base/log.h"
#include "base/mem.h"
#include "op/registry.h"

#include <math.h>
#include <string.h>

/* Finds a member of an optimizer's attributes by Keras' key. */
static const clm__field *find_field(const clm__field *fields, const char *key)
{
  for (const clm__field *field = fields; field != NULL && field->key != NULL; field++)
    if (strcmp(field->key, key) == 0) return field;
  return NULL;
}

static clm_status set_number(const clm__optim *optim, void *attributes, const char *key,
                             double value)
{
  if (isnan(value)) return CLM_OK;
  const clm__field *field = find_field(optim->fields, key);
  CLM_REQUIRE(field != NULL && field->kind == CLM__FIELD_FLOAT, CLM_USAGE,
              "the optimizer %s has no %s", optim->name, key);
  *(double *)((char *)attributes + field->offset) = value;
  return CLM_OK;
}

static clm_status set_nesterov(const clm__optim *optim, void *attributes, int nesterov)
{
  if (nesterov < 0) return CLM_OK;
  const clm__field *field = find_field(optim->fields, "nesterov");
  CLM_REQUIRE(field != NULL && field->kind == CLM__FIELD_BOOL, CLM_USAGE,
              "the optimizer %s has no nesterov", optim->name);
  *(bool *)((char *)attributes + field->offset) = nesterov != 0;
  return CLM_OK;
}

/* The first members of every optimizer's attributes (op/optim.h). */
typedef struct common_attributes {
  double learning_rate;
  double weight_decay;
} common_attributes;

static clm_status choose_optim(const clm_train_config *config, clm__compile *compile)
{
  const char *name = config->optimizer;
  if (name == NULL && compile->optim == NULL) name = "adam";
  if (name == NULL) return CLM_OK;
  const clm__optim *optim = NULL;
  CLM_TRY(clm__registry_find_optim(name, &optim));
  /* The same optimizer keeps the numbers the model was compiled with. */
  if (optim == compile->optim) return CLM_OK;
  void *attributes = NULL;
  CLM_TRY(clm__mem_alloc(1, optim->attribute_bytes, &attributes));
  clm__field_set_defaults(optim->fields, attributes);
  common_attributes *common = attributes;
  common->learning_rate = optim->learning_rate;
  common->weight_decay = optim->weight_decay;
  clm__mem_free(compile->optim_attributes);
  compile->optim = optim;
  compile->optim_attributes = attributes;
  return CLM_OK;
}

static clm_status apply_numbers(const clm_train_config *config, clm__compile *compile)
{
  common_attributes *common = compile->optim_attributes;
  if (!isnan(config->learning_rate)) common->learning_rate = config->learning_rate;
  if (!isnan(config->weight_decay)) common->weight_decay = config->weight_decay;
  CLM_REQUIRE(isfinite(common->learning_rate) && common->learning_rate >= 0.0, CLM_USAGE,
              "the learning rate is %g; it must be a number of at least 0", common->learning_rate);
  CLM_TRY(set_number(compile->optim, compile->optim_attributes, "momentum", config->momentum));
  return set_nesterov(compile->optim, compile->optim_attributes, config->nesterov);
}

static clm_status choose_loss(const clm_train_config *config, clm__compile *compile)
{
  const char *name = config->loss;
  if (name == NULL && compile->loss == NULL) name = "sparse_categorical_crossentropy";
  if (name == NULL) return CLM_OK;
  const clm__loss *loss = NULL;
  CLM_TRY(clm__registry_find_loss(name, &loss));
  if (loss == compile->loss) return CLM_OK;
  void *attributes = NULL;
  CLM_TRY(clm__mem_alloc(1, loss->attribute_bytes, &attributes));
  clm__field_set_defaults(loss->fields, attributes);
  clm__mem_free(compile->loss_attributes);
  compile->loss = loss;
  compile->loss_attributes = attributes;
  return CLM_OK;
}

static bool optim_settings_named(const clm_train_config *config)
{
  return config->optimizer != NULL || !isnan(config->momentum) || !isnan(config->weight_decay) ||
         config->nesterov >= 0;
}

/* The state in the file goes on where nothing about the optimizer was asked for; the learning rate
 * alone may change. */
static clm_status settle_state(const clm_train_config *config, clm__model_file *model)
{
  if (model->optim_state != NULL && optim_settings_named(config)) {
    clm__optim_state_destroy(model->optim_state);
    model->optim_state = NULL;
  }
  if (model->optim_state == NULL)
    return clm__optim_state_create(model->compile.optim, model->compile.optim_attributes,
                                   model->weights, &model->optim_state);
  if (!isnan(config->learning_rate))
    model->optim_state->learning_rate = (float)config->learning_rate;
  return CLM_OK;
}

clm_status clm__session_compile(const clm_train_config *config, clm__model_file *model)
{
  CLM_TRY(choose_optim(config, &model->compile));
  CLM_TRY(apply_numbers(config, &model->compile));
  CLM_TRY(choose_loss(config, &model->compile));
  return settle_state(config, model);
}

static clm_status load_or_make(const clm_train_config *config, int class_count,
                               clm__model_file *model)
{
  if (config->model != NULL) return clm__model_file_read(config->model, config->run.log, model);
  CLM_REQUIRE(config->image_height >= 8 && config->image_width >= 8, CLM_USAGE,
              "the flowers network needs images of at least 8x8 pixels, %dx%d were asked for",
              config->image_height, config->image_width);
  return clm__graph_create_default(config->image_height, config->image_width, 3, class_count,
                                   &model->graph);
}

clm_status clm__session_make_model(const clm_train_config *config, int class_count,
                                   clm__model_file *model)
{
  CLM_TRY(load_or_make(config, class_count, model));
  if (model->weights == NULL) {
    CLM_TRY(clm__weights_create(model->graph, &model->weights));
    clm__weights_initialize(model->weights, config->seed);
  }
  return clm__session_compile(config, model);
}

clm_status clm__session_check_classes(const clm__graph *graph, int class_count, const clm_log *log)
{
  const clm__shape *output = clm__graph_output_shape(graph);
  const int outputs = output->rank == 1 ? output->dims[0] : 0;
  CLM_REQUIRE(
      class_count <= outputs, CLM_BAD_DATA,
      "the folder has %d classes, the model %s only %d outputs: take a model with one output "
      "a class",
      class_count, graph->name, outputs);
  if (class_count < outputs)
    clm__log(log, CLM_LOG_WARNING, "the folder has %d classes, fewer than the model's %d outputs",
             class_count, outputs);
  return CLM_OK;
}
