#include "train/order.h"

#include "base/mem.h"
#include "base/num.h"
#include "base/rng.h"

#include <string.h>

size_t clm__order_steps(const clm__order_config *config)
{
  return clm__ceil_div(config->dataset->train_count, config->batch_size);
}

/* Cuts samples[first..end) into batches behind those already there; returns how many. */
static size_t cut_batches(clm__order *order, size_t batches, size_t first, size_t end,
                          size_t batch_size)
{
  size_t count = 0;
  for (size_t at = first; at < end; at += batch_size) {
    order->starts[batches + count] = at;
    count++;
    order->starts[batches + count] = clm__min_size(at + batch_size, end);
  }
  return count;
}

static clm_status allocate(clm__order *order, size_t samples, size_t batches)
{
  *order = (clm__order){0};
  clm_status status = clm__mem_alloc(samples, sizeof *order->samples, &order->samples);
  if (status == CLM_OK) status = clm__mem_alloc(batches + 1, sizeof *order->starts, &order->starts);
  if (status != CLM_OK) clm__order_fini(order);
  return status;
}

clm_status clm__order_init(clm__order *order, const clm__order_config *config, uint32_t epoch,
                           size_t first_step)
{
  CLM_ASSERT(config->batch_size >= 1);
  const clm__dataset *dataset = config->dataset;
  const size_t train_count = dataset->train_count;
  const size_t skipped = clm__min_size(first_step * config->batch_size, train_count);
  const size_t validation_count = config->validate ? dataset->count - train_count : 0;
  const size_t batches = clm__ceil_div(train_count, config->batch_size) +
                         clm__ceil_div(validation_count, config->batch_size);
  CLM_TRY(allocate(order, train_count + validation_count, batches));
  if (config->shuffle)
    clm__rng_permutation(config->seed, epoch, order->samples, train_count);
  else
    for (size_t i = 0; i < train_count; i++) order->samples[i] = (uint32_t)i;
  for (size_t i = 0; i < validation_count; i++)
    order->samples[train_count + i] = (uint32_t)(train_count + i);
  order->starts[0] = skipped;
  order->train_batches = cut_batches(order, 0, skipped, train_count, config->batch_size);
  order->validation_batches = cut_batches(order, order->train_batches, train_count,
                                          train_count + validation_count, config->batch_size);
  return CLM_OK;
}

clm_status clm__order_init_range(clm__order *order, size_t first, size_t count, size_t batch_size)
{
  CLM_TRY(allocate(order, count, clm__ceil_div(count, batch_size)));
  for (size_t i = 0; i < count; i++) order->samples[i] = (uint32_t)(first + i);
  order->validation_batches = cut_batches(order, 0, 0, count, batch_size);
  return CLM_OK;
}

void clm__order_keep(clm__order *order, clm__order_part part, const void *user)
{
  size_t begin = order->starts[0];
  size_t end = 0;
  order->starts[0] = 0;
  for (size_t b = 0; b < order->train_batches + order->validation_batches; b++) {
    const size_t count = order->starts[b + 1] - begin;
    size_t first = 0;
    size_t kept = 0;
    part(user, b >= order->train_batches, count, &first, &kept);
    CLM_ASSERT(first + kept <= count);
    memmove(order->samples + end, order->samples + begin + first, kept * sizeof *order->samples);
    begin += count;
    end += kept;
    order->starts[b + 1] = end;
  }
}

void clm__order_fini(clm__order *order)
{
  clm__mem_free(order->samples);
  clm__mem_free(order->starts);
  *order = (clm__order){0};
}
