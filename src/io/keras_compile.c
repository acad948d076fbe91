#include "io/keras_config.h"

#include "base/mem.h"
#include "io/keras_field.h"
#include "op/registry.h"

#include <string.h>

/* The first members of every optimizer's attributes (op/optim.h). */
typedef struct common_attributes {
  double learning_rate;
  double weight_decay;
} common_attributes;

/* A schedule is an object with a class of its own. */
static clm_status read_learning_rate(const clm__json_at *at, double *learning_rate)
{
  if (at->value == NULL) return CLM_OK;
  if (clm__json_kind_of(at) == CLM__JSON_OBJECT) {
    const char *name = NULL;
    clm__json_at config;
    CLM_TRY(clm__keras_get_class(at, &name, &config));
    return clm__json_fail(at, CLM_UNSUPPORTED,
                          "the learning rate follows %.80s; schedules are not supported", name);
  }
  CLM_TRY(clm__json_get_number(at, learning_rate));
  if (!(*learning_rate >= 0.0))
    return clm__json_fail(at, CLM_BAD_DATA, "a learning rate of %g is not possible",
                          *learning_rate);
  return CLM_OK;
}

static clm_status read_weight_decay(const clm__json_at *at, double *weight_decay)
{
  if (at->value == NULL) return CLM_OK;
  *weight_decay = 0.0;
  if (clm__json_kind_of(at) == CLM__JSON_NULL) return CLM_OK;
  CLM_TRY(clm__json_get_number(at, weight_decay));
  if (!(*weight_decay >= 0.0))
    return clm__json_fail(at, CLM_BAD_DATA, "a weight decay of %g is not possible", *weight_decay);
  return CLM_OK;
}

static clm_status check_optim_keys(const clm__json_at *config, const clm__optim *optim)
{
  static const char *const own[] = {
      "name", "learning_rate", "weight_decay", "decay", "jit_compile", "is_legacy_optimizer", NULL};
  const clm__json_at decay = clm__json_find(config, "decay");
  double rate = 0.0;
  if (decay.value != NULL) CLM_TRY(clm__json_get_number(&decay, &rate));
  if (rate != 0.0)
    return clm__json_fail(&decay, CLM_UNSUPPORTED, "a decay of the learning rate is not supported");
  return clm__keras_check_keys(
      config, own, (const clm__field *const[]){clm__optim_common_fields, optim->fields, NULL});
}

static clm_status read_optim(const clm__json_at *at, clm__compile *compile)
{
  const char *name = NULL;
  clm__json_at config;
  CLM_TRY(clm__keras_get_class(at, &name, &config));
  const clm_status status = clm__registry_find_optim(name, &compile->optim);
  if (status != CLM_OK) return clm__error_prefix(status, "compile_config.optimizer: ");
  const clm__optim *optim = compile->optim;
  CLM_TRY(clm__mem_alloc(1, optim->attribute_bytes, &compile->optim_attributes));
  CLM_TRY(check_optim_keys(&config, optim));
  /* The common table has no members: it only refuses what is not supported. */
  CLM_TRY(clm__keras_read_fields(&config, clm__optim_common_fields, compile->optim_attributes));
  CLM_TRY(clm__keras_read_fields(&config, optim->fields, compile->optim_attributes));
  common_attributes *common = compile->optim_attributes;
  *common = (common_attributes){optim->learning_rate, optim->weight_decay};
  const clm__json_at rate = clm__json_find(&config, "learning_rate");
  const clm__json_at decay = clm__json_find(&config, "weight_decay");
  CLM_TRY(read_learning_rate(&rate, &common->learning_rate));
  return read_weight_decay(&decay, &common->weight_decay);
}

/* A loss by name or as an object; a model with one output may have it in a list. */
static clm_status read_loss(const clm__json_at *at, clm__compile *compile)
{
  static const char *const known[] = {"name", "dtype", NULL};
  const char *name = NULL;
  clm__json_at config;
  const clm__json_kind kind = clm__json_kind_of(at);
  if (kind == CLM__JSON_MISSING || kind == CLM__JSON_NULL) return CLM_OK;
  const clm__json_at only = clm__json_item(at, 0);
  if (kind == CLM__JSON_LIST && clm__json_count(at) == 1) return read_loss(&only, compile);
  CLM_TRY(clm__keras_get_class(at, &name, &config));
  const clm_status status = clm__registry_find_loss(name, &compile->loss);
  if (status != CLM_OK) return clm__error_prefix(status, "compile_config.loss: ");
  const clm__loss *loss = compile->loss;
  CLM_TRY(clm__mem_alloc(1, loss->attribute_bytes, &compile->loss_attributes));
  const clm__json_at dtype = clm__json_find(&config, "dtype");
  CLM_TRY(clm__keras_check_dtype(&dtype));
  CLM_TRY(clm__keras_check_keys(&config, known, (const clm__field *const[]){loss->fields, NULL}));
  return clm__keras_read_fields(&config, loss->fields, compile->loss_attributes);
}

/* Accuracy is always computed; other metrics are told and left out. */
static void look_at_metrics(const clm__json_at *metrics, const clm_log *log)
{
  static const char *const same[] = {"accuracy", "acc", "sparse_categorical_accuracy",
                                     "categorical_accuracy"};
  for (size_t i = 0; i < clm__json_count(metrics); i++) {
    const clm__json_at item = clm__json_item(metrics, i);
    const clm__json_at class_name = clm__json_find(&item, "class_name");
    const clm__json_at *name = class_name.value != NULL ? &class_name : &item;
    const char *text = NULL;
    bool known = clm__json_kind_of(name) != CLM__JSON_TEXT;
    for (size_t k = 0; k < sizeof same / sizeof same[0]; k++)
      known = known || clm__json_is_text(name, same[k]);
    if (known || clm__json_get_text(name, &text) != CLM_OK) continue;
    clm__log(log, CLM_LOG_WARNING, "the metric %.80s is not computed, only the accuracy is", text);
  }
}

clm_status clm__keras_read_compile(const clm__json_at *model, const clm_log *log,
                                   clm__compile *compile)
{
  clm__compile read = {0};
  const clm__json_at config = clm__json_find(model, "compile_config");
  const clm__json_at optimizer = clm__json_find(&config, "optimizer");
  const clm__json_at loss = clm__json_find(&config, "loss");
  const clm__json_at metrics = clm__json_find(&config, "metrics");
  const clm__json_at weights = clm__json_find(&config, "loss_weights");
  const clm__json_kind kind = clm__json_kind_of(&optimizer);
  clm_status status = CLM_OK;
  if (clm__json_kind_of(&weights) > CLM__JSON_NULL)
    status = clm__json_fail(&weights, CLM_UNSUPPORTED, "weights of the loss are not supported");
  if (status == CLM_OK && kind > CLM__JSON_NULL) status = read_optim(&optimizer, &read);
  if (status == CLM_OK) status = read_loss(&loss, &read);
  if (status != CLM_OK) {
    clm__compile_fini(&read);
    return status;
  }
  look_at_metrics(&metrics, log);
  *compile = read;
  return CLM_OK;
}

void clm__compile_fini(clm__compile *compile)
{
  clm__mem_free(compile->optim_attributes);
  clm__mem_free(compile->loss_attributes);
  *compile = (clm__compile){0};
}

/* Keras keeps rates as float32, so it writes what such a number is in decimal. */
static void put_optim(clm__json_writer *writer, const clm__optim *optim, const void *attributes)
{
  const common_attributes *common = attributes;
  clm__keras_begin_class(writer, "optimizer", "keras.optimizers", optim->keras_class);
  clm__json_put_text(writer, "name", optim->keras_name);
  clm__json_put_number(writer, "learning_rate", (double)(float)common->learning_rate);
  if (common->weight_decay == 0.0)
    clm__json_put_null(writer, "weight_decay");
  else
    clm__json_put_number(writer, "weight_decay", common->weight_decay);
  clm__keras_write_fields(writer, clm__optim_common_fields, attributes);
  clm__keras_write_fields(writer, optim->fields, attributes);
  clm__keras_end_class(writer);
}

void clm__keras_write_compile(clm__json_writer *writer, const clm__compile *compile)
{
  if (compile->optim == NULL) return;
  put_optim(writer, compile->optim, compile->optim_attributes);
  if (compile->loss == NULL) {
    clm__json_put_null(writer, "loss");
  } else {
    clm__keras_begin_class(writer, "loss", "keras.losses", compile->loss->keras_class);
    clm__json_put_text(writer, "name", compile->loss->name);
    clm__keras_write_fields(writer, compile->loss->fields, compile->loss_attributes);
    clm__keras_end_class(writer);
  }
  clm__json_put_null(writer, "loss_weights");
  clm__json_begin_list(writer, "metrics");
  clm__json_put_text(writer, NULL, "accuracy");
  clm__json_end_list(writer);
  clm__json_put_null(writer, "weighted_metrics");
  clm__json_put_bool(writer, "run_eagerly", false);
  clm__json_put_int(writer, "steps_per_execution", 1);
  clm__json_put_bool(writer, "jit_compile", false);
}
