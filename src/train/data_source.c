#define _DEFAULT_SOURCE
#include "train/data_source.h"

#include "base/log.h"
#include "base/mem.h"
#include "sys/scratch.h"

#include <unistd.h>

#define SLOTS 2 /* one computes, one is filled */
/* Of a cache whose rest finds room in a file: the system keeps that as well while nobody else needs
 * the memory. */
#define CACHE_MEMORY_BYTES ((uint64_t)256 << 20)

clm_data_config clm_data_config_default(void)
{
  return (clm_data_config){.validation_split = 0.2, .seed = 123, .shuffle = 1};
}

clm_status clm__data_source_check(const clm_data_config *config)
{
  CLM_REQUIRE(config->folder != NULL && config->folder[0] != '\0', CLM_USAGE,
              "no folder of images was named");
  CLM_REQUIRE(config->validation_split >= 0.0 && config->validation_split < 1.0, CLM_USAGE,
              "the validation split is %g; it must be at least 0 and below 1",
              config->validation_split);
  CLM_REQUIRE(config->threads >= 0 && config->threads <= 1024, CLM_USAGE,
              "%d threads were asked for; 0 to 1024 are possible", config->threads);
  return CLM_OK;
}

static clm__dataset_config list_config(const clm_data_config *config)
{
  return (clm__dataset_config){
      .folder = config->folder,
      .validation_split = config->validation_split,
      .seed = config->seed,
      .shuffle = config->shuffle != 0,
      .follow_links = config->follow_links != 0,
      .split = config->split == CLM_SPLIT_STRATIFIED ? CLM__SPLIT_STRATIFIED : CLM__SPLIT_KERAS};
}

clm_status clm__data_source_list(const clm_data_config *config, clm__dataset **dataset)
{
  CLM_TRY(clm__data_source_check(config));
  const clm__dataset_config list = list_config(config);
  CLM_TRY(clm__dataset_open(&list, dataset));
  return CLM_OK;
}

clm_status clm__data_source_open(const clm_data_config *config, const clm_log *log,
                                 const clm__progress *progress, clm__dataset **dataset,
                                 size_t *all_count)
{
  clm__dataset *opened = NULL;
  CLM_TRY(clm__data_source_list(config, &opened));
  clm__dataset_check_config check = {
      .threads = config->threads, .strict = config->strict != 0, .log = log};
  if (progress != NULL) {
    check.progress = progress->call;
    check.progress_user = progress->user;
  }
  const clm_status status = clm__dataset_check(opened, &check);
  if (status != CLM_OK) {
    clm__dataset_close(opened);
    return status;
  }
  clm__dataset_drop_faulty(opened, all_count);
  *dataset = opened;
  return CLM_OK;
}

/* A report and what it points to. */
typedef struct report_block {
  clm_data_report report;
  clm_class_count *classes;
  clm_bad_file *bad_files;
  char **texts; /* every text, to be freed */
  size_t text_count;
} report_block;

static clm_status keep_text(report_block *block, const char *text, const char **kept)
{
  char *copy = NULL;
  CLM_TRY(clm__mem_copy_text(text, &copy));
  block->texts[block->text_count++] = copy;
  *kept = copy;
  return CLM_OK;
}

static clm_status report_classes(const clm__dataset *dataset, report_block *block)
{
  const size_t count = (size_t)dataset->class_count;
  clm__class_counts *counts = NULL;
  CLM_TRY(clm__mem_alloc(count, sizeof *counts, &counts));
  clm__dataset_count_classes(dataset, counts);
  clm_status status = CLM_OK;
  for (size_t i = 0; i < count && status == CLM_OK; i++) {
    block->classes[i].train = counts[i].train;
    block->classes[i].validation = counts[i].validation;
    status = keep_text(block, dataset->class_names[i], &block->classes[i].name);
  }
  clm__mem_free(counts);
  return status;
}

static clm_status fill_report(const clm__dataset *dataset, size_t all_count, report_block *block)
{
  const size_t class_count = (size_t)dataset->class_count;
  const size_t bad_count = all_count - dataset->count;
  CLM_TRY(clm__mem_alloc(class_count, sizeof *block->classes, &block->classes));
  CLM_TRY(clm__mem_alloc(bad_count, sizeof *block->bad_files, &block->bad_files));
  CLM_TRY(clm__mem_alloc(class_count + 2 * bad_count, sizeof *block->texts, &block->texts));
  CLM_TRY(report_classes(dataset, block));
  for (size_t i = 0; i < bad_count; i++) {
    const clm__sample *sample = &dataset->samples[dataset->count + i];
    clm_bad_file *bad = &block->bad_files[i];
    bad->class_name = sample->label >= 0 ? block->classes[sample->label].name : "";
    CLM_TRY(keep_text(block, sample->path, &bad->path));
    CLM_TRY(keep_text(block, sample->fault, &bad->reason));
  }
  block->report = (clm_data_report){.classes = block->classes,
                                    .class_count = class_count,
                                    .train_count = dataset->train_count,
                                    .validation_count = dataset->count - dataset->train_count,
                                    .bad_files = block->bad_files,
                                    .bad_count = bad_count,
                                    .ignored_entries = dataset->ignored_entries};
  return CLM_OK;
}

clm_status clm__data_source_report(const clm__dataset *dataset, size_t all_count,
                                   clm_data_report **report)
{
  report_block *block = NULL;
  CLM_TRY(clm__mem_alloc(1, sizeof *block, &block));
  const clm_status status = fill_report(dataset, all_count, block);
  if (status != CLM_OK) {
    clm_data_report_free(&block->report);
    return status;
  }
  *report = &block->report;
  return CLM_OK;
}

void clm_data_report_free(clm_data_report *report)
{
  if (report == NULL) return;
  report_block *block = (report_block *)report;
  for (size_t i = 0; i < block->text_count; i++) clm__mem_free(block->texts[i]);
  clm__mem_free(block->texts);
  clm__mem_free(block->bad_files);
  clm__mem_free(block->classes);
  clm__mem_free(block);
}

clm_status clm_data_check(const clm_data_config *config, const clm_log *log,
                          void (*progress)(void *user, size_t done, size_t count), void *user,
                          clm_data_report **report)
{
  const clm__progress watcher = {.call = progress, .user = user};
  clm__dataset *dataset = NULL;
  size_t all_count = 0;
  CLM_TRY(clm__data_source_open(config, log, &watcher, &dataset, &all_count));
  const clm_status status = clm__data_source_report(dataset, all_count, report);
  clm__dataset_close(dataset);
  return status;
}

static clm__interpolation interpolation_of(clm_interpolation interpolation)
{
  switch (interpolation) {
  case CLM_NEAREST:
    return CLM__NEAREST;
  case CLM_BICUBIC:
    return CLM__BICUBIC;
  case CLM_AREA:
    return CLM__AREA;
  case CLM_BILINEAR:
    break;
  }
  return CLM__BILINEAR;
}

static clm__aspect aspect_of(clm_aspect aspect)
{
  if (aspect == CLM_ASPECT_CROP) return CLM__ASPECT_CROP;
  return aspect == CLM_ASPECT_PAD ? CLM__ASPECT_PAD : CLM__ASPECT_STRETCH;
}

clm__decode_options clm__data_source_decode(const clm_data_config *config, const clm__shape *input)
{
  return (clm__decode_options){.channels = input->dims[2],
                               .apply_exif = config->apply_exif != 0,
                               .blend_alpha = config->blend_alpha != 0};
}

clm__resize_config clm__data_source_resize(const clm_data_config *config, const clm__shape *input)
{
  return (clm__resize_config){.height = input->dims[0],
                              .width = input->dims[1],
                              .interpolation = interpolation_of(config->interpolation),
                              .aspect = aspect_of(config->aspect)};
}

/* Half of the memory that is free now. */
static uint64_t half_of_free_memory(void)
{
  const long pages = sysconf(_SC_AVPHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGESIZE);
  return pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes / 2 : 0;
}

static clm__cache_kind cache_of(clm_cache cache)
{
  if (cache == CLM_CACHE_OFF) return CLM__CACHE_OFF;
  return cache == CLM_CACHE_F32 ? CLM__CACHE_F32 : CLM__CACHE_FIXED;
}

/* A file in memory would save none. */
static const char *cache_folder_of(const clm_data_config *config)
{
  if (config->cache_folder != NULL) return config->cache_folder;
  const char *folder = clm__scratch_folder();
  return clm__scratch_is_memory(folder) ? NULL : folder;
}

static void set_cache(const clm_data_config *config, clm__loader_config *loader)
{
  loader->cache = cache_of(config->cache);
  loader->cache_folder = cache_folder_of(config);
  if (config->cache == CLM_CACHE_DISK) return;
  const uint64_t wanted = config->cache_limit_bytes;
  loader->cache_limit_bytes = wanted > 0 ? wanted : half_of_free_memory();
  loader->cache_memory_bytes = wanted > 0 ? wanted : CACHE_MEMORY_BYTES;
  if (loader->cache_memory_bytes > loader->cache_limit_bytes)
    loader->cache_memory_bytes = loader->cache_limit_bytes;
}

clm_status clm__data_source_loader(const clm_data_config *config, const clm__dataset *dataset,
                                   const clm__shape *input, int batch_max, const clm_log *log,
                                   clm__loader **loader)
{
  CLM_REQUIRE(input->rank == 3 &&
                  (input->dims[2] == 1 || input->dims[2] == 3 || input->dims[2] == 4),
              CLM_BAD_DATA, "the model does not take images of 1, 3 or 4 channels");
  clm__loader_config made = {.dataset = dataset,
                             .resize = clm__data_source_resize(config, input),
                             .decode = clm__data_source_decode(config, input),
                             .batch_max = batch_max,
                             .threads = config->threads,
                             .slots = SLOTS,
                             .strict = config->strict != 0,
                             .log = log};
  set_cache(config, &made);
  return clm__loader_create(&made, loader);
}
