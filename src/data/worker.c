#include "data/ring.h"

#include "base/mem.h"

static clm_status load_image(clm__worker *worker, uint32_t index, float *pixels, bool *from_cache)
{
  clm__loader *loader = worker->loader;
  const clm__loader_config *config = &loader->config;
  *from_cache = loader->cache != NULL && clm__cache_get(loader->cache, index, pixels);
  if (*from_cache) return CLM_OK;
  CLM_TRY(clm__reader_read(&worker->reader, config->dataset->folder,
                           config->dataset->samples[index].path, &config->decode));
  CLM_TRY(clm__resize_with(&worker->scratch, &worker->reader.image, &config->resize, pixels));
  clm__reader_trim(&worker->reader);
  if (loader->cache != NULL) clm__cache_put(loader->cache, index, pixels);
  return CLM_OK;
}

/* Opens batches while slots are free; the slot that has an image to claim, or NULL. Locked. */
static clm__slot *find_work(clm__loader *loader)
{
  if (loader->paused) return NULL;
  clm__slot *vacant = NULL;
  for (int i = 0; i < loader->slot_count; i++) {
    clm__slot *at = &loader->slots[i];
    if (at->state == CLM__SLOT_FILLING && at->claimed < at->planned) return at;
    if (at->state == CLM__SLOT_FREE) vacant = at;
  }
  if (vacant == NULL || loader->opened == loader->batch_count) return NULL;
  const size_t batch = loader->opened++;
  vacant->batch = batch;
  vacant->start = loader->starts[batch];
  vacant->planned = (int)(loader->starts[batch + 1] - loader->starts[batch]);
  vacant->claimed = 0;
  vacant->done = 0;
  vacant->error_at = vacant->planned;
  vacant->state = vacant->planned > 0 ? CLM__SLOT_FILLING : CLM__SLOT_READY;
  (void)pthread_cond_broadcast(vacant->planned > 0 ? &loader->work : &loader->ready);
  return vacant->planned > 0 ? vacant : find_work(loader);
}

static void note_error(clm__slot *slot, int position)
{
  if (position >= slot->error_at) return;
  slot->error_at = position;
  slot->error = *clm_error_last();
}

/* Writes down how an image ended. Locked. */
static void finish_image(clm__loader *loader, clm__slot *slot, int position, clm_status status,
                         bool from_cache)
{
  if (status == CLM_OK && from_cache) loader->stats.images_from_cache++;
  if (status == CLM_OK && !from_cache) loader->stats.images_decoded++;
  if (status != CLM_OK) {
    const bool fault = clm__reader_is_fault(status) && !loader->config.strict;
    const char *reason = clm_error_last()->message;
    if (!fault || clm__mem_copy_text(reason, &slot->faults[position]) != CLM_OK)
      note_error(slot, position);
  }
  slot->done++;
  if (slot->done == slot->planned) slot->state = CLM__SLOT_READY;
  loader->busy--;
  if (slot->state == CLM__SLOT_READY || loader->busy == 0)
    (void)pthread_cond_signal(&loader->ready);
}

static void fill_image(clm__worker *worker, clm__slot *slot)
{
  clm__loader *loader = worker->loader;
  const int position = slot->claimed++;
  const uint32_t index = loader->order[slot->start + (size_t)position];
  clm__trace *trace = loader->trace;
  loader->busy++;
  (void)pthread_mutex_unlock(&loader->lock);
  bool from_cache = false;
  float *pixels = slot->pixels + (size_t)position * loader->values_each;
  const double begin = clm__trace_begin(trace);
  const clm_status status = load_image(worker, index, pixels, &from_cache);
  clm__trace_end(trace, begin,
                 &(clm__trace_span){.category = "loader",
                                    .name = from_cache ? "from cache" : "decode",
                                    .lane = worker->lane});
  slot->samples[position] = index;
  slot->labels[position] = loader->config.dataset->samples[index].label;
  (void)pthread_mutex_lock(&loader->lock);
  finish_image(loader, slot, position, status, from_cache);
}

void *clm__worker_run(void *argument)
{
  clm__worker *worker = argument;
  clm__loader *loader = worker->loader;
  clm__thread_give_way();
  (void)pthread_mutex_lock(&loader->lock);
  while (!loader->stopping) {
    clm__slot *slot = find_work(loader);
    if (slot != NULL)
      fill_image(worker, slot);
    else
      (void)pthread_cond_wait(&loader->work, &loader->lock);
  }
  (void)pthread_mutex_unlock(&loader->lock);
  return NULL;
}
