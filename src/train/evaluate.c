#include "base/log.h"
#include "base/num.h"
#include "sys/clock.h"
#include "train/data_source.h"
#include "train/inference.h"
#include "train/order.h"
#include "train/session_model.h"

#include <string.h>

/* The images of a subset: samples[first .. first + count). */
typedef struct sample_range {
  size_t first;
  size_t count;
} sample_range;

static sample_range choose_range(const clm__dataset *dataset, clm_subset subset)
{
  if (subset == CLM_SUBSET_TRAINING)
    return (sample_range){.first = 0, .count = dataset->train_count};
  if (subset == CLM_SUBSET_VALIDATION)
    return (sample_range){.first = dataset->train_count,
                          .count = dataset->count - dataset->train_count};
  return (sample_range){.first = 0, .count = dataset->count};
}

/* Labels count class folders in order, so other names mean other labels. */
static clm_status check_names(const clm_model *model, const clm__dataset *dataset)
{
  for (int i = 0; i < dataset->class_count && i < model->state.class_count; i++)
    CLM_REQUIRE(strcmp(dataset->class_names[i], model->state.class_names[i]) == 0, CLM_BAD_DATA,
                "class %d of the folder is '%s', the model was trained with '%s': the folders must "
                "have the same names",
                i, dataset->class_names[i], model->state.class_names[i]);
  return CLM_OK;
}

static clm_status evaluate_batches(clm__replica *replica, clm__loader *loader,
                                   const clm__order *order, clm_evaluation *sums)
{
  const double begin = clm__clock_seconds();
  double loss_sum = 0.0;
  double hit_count = 0.0;
  CLM_TRY(clm__loader_begin(loader, order->samples, order->starts, order->validation_batches));
  for (size_t b = 0; b < order->validation_batches; b++) {
    clm__batch batch;
    CLM_TRY(clm__loader_next(loader, &batch));
    const clm__replica_input input = {
        .pixels = batch.pixels, .labels = batch.labels, .count = batch.count};
    clm_status status = clm__replica_evaluate(replica, &input);
    clm__replica_result result;
    if (status == CLM_OK) status = clm__replica_finish(replica, &result);
    clm__loader_release(loader, &batch);
    CLM_TRY(status);
    loss_sum += result.loss_sum;
    hit_count += result.hit_count;
    sums->images += (size_t)result.count;
  }
  const double images = (double)sums->images;
  sums->loss = loss_sum / images;
  sums->accuracy = hit_count / images;
  sums->seconds = clm__clock_seconds() - begin;
  return CLM_OK;
}

static clm_status evaluate_range(const clm_model *model, const clm_data_config *data,
                                 const clm__dataset *dataset, const sample_range *range,
                                 const clm_run_config *run, clm_evaluation *result)
{
  const size_t batch_size = clm__min_size((size_t)run->batch_size, range->count);
  clm__inference inference;
  clm__loader *loader = NULL;
  clm__order order = {0};
  clm_data_config once = *data;
  once.cache = CLM_CACHE_OFF; /* every image is read once */
  clm_status status = clm__inference_open(&inference, model, run, (int)batch_size, true);
  if (status == CLM_OK)
    status = clm__data_source_loader(&once, dataset, &model->file.graph->input_shape,
                                     (int)batch_size, run->log, &loader);
  if (status == CLM_OK)
    status = clm__order_init_range(&order, range->first, range->count, batch_size);
  clm_evaluation sums = {0};
  if (status == CLM_OK) status = evaluate_batches(inference.replica, loader, &order, &sums);
  clm__order_fini(&order);
  clm__loader_destroy(loader);
  clm__inference_close(&inference);
  if (status == CLM_OK) *result = sums;
  return status;
}

static clm_status evaluate_dataset(const clm_model *model, const clm_data_config *data,
                                   clm_subset subset, const clm__dataset *dataset,
                                   const clm_run_config *run, clm_evaluation *result)
{
  CLM_TRY(clm__session_check_classes(model->file.graph, dataset->class_count, run->log));
  CLM_TRY(check_names(model, dataset));
  const sample_range range = choose_range(dataset, subset);
  CLM_REQUIRE(range.count > 0, CLM_BAD_DATA, "the chosen subset of %s has no images", data->folder);
  return evaluate_range(model, data, dataset, &range, run, result);
}

clm_status clm_model_evaluate(const clm_model *model, const clm_data_config *data,
                              clm_subset subset, const clm_run_config *run, clm_evaluation *result)
{
  CLM_REQUIRE(run->batch_size >= 1, CLM_USAGE, "the batch size is %d; it must be at least 1",
              run->batch_size);
  CLM_TRY(clm__choice_check(run->variant));
  clm__dataset *dataset = NULL;
  size_t all_count = 0;
  CLM_TRY(clm__data_source_open(data, run->log, NULL, &dataset, &all_count));
  const clm_status status = evaluate_dataset(model, data, subset, dataset, run, result);
  clm__dataset_close(dataset);
  return status;
}
