/* Photographs from the disk: decoded and resized. */
#include "bench/bench.h"
#include "bench/peers.h"

#include "base/mem.h"
#include "data/loader.h"
#include "sys/clock.h"
#include "sys/file.h"

#include <stdio.h>

#define BATCH 32
#define SIDE 180
#define STAGE_IMAGES 500

/* ---- stages, on one thread ---- */

typedef struct stage_times {
  double read;
  double decode;
  double resize;
} stage_times;

typedef struct stage_memory {
  clm__file_buffer file;
  clm__image image;
  clm__resize_scratch scratch;
  float *pixels;
} stage_memory;

static clm_status time_image(const clm__dataset *dataset, size_t index, stage_memory *memory,
                             stage_times *times)
{
  const clm__decode_options options = {.channels = 3};
  const clm__resize_config resize = {.height = SIDE, .width = SIDE};
  char *path = NULL;
  CLM_TRY(clm__file_join(dataset->folder, dataset->samples[index].path, &path));
  const double begin = clm__clock_seconds();
  const clm_status status = clm__file_read_into(path, SIZE_MAX, &memory->file);
  clm__mem_free(path);
  CLM_TRY(status);
  const double read = clm__clock_seconds();
  CLM_TRY(clm__decode(memory->file.bytes, memory->file.size_bytes, &options, &memory->image));
  const double decoded = clm__clock_seconds();
  CLM_TRY(clm__resize_with(&memory->scratch, &memory->image, &resize, memory->pixels));
  times->read += read - begin;
  times->decode += decoded - read;
  times->resize += clm__clock_seconds() - decoded;
  return CLM_OK;
}

static clm_status time_images(const clm__dataset *dataset, size_t count, stage_memory *memory,
                              stage_times *times)
{
  CLM_TRY(clm__mem_alloc((size_t)SIDE * SIDE * 3, sizeof(float), &memory->pixels));
  for (size_t i = 0; i < count; i++) CLM_TRY(time_image(dataset, i, memory, times));
  return CLM_OK;
}

static clm_status tell_stages(bench_run *bench, const clm__dataset *dataset)
{
  stage_memory memory = {0};
  stage_times times = {0};
  const size_t count = dataset->count < STAGE_IMAGES ? dataset->count : STAGE_IMAGES;
  const clm_status status = time_images(dataset, count, &memory, &times);
  clm__file_buffer_fini(&memory.file);
  clm__image_fini(&memory.image);
  clm__resize_scratch_fini(&memory.scratch);
  clm__mem_free(memory.pixels);
  CLM_TRY(status);
  const double ms = 1e3 / (double)count;
  bench_say(bench, "one thread, an image: read %.2f ms, decode %.2f ms, resize %.2f ms",
            times.read * ms, times.decode * ms, times.resize * ms);
  clm__json_begin_object(&bench->json, "stages");
  clm__json_put_number(&bench->json, "read_ms", times.read * ms);
  clm__json_put_number(&bench->json, "decode_ms", times.decode * ms);
  clm__json_put_number(&bench->json, "resize_ms", times.resize * ms);
  clm__json_end_object(&bench->json);
  return CLM_OK;
}

/* ---- all images, on all processors ---- */

/* A pass over the images in list order. */
typedef struct loading {
  clm__loader *loader;
  uint32_t *order;
  size_t *starts;
  size_t batch_count;
} loading;

static clm_status loading_open(loading *l, const clm__dataset *dataset, clm__cache_kind cache)
{
  const clm__loader_config config = {.dataset = dataset,
                                     .resize = {.height = SIDE, .width = SIDE},
                                     .decode = {.channels = 3},
                                     .batch_max = BATCH,
                                     .slots = 4,
                                     .cache = cache,
                                     .cache_limit_bytes = (uint64_t)4 << 30};
  *l = (loading){.batch_count = (dataset->count + BATCH - 1) / BATCH};
  CLM_TRY(clm__loader_create(&config, &l->loader));
  CLM_TRY(clm__mem_alloc(dataset->count, sizeof *l->order, &l->order));
  CLM_TRY(clm__mem_alloc(l->batch_count + 1, sizeof *l->starts, &l->starts));
  for (size_t i = 0; i < dataset->count; i++) l->order[i] = (uint32_t)i;
  for (size_t b = 1; b <= l->batch_count; b++)
    l->starts[b] = b * BATCH < dataset->count ? b * BATCH : dataset->count;
  return CLM_OK;
}

static void loading_close(loading *l)
{
  clm__loader_destroy(l->loader);
  clm__mem_free(l->order);
  clm__mem_free(l->starts);
}

static clm_status run_pass(void *user)
{
  loading *l = user;
  CLM_TRY(clm__loader_begin(l->loader, l->order, l->starts, l->batch_count));
  for (size_t b = 0; b < l->batch_count; b++) {
    clm__batch batch;
    CLM_TRY(clm__loader_next(l->loader, &batch));
    clm__loader_release(l->loader, &batch);
  }
  return CLM_OK;
}

static void add_peers(bench_contest *contest, const bench_peers *peers, const bench_run *bench,
                      double images)
{
  char task[CONTEST_TASK_SIZE];
  (void)snprintf(task, sizeof task, "data\t%s", bench->photos);
  for (size_t i = 0; i < peers->count; i++)
    contest_add_peer(contest, &peers->items[i], peers->items[i].name, images, task);
}

static clm_status compete(bench_run *bench, const bench_peers *peers, loading *streamed,
                          loading *cached, double images)
{
  bench_contest contest = {0};
  const contest_rules rules = {.rounds = bench->quick ? 1 : 3, .turn_seconds = 0.5};
  contest_add(&contest, "Clematis", images, run_pass, streamed);
  contest_add(&contest, "Clematis, from its cache", images, run_pass, cached);
  add_peers(&contest, peers, bench, images);
  const clm_status status = contest_run(&contest, &rules);
  if (status == CLM_OK)
    contest_tell(bench, &contest, "passes", "photographs, decoded and resized to 180x180");
  contest_fini(&contest);
  return status;
}

static clm_status measure(bench_run *bench, const bench_peers *peers, const clm__dataset *dataset)
{
  loading streamed = {0}, cached = {0};
  CLM_TRY(tell_stages(bench, dataset));
  clm_status status = loading_open(&streamed, dataset, CLM__CACHE_OFF);
  if (status == CLM_OK) status = loading_open(&cached, dataset, CLM__CACHE_FIXED);
  if (status == CLM_OK) status = compete(bench, peers, &streamed, &cached, (double)dataset->count);
  loading_close(&streamed);
  loading_close(&cached);
  return status;
}

/* The check before step 1, which also leaves out what nobody can decode. */
static clm_status check(bench_run *bench, clm__dataset *dataset)
{
  const clm__dataset_check_config config = {0};
  size_t all_count = 0;
  const double begin = clm__clock_seconds();
  CLM_TRY(clm__dataset_check(dataset, &config));
  const double seconds = clm__clock_seconds() - begin;
  bench_say(bench, "\n%zu photographs, checked in %.2f s", dataset->count, seconds);
  clm__json_put_int(&bench->json, "photographs", (int64_t)dataset->count);
  clm__json_put_number(&bench->json, "check_seconds", seconds);
  clm__dataset_drop_faulty(dataset, &all_count);
  return CLM_OK;
}

clm_status section_data(bench_run *bench)
{
  clm__dataset *dataset = NULL;
  bench_peers peers = {0};
  const clm__dataset_config config = {.folder = bench->photos, .shuffle = true, .seed = 123};
  CLM_TRY(clm__dataset_open(&config, &dataset));
  clm__json_begin_object(&bench->json, "data");
  clm_status status = check(bench, dataset);
  if (status == CLM_OK) status = peers_open(&peers, bench, PEER_DATA);
  if (status == CLM_OK) status = measure(bench, &peers, dataset);
  clm__json_end_object(&bench->json);
  peers_close(&peers);
  clm__dataset_close(dataset);
  return status;
}
