#include "data/passes.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "support/folder.h"
#include "sys/file.h"

static char *folder;
clm__dataset *dataset;
static float *expected; /* [COUNT,EACH] */

/* ---- A folder with every golden picture, and what its pictures look like ---- */

static void copy_golden(const char *name, int class_index)
{
  char path[1024];
  (void)snprintf(path, sizeof path, "%s/golden/pixels/src/%s", tests_folder(), name);
  char *content = NULL;
  size_t size = 0;
  assert_int_equal(clm__file_read(path, SIZE_MAX, &content, &size), CLM_OK);
  (void)snprintf(path, sizeof path, "%s/class%d", folder, class_index);
  assert_int_equal(clm__file_make_folder(path), CLM_OK);
  (void)snprintf(path, sizeof path, "%s/class%d/%s", folder, class_index, name);
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(content, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
  clm__mem_free(content);
}

static void copy_goldens(void)
{
  char path[1024];
  clm__file_listing listing;
  (void)snprintf(path, sizeof path, "%s/golden/pixels/src", tests_folder());
  assert_int_equal(clm__file_list(path, &listing), CLM_OK);
  for (size_t i = 0; i < listing.count; i++) {
    const char *name = listing.entries[i].name;
    if (strstr(name, ".bmp") == NULL && strstr(name, ".gif") == NULL)
      copy_golden(name, (int)(i % 3));
  }
  clm__file_listing_fini(&listing);
}

void sample_path(uint32_t index, char path[2048])
{
  (void)snprintf(path, 2048, "%s/%s", folder, dataset->samples[index].path);
}

static void compute_expected(void)
{
  const clm__resize_config resize = {.height = HEIGHT, .width = WIDTH};
  const clm__decode_options options = {.channels = 3};
  expected = malloc(COUNT * EACH * sizeof *expected);
  clm__image image = {0};
  for (uint32_t i = 0; i < COUNT; i++) {
    char path[2048];
    sample_path(i, path);
    char *content = NULL;
    size_t size = 0;
    assert_int_equal(clm__file_read(path, SIZE_MAX, &content, &size), CLM_OK);
    assert_int_equal(clm__decode(content, size, &options, &image), CLM_OK);
    assert_int_equal(clm__resize(&image, &resize, expected + (size_t)i * EACH), CLM_OK);
    clm__mem_free(content);
  }
  clm__image_fini(&image);
}

int set_up_pictures(void **state)
{
  (void)state;
  folder = make_folder();
  copy_goldens();
  const clm__dataset_config config = {.folder = folder, .shuffle = true, .seed = 1};
  assert_int_equal(clm__dataset_open(&config, &dataset), CLM_OK);
  assert_int_equal(dataset->count, COUNT);
  compute_expected();
  return 0;
}

int tear_down_pictures(void **state)
{
  (void)state;
  clm__dataset_close(dataset);
  dataset = NULL;
  free(expected);
  remove_folder(folder);
  return 0;
}

clm__loader_config default_config(void)
{
  return (clm__loader_config){.dataset = dataset,
                              .resize = {.height = HEIGHT, .width = WIDTH},
                              .decode = {.channels = 3},
                              .batch_max = 8,
                              .threads = 3,
                              .slots = 3,
                              .cache_limit_bytes = UINT64_MAX};
}

clm__loader *create_loader(const clm__loader_config *config)
{
  clm__loader *loader = NULL;
  if (clm__loader_create(config, &loader) != CLM_OK) fail_msg("%s", clm_error_last()->message);
  return loader;
}

pass_plan make_plan(uint32_t epoch, size_t batch)
{
  pass_plan made = {0};
  clm__rng_permutation(5, epoch, made.order, COUNT);
  while (made.starts[made.batch_count] < COUNT) {
    const size_t stop = made.starts[made.batch_count] + batch;
    made.starts[++made.batch_count] = stop < COUNT ? stop : COUNT;
  }
  return made;
}

void begin_pass(clm__loader *loader, const pass_plan *plan)
{
  assert_int_equal(clm__loader_begin(loader, plan->order, plan->starts, plan->batch_count), CLM_OK);
}

clm__batch next_batch(clm__loader *loader)
{
  clm__batch batch;
  if (clm__loader_next(loader, &batch) != CLM_OK) fail_msg("%s", clm_error_last()->message);
  return batch;
}

void assert_batch(const clm__batch *batch, const pass_plan *plan, double tolerance,
                  const bool *missing)
{
  int at = 0;
  for (size_t i = plan->starts[batch->index]; i < plan->starts[batch->index + 1]; i++) {
    const uint32_t sample = plan->order[i];
    if (missing != NULL && missing[sample]) continue;
    assert_int_equal(batch->samples[at], sample);
    assert_int_equal(batch->labels[at], dataset->samples[sample].label);
    const float *actual = batch->pixels + (size_t)at * EACH;
    const float *wanted = expected + (size_t)sample * EACH;
    for (int k = 0; k < EACH; k++)
      assert_true(fabs((double)actual[k] - (double)wanted[k]) <= tolerance);
    at++;
  }
  assert_int_equal(batch->count, at);
  assert_int_equal(batch->planned_count,
                   plan->starts[batch->index + 1] - plan->starts[batch->index]);
}

void run_pass(clm__loader *loader, const pass_plan *plan, double tolerance, const bool *missing)
{
  begin_pass(loader, plan);
  for (size_t b = 0; b < plan->batch_count; b++) {
    const clm__batch batch = next_batch(loader);
    assert_int_equal(batch.index, b);
    assert_batch(&batch, plan, tolerance, missing);
    clm__loader_release(loader, &batch);
  }
  const clm__batch end = next_batch(loader);
  assert_int_equal(end.count, 0);
  assert_int_equal(end.index, plan->batch_count);
  clm__loader_release(loader, &end);
}
