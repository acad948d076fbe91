#include "data/loader.h"

#include "base/mem.h"
#include "base/num.h"
#include "data/ring.h"
#include "sys/clock.h"

#include <stdio.h>
#include <string.h>

/* ---- Creating and destroying ---- */

static clm_status allocate_pixels(const clm__loader_config *config, size_t size_bytes,
                                  float **pixels)
{
  void *memory = NULL;
  if (config->allocate != NULL)
    CLM_TRY(config->allocate(config->allocate_user, size_bytes, &memory));
  else
    CLM_TRY(clm__mem_alloc_aligned(size_bytes, &memory));
  *pixels = memory;
  return CLM_OK;
}

static void release_pixels(const clm__loader_config *config, float *pixels)
{
  if (pixels == NULL) return;
  if (config->allocate != NULL)
    config->release(config->allocate_user, pixels);
  else
    clm__mem_free(pixels);
}

static clm_status create_slots(clm__loader *loader)
{
  const size_t most = (size_t)loader->config.batch_max;
  size_t size_bytes = 0;
  CLM_REQUIRE(clm__multiply_size(most, loader->values_each * sizeof(float), &size_bytes),
              CLM_NO_MEMORY, "a batch of %zu pictures is more than can be addressed", most);
  CLM_TRY(clm__mem_alloc((size_t)loader->config.slots, sizeof *loader->slots, &loader->slots));
  loader->slot_count = loader->config.slots;
  for (int i = 0; i < loader->slot_count; i++) {
    clm__slot *slot = &loader->slots[i];
    CLM_TRY(allocate_pixels(&loader->config, size_bytes, &slot->pixels));
    CLM_TRY(clm__mem_alloc(most, sizeof *slot->labels, &slot->labels));
    CLM_TRY(clm__mem_alloc(most, sizeof *slot->samples, &slot->samples));
    CLM_TRY(clm__mem_alloc(most, sizeof *slot->faults, &slot->faults));
  }
  return CLM_OK;
}

#define MEBIBYTE 1048576.0

static clm_status try_cache(clm__loader *loader, uint64_t memory_bytes)
{
  const clm__loader_config *config = &loader->config;
  const size_t count = config->dataset->count;
  const uint64_t each = clm__cache_bound(config->cache, 1, loader->values_each);
  const clm__cache_config cache = {
      .kind = config->cache,
      .count = count,
      .values_each = loader->values_each,
      .overshoots = config->resize.interpolation == CLM__BICUBIC,
      .memory_count = (size_t)(memory_bytes / each < count ? memory_bytes / each : count),
      .folder = config->cache_folder};
  CLM_REQUIRE(cache.memory_count == count || cache.folder != NULL, CLM_NO_MEMORY,
              "there is no folder for it on a disk");
  CLM_TRY(clm__cache_create(&cache, &loader->cache));
  loader->stats.cache_file_bytes = (count - cache.memory_count) * each;
  return CLM_OK;
}

/* A cache too large for its limit, or for the system, is no error: there is streaming. */
static void create_cache(clm__loader *loader)
{
  const clm__loader_config *config = &loader->config;
  if (config->cache == CLM__CACHE_OFF) return;
  const size_t count = config->dataset->count;
  const uint64_t bound = clm__cache_bound(config->cache, count, loader->values_each);
  const uint64_t limit = config->cache_limit_bytes;
  const bool fits = bound <= limit;
  clm_status status = try_cache(loader, config->cache_memory_bytes);
  if (status != CLM_OK && fits) {
    clm_error_clear();
    status = try_cache(loader, limit);
  }
  if (status != CLM_OK) {
    clm__log(config->log, CLM_LOG_INFO,
             "no cache: %zu pictures would take %.1f MiB, the limit is %.1f MiB of memory, and a "
             "file cannot take the rest: %s; every epoch decodes the files again",
             count, (double)bound / MEBIBYTE, (double)limit / MEBIBYTE, clm_error_last()->message);
    clm_error_clear();
    return;
  }
  loader->stats.cache_bound_bytes = bound;
  clm__log(config->log, CLM_LOG_DETAIL,
           "cache: at most %.1f MiB for %zu pictures, %.1f MiB of it in a file",
           (double)bound / MEBIBYTE, count, (double)loader->stats.cache_file_bytes / MEBIBYTE);
}

static clm_status start_workers(clm__loader *loader)
{
  const int wanted = loader->config.threads;
  const int count = wanted > 0 ? wanted : clm__thread_processors();
  CLM_TRY(clm__mem_alloc((size_t)count, sizeof *loader->workers, &loader->workers));
  for (int i = 0; i < count; i++) {
    clm__worker *worker = &loader->workers[i];
    worker->loader = loader;
    const clm_status status =
        clm__thread_start(&worker->thread, "clm-loader", clm__worker_run, worker);
    /* Fewer threads than asked for do the same work. */
    if (status != CLM_OK && i > 0) break;
    CLM_TRY(status);
    loader->worker_count = i + 1;
  }
  return CLM_OK;
}

static clm_status check_config(const clm__loader_config *config)
{
  CLM_REQUIRE(config->batch_max >= 1, CLM_USAGE, "a batch has at least one picture, not %d",
              config->batch_max);
  CLM_REQUIRE(config->slots >= 2, CLM_USAGE, "the loader needs at least 2 slots, not %d",
              config->slots);
  CLM_REQUIRE(config->resize.height >= 1 && config->resize.width >= 1, CLM_USAGE,
              "pictures have at least 1 x 1 pixels, not %d x %d", config->resize.height,
              config->resize.width);
  const int channels = config->decode.channels;
  CLM_REQUIRE(channels == 1 || channels == 3 || channels == 4, CLM_USAGE,
              "pictures have 1, 3 or 4 channels, not %d", channels);
  return CLM_OK;
}

static clm_status build(clm__loader *loader)
{
  const clm__loader_config *config = &loader->config;
  size_t pixel_count = 0;
  CLM_REQUIRE(clm__multiply_size((size_t)config->resize.height, (size_t)config->resize.width,
                                 &pixel_count) &&
                  pixel_count <= CLM__IMAGE_LIMIT_BYTES,
              CLM_USAGE, "pictures of %d x %d pixels are too large", config->resize.height,
              config->resize.width);
  loader->values_each = pixel_count * (size_t)config->decode.channels;
  CLM_TRY(clm__mem_alloc(config->dataset->count, sizeof *loader->warned, &loader->warned));
  CLM_TRY(create_slots(loader));
  create_cache(loader);
  CLM_TRY(start_workers(loader));
  return CLM_OK;
}

clm_status clm__loader_create(const clm__loader_config *config, clm__loader **loader)
{
  CLM_TRY(check_config(config));
  clm__loader *made = NULL;
  CLM_TRY(clm__mem_alloc(1, sizeof *made, &made));
  made->config = *config;
  (void)pthread_mutex_init(&made->lock, NULL);
  (void)pthread_cond_init(&made->work, NULL);
  (void)pthread_cond_init(&made->ready, NULL);
  const clm_status status = build(made);
  if (status != CLM_OK) {
    clm__loader_destroy(made);
    return clm__error_pass(status, __FILE__, __LINE__, __func__);
  }
  *loader = made;
  return CLM_OK;
}

void clm__loader_set_trace(clm__loader *loader, clm__trace *trace)
{
  char name[32];
  (void)pthread_mutex_lock(&loader->lock);
  loader->trace = trace;
  for (int i = 0; i < loader->worker_count; i++) {
    (void)snprintf(name, sizeof name, "loader %d", i);
    loader->workers[i].lane = clm__trace_add_lane(trace, name);
  }
  (void)pthread_mutex_unlock(&loader->lock);
}

static void forget_faults(clm__slot *slot)
{
  for (int i = 0; i < slot->planned; i++) {
    clm__mem_free(slot->faults[i]);
    slot->faults[i] = NULL;
  }
}

static void stop_workers(clm__loader *loader)
{
  (void)pthread_mutex_lock(&loader->lock);
  loader->stopping = true;
  (void)pthread_cond_broadcast(&loader->work);
  (void)pthread_mutex_unlock(&loader->lock);
  for (int i = 0; i < loader->worker_count; i++) {
    clm__thread_join(&loader->workers[i].thread);
    clm__reader_fini(&loader->workers[i].reader);
    clm__resize_scratch_fini(&loader->workers[i].scratch);
  }
}

void clm__loader_destroy(clm__loader *loader)
{
  if (loader == NULL) return;
  stop_workers(loader);
  for (int i = 0; i < loader->slot_count; i++) {
    clm__slot *slot = &loader->slots[i];
    if (slot->faults != NULL) forget_faults(slot);
    release_pixels(&loader->config, slot->pixels);
    clm__mem_free(slot->labels);
    clm__mem_free(slot->samples);
    clm__mem_free(slot->faults);
  }
  clm__cache_destroy(loader->cache);
  clm__mem_free(loader->workers);
  clm__mem_free(loader->slots);
  clm__mem_free(loader->warned);
  clm__mem_free(loader->order);
  clm__mem_free(loader->starts);
  (void)pthread_cond_destroy(&loader->ready);
  (void)pthread_cond_destroy(&loader->work);
  (void)pthread_mutex_destroy(&loader->lock);
  clm__mem_free(loader);
}

/* ---- Passes ---- */

static clm_status check_plan(const clm__loader *loader, const uint32_t *order, const size_t *starts,
                             size_t batch_count)
{
  for (size_t b = 0; b < batch_count; b++) {
    CLM_REQUIRE(starts[b] <= starts[b + 1] &&
                    starts[b + 1] - starts[b] <= (size_t)loader->config.batch_max,
                CLM_INTERNAL, "batch %zu of the plan has no size from 0 to %d", b,
                loader->config.batch_max);
    for (size_t i = starts[b]; i < starts[b + 1]; i++)
      CLM_REQUIRE(order[i] < loader->config.dataset->count, CLM_INTERNAL,
                  "the plan names picture %u of %zu", order[i], loader->config.dataset->count);
  }
  return CLM_OK;
}

/* Takes the work away and waits until no worker has an image. Slots that the consumer holds stay
 * his. Locked. */
static void drop_pass(clm__loader *loader)
{
  loader->paused = true;
  while (loader->busy > 0) (void)pthread_cond_wait(&loader->ready, &loader->lock);
  for (int i = 0; i < loader->slot_count; i++) {
    clm__slot *slot = &loader->slots[i];
    if (slot->state == CLM__SLOT_HELD) continue;
    forget_faults(slot);
    slot->state = CLM__SLOT_FREE;
  }
  loader->batch_count = 0;
  loader->opened = 0;
  loader->next = 0;
}

static clm_status copy_plan(clm__loader *loader, const uint32_t *order, const size_t *starts,
                            size_t batch_count)
{
  const size_t first = batch_count > 0 ? starts[0] : 0;
  const size_t count = batch_count > 0 ? starts[batch_count] - first : 0;
  if (count > loader->order_capacity) {
    CLM_TRY(clm__mem_resize(count, sizeof *order, &loader->order));
    loader->order_capacity = count;
  }
  if (batch_count + 1 > loader->starts_capacity) {
    CLM_TRY(clm__mem_resize(batch_count + 1, sizeof *starts, &loader->starts));
    loader->starts_capacity = batch_count + 1;
  }
  if (count > 0) memcpy(loader->order, order + first, count * sizeof *order);
  for (size_t b = 0; b <= batch_count && batch_count > 0; b++)
    loader->starts[b] = starts[b] - first;
  loader->batch_count = batch_count;
  return CLM_OK;
}

clm_status clm__loader_begin(clm__loader *loader, const uint32_t *order, const size_t *starts,
                             size_t batch_count)
{
  CLM_TRY(check_plan(loader, order, starts, batch_count));
  loader->failure.status = CLM_OK;
  (void)pthread_mutex_lock(&loader->lock);
  drop_pass(loader);
  const clm_status status = copy_plan(loader, order, starts, batch_count);
  loader->paused = false;
  (void)pthread_cond_broadcast(&loader->work);
  (void)pthread_mutex_unlock(&loader->lock);
  return status;
}

/* ---- Handing over ---- */

static void warn_once(clm__loader *loader, uint32_t index, const char *fault)
{
  if (loader->warned[index]) return;
  loader->warned[index] = true;
  clm__log(loader->config.log, CLM_LOG_WARNING, "left out %s: %s",
           loader->config.dataset->samples[index].path, fault);
}

/* Moves the images that are there to the front; their number. */
static int close_gaps(clm__loader *loader, clm__slot *slot)
{
  const size_t each = loader->values_each;
  int kept = 0;
  for (int i = 0; i < slot->planned; i++) {
    if (slot->faults[i] != NULL) {
      warn_once(loader, slot->samples[i], slot->faults[i]);
      continue;
    }
    if (kept < i) {
      memcpy(slot->pixels + (size_t)kept * each, slot->pixels + (size_t)i * each,
             each * sizeof *slot->pixels);
      slot->labels[kept] = slot->labels[i];
      slot->samples[kept] = slot->samples[i];
    }
    kept++;
  }
  forget_faults(slot);
  return kept;
}

/* The slot of the next batch once it is ready. Locked. */
static clm__slot *find_next(clm__loader *loader, bool *all_held)
{
  *all_held = true;
  for (int i = 0; i < loader->slot_count; i++) {
    clm__slot *slot = &loader->slots[i];
    if (slot->state == CLM__SLOT_READY && slot->batch == loader->next) return slot;
    if (slot->state != CLM__SLOT_HELD) *all_held = false;
  }
  return NULL;
}

/* Takes the next batch's slot; NULL where the consumer holds them all. Locked. */
static clm__slot *wait_for_next(clm__loader *loader)
{
  bool all_held = false;
  clm__slot *found = find_next(loader, &all_held);
  const double begin = clm__clock_seconds();
  const double traced = clm__trace_begin(loader->trace);
  while (found == NULL && !all_held) {
    (void)pthread_cond_wait(&loader->ready, &loader->lock);
    found = find_next(loader, &all_held);
  }
  loader->stats.wait_seconds += clm__clock_seconds() - begin;
  clm__trace_end(loader->trace, traced,
                 &(clm__trace_span){.category = "loader", .name = "wait for images"});
  if (found == NULL) return NULL;
  found->state = CLM__SLOT_HELD;
  loader->next++;
  return found;
}

static void give_back(clm__loader *loader, clm__slot *slot, uint64_t skipped)
{
  (void)pthread_mutex_lock(&loader->lock);
  if (slot != NULL) slot->state = CLM__SLOT_FREE;
  loader->stats.images_skipped += skipped;
  (void)pthread_cond_broadcast(&loader->work);
  (void)pthread_mutex_unlock(&loader->lock);
}

static clm_status fail_pass(clm__loader *loader, clm__slot *slot)
{
  const clm__dataset *dataset = loader->config.dataset;
  const uint32_t index = slot->samples[slot->error_at];
  clm_status status = clm__error_raise(&slot->error);
  status = clm__error_prefix(status, "%s/%s: ", dataset->folder, dataset->samples[index].path);
  loader->failure = *clm_error_last();
  forget_faults(slot);
  give_back(loader, slot, 0);
  return status;
}

clm_status clm__loader_next(clm__loader *loader, clm__batch *batch)
{
  if (loader->failure.status != CLM_OK) return clm__error_raise(&loader->failure);
  (void)pthread_mutex_lock(&loader->lock);
  const bool finished = loader->next == loader->batch_count;
  const size_t index = loader->next;
  clm__slot *slot = finished ? NULL : wait_for_next(loader);
  (void)pthread_mutex_unlock(&loader->lock);
  if (finished) {
    *batch = (clm__batch){.index = index, .slot = -1};
    return CLM_OK;
  }
  CLM_REQUIRE(slot != NULL, CLM_INTERNAL, "all %d slots of the loader are held",
              loader->slot_count);
  if (slot->error_at < slot->planned) return fail_pass(loader, slot);
  const int count = close_gaps(loader, slot);
  if (count < slot->planned) give_back(loader, NULL, (uint64_t)(slot->planned - count));
  *batch = (clm__batch){.pixels = slot->pixels,
                        .labels = slot->labels,
                        .samples = slot->samples,
                        .count = count,
                        .planned_count = slot->planned,
                        .index = index,
                        .slot = (int)(slot - loader->slots)};
  return CLM_OK;
}

void clm__loader_release(clm__loader *loader, const clm__batch *batch)
{
  if (batch->slot < 0) return;
  CLM_ASSERT(batch->slot < loader->slot_count);
  give_back(loader, &loader->slots[batch->slot], 0);
}

clm__loader_stats clm__loader_get_stats(const clm__loader *loader)
{
  pthread_mutex_t *lock = (pthread_mutex_t *)&loader->lock;
  (void)pthread_mutex_lock(lock);
  clm__loader_stats stats = loader->stats;
  (void)pthread_mutex_unlock(lock);
  if (loader->cache != NULL) stats.cache_bytes = clm__cache_bytes_held(loader->cache);
  return stats;
}
