/* How fast pictures come: bench_data FOLDER [THREADS]. A folder with class folders in it, such as
 * the flowers photographs. Prints the time of each stage on one thread, then images a second of the
 * check and of the loader on THREADS threads (0: one a processor), without and with its cache. */
#include "base/mem.h"
#include "data/loader.h"
#include "sys/clock.h"
#include "sys/file.h"

#include <stdio.h>
#include <stdlib.h>

#define BATCH 32
#define SIDE 180
#define STAGE_IMAGES 500

static void stop_on_error(clm_status status)
{
  if (status == CLM_OK) return;
  (void)fprintf(stderr, "bench_data: %s\n", clm_error_last()->message);
  exit(clm_status_exit_code(status));
}

typedef struct stage_times {
  double read;
  double decode;
  double resize;
} stage_times;

static void time_one(const clm__dataset *dataset, size_t index, float *pixels, stage_times *times)
{
  static clm__file_buffer file;
  static clm__image image;
  static clm__resize_scratch scratch;
  const clm__decode_options options = {.channels = 3};
  const clm__resize_config resize = {.height = SIDE, .width = SIDE};
  char path[4096];
  (void)snprintf(path, sizeof path, "%s/%s", dataset->folder, dataset->samples[index].path);
  const double begin = clm__clock_seconds();
  stop_on_error(clm__file_read_into(path, SIZE_MAX, &file));
  const double read = clm__clock_seconds();
  if (clm__decode(file.bytes, file.size_bytes, &options, &image) != CLM_OK) return;
  const double decoded = clm__clock_seconds();
  stop_on_error(clm__resize_with(&scratch, &image, &resize, pixels));
  times->read += read - begin;
  times->decode += decoded - read;
  times->resize += clm__clock_seconds() - decoded;
}

static void time_stages(const clm__dataset *dataset)
{
  const size_t count = dataset->count < STAGE_IMAGES ? dataset->count : STAGE_IMAGES;
  float *pixels = NULL;
  stage_times times = {0};
  stop_on_error(clm__mem_alloc((size_t)SIDE * SIDE * 3, sizeof *pixels, &pixels));
  for (size_t i = 0; i < count; i++) time_one(dataset, i, pixels, &times);
  const double per_image = 1e3 / (double)count;
  (void)printf("one thread, %zu images: read %.3f ms, decode %.3f ms, resize %.3f ms an image\n",
               count, times.read * per_image, times.decode * per_image, times.resize * per_image);
  clm__mem_free(pixels);
}

static void time_check(clm__dataset *dataset, int threads)
{
  const clm__dataset_check_config config = {.threads = threads};
  const double begin = clm__clock_seconds();
  stop_on_error(clm__dataset_check(dataset, &config));
  const double seconds = clm__clock_seconds() - begin;
  (void)printf("check: %.0f images/s (%.2f s)\n", (double)dataset->count / seconds, seconds);
}

static double run_pass(clm__loader *loader, const clm__dataset *dataset, const uint32_t *order,
                       const size_t *starts)
{
  const size_t batch_count = (dataset->count + BATCH - 1) / BATCH;
  const double begin = clm__clock_seconds();
  stop_on_error(clm__loader_begin(loader, order, starts, batch_count));
  for (size_t b = 0; b < batch_count; b++) {
    clm__batch batch;
    stop_on_error(clm__loader_next(loader, &batch));
    clm__loader_release(loader, &batch);
  }
  return (double)dataset->count / (clm__clock_seconds() - begin);
}

static void time_loader(const clm__dataset *dataset, int threads, clm__cache_kind cache)
{
  const clm__loader_config config = {.dataset = dataset,
                                     .resize = {.height = SIDE, .width = SIDE},
                                     .decode = {.channels = 3},
                                     .batch_max = BATCH,
                                     .threads = threads,
                                     .slots = 4,
                                     .cache = cache,
                                     .cache_limit_bytes = (uint64_t)4 << 30};
  clm__loader *loader = NULL;
  uint32_t *order = NULL;
  size_t *starts = NULL;
  stop_on_error(clm__loader_create(&config, &loader));
  stop_on_error(clm__mem_alloc(dataset->count, sizeof *order, &order));
  stop_on_error(clm__mem_alloc(dataset->count / BATCH + 2, sizeof *starts, &starts));
  for (size_t i = 0; i < dataset->count; i++) order[i] = (uint32_t)i;
  for (size_t b = 1; b <= (dataset->count + BATCH - 1) / BATCH; b++)
    starts[b] = b * BATCH < dataset->count ? b * BATCH : dataset->count;
  const double first = run_pass(loader, dataset, order, starts);
  const double second = run_pass(loader, dataset, order, starts);
  (void)printf("loader, cache %s: %.0f images/s, then %.0f images/s\n",
               cache == CLM__CACHE_OFF ? "off" : "fixed", first, second);
  clm__loader_destroy(loader);
  clm__mem_free(order);
  clm__mem_free(starts);
}

int main(int count, char **arguments)
{
  if (count < 2 || count > 3) {
    (void)fprintf(stderr, "usage: bench_data FOLDER [THREADS]\n");
    return clm_status_exit_code(CLM_USAGE);
  }
  const int threads = count > 2 ? atoi(arguments[2]) : 0;
  const clm__dataset_config config = {.folder = arguments[1], .shuffle = true, .seed = 123};
  clm__dataset *dataset = NULL;
  size_t all_count = 0;
  stop_on_error(clm__dataset_open(&config, &dataset));
  (void)printf("%zu images at %d x %d\n", dataset->count, SIDE, SIDE);
  time_check(dataset, threads);
  clm__dataset_drop_faulty(dataset, &all_count);
  time_stages(dataset);
  time_loader(dataset, threads, CLM__CACHE_OFF);
  time_loader(dataset, threads, CLM__CACHE_FIXED);
  clm__dataset_close(dataset);
  return 0;
}
