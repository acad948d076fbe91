#include "data/dataset.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/rng.h"
#include "base/str.h"
#include "data/walk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- What is wrong with the folder, for a person ---- */

static const char wanted_layout[] =
    "wanted is a folder for every class with its pictures in it, such as %s/roses/1.jpg and "
    "%s/tulips/2.jpg";

static clm_status fail_no_classes(const char *folder, const clm__walk *walk)
{
  clm__str message = {0};
  CLM_TRY(clm__str_add(&message,
                       "no class folders in %s: it holds %zu pictures and %zu other "
                       "entries; ",
                       folder, walk->loose_images, walk->ignored_entries - walk->loose_images));
  clm_status status = clm__str_add(&message, wanted_layout, folder, folder);
  if (status == CLM_OK)
    status =
        clm__error_fail(CLM_BAD_DATA, __FILE__, __LINE__, __func__, "%s", clm__str_get(&message));
  clm__str_fini(&message);
  return status;
}

static clm_status list_classes(const clm__walk *walk, clm__str *text)
{
  const int shown_most = 5;
  const int shown = clm__min_int(walk->class_count, shown_most);
  for (int i = 0; i < shown; i++)
    CLM_TRY(clm__str_add(text, "%s%s", i > 0 ? ", " : "", walk->class_names[i]));
  if (walk->class_count > shown) CLM_TRY(clm__str_add(text, ", ..."));
  return CLM_OK;
}

static clm_status fail_no_images(const char *folder, const clm__walk *walk)
{
  clm__str names = {0};
  clm_status status = list_classes(walk, &names);
  if (status == CLM_OK && walk->class_count > 0)
    status = clm__error_fail(
        CLM_BAD_DATA, __FILE__, __LINE__, __func__,
        "no pictures in the %d class folders of %s (%s): no file below them ends in .jpg, .jpeg, "
        ".png, .gif or .bmp",
        walk->class_count, folder, clm__str_get(&names));
  if (status == CLM_OK)
    status = clm__error_fail(
        CLM_BAD_DATA, __FILE__, __LINE__, __func__,
        "no pictures in %s: no file below it ends in .jpg, .jpeg, .png, .gif or .bmp", folder);
  clm__str_fini(&names);
  return status;
}

/* ---- Order and split ---- */

/* Python's int(split * count). */
static size_t validation_count(double split, size_t count)
{
  return (size_t)(split * (double)count);
}

/* A class that gives anything to training and is asked for validation gives at least one. */
static size_t class_validation_count(double split, size_t count)
{
  const size_t wanted = validation_count(split, count);
  return wanted == 0 && split > 0.0 && count >= 2 ? 1 : wanted;
}

/* Says for every place in the order whether its file validates: the last ones, as in Keras. */
static void choose_tail(double split, size_t count, bool *validates)
{
  const size_t kept = count - validation_count(split, count);
  for (size_t i = 0; i < count; i++) validates[i] = i >= kept;
}

/* The same within every class. remaining: [class_count] */
static void choose_tail_of_classes(double split, const clm__walk *walk, const uint32_t *order,
                                   size_t *remaining, bool *validates)
{
  for (size_t i = 0; i < walk->count; i++) remaining[walk->files[i].label]++;
  for (int c = 0; c < walk->class_count; c++)
    remaining[c] = class_validation_count(split, remaining[c]);
  for (size_t i = walk->count; i-- > 0;) {
    size_t *left = &remaining[walk->files[order[i]].label];
    validates[i] = *left > 0;
    if (*left > 0) (*left)--;
  }
}

typedef struct split_plan {
  uint32_t *order;
  bool *validates;
  size_t *remaining;
} split_plan;

static clm_status make_plan(const clm__dataset_config *config, const clm__walk *walk,
                            split_plan *plan)
{
  CLM_TRY(clm__mem_alloc(walk->count, sizeof *plan->order, &plan->order));
  CLM_TRY(clm__mem_alloc(walk->count, sizeof *plan->validates, &plan->validates));
  CLM_TRY(clm__mem_alloc((size_t)walk->class_count, sizeof *plan->remaining, &plan->remaining));
  if (config->shuffle)
    clm__rng_numpy_shuffle(config->seed, plan->order, walk->count);
  else
    for (size_t i = 0; i < walk->count; i++) plan->order[i] = (uint32_t)i;
  if (config->split == CLM__SPLIT_STRATIFIED && walk->class_count > 0)
    choose_tail_of_classes(config->validation_split, walk, plan->order, plan->remaining,
                           plan->validates);
  else
    choose_tail(config->validation_split, walk->count, plan->validates);
  return CLM_OK;
}

/* Moves the paths of one subset from the walk to the samples. */
static void take_subset(clm__dataset *dataset, clm__walk *walk, const split_plan *plan,
                        bool validation)
{
  for (size_t i = 0; i < walk->count; i++) {
    if (plan->validates[i] != validation) continue;
    clm__walk_file *file = &walk->files[plan->order[i]];
    dataset->samples[dataset->count++] = (clm__sample){.path = file->path, .label = file->label};
    file->path = NULL;
  }
}

static clm_status take_walk(const clm__dataset_config *config, clm__walk *walk,
                            clm__dataset *dataset)
{
  CLM_TRY(clm__mem_alloc(walk->count, sizeof *dataset->samples, &dataset->samples));
  split_plan plan = {0};
  const clm_status status = make_plan(config, walk, &plan);
  if (status == CLM_OK) {
    take_subset(dataset, walk, &plan, false);
    dataset->train_count = dataset->count;
    take_subset(dataset, walk, &plan, true);
    dataset->all_count = dataset->count;
    dataset->ignored_entries = walk->ignored_entries;
    dataset->class_names = walk->class_names;
    dataset->class_count = walk->class_count;
    walk->class_names = NULL;
    walk->class_count = 0;
  }
  clm__mem_free(plan.order);
  clm__mem_free(plan.validates);
  clm__mem_free(plan.remaining);
  return status;
}

static clm_status walk_checked(const clm__dataset_config *config, clm__walk *walk)
{
  if (config->unlabelled)
    CLM_TRY(clm__walk_flat(config->folder, config->follow_links, walk));
  else
    CLM_TRY(clm__walk_classes(config->folder, config->follow_links, walk));
  if (!config->unlabelled && walk->class_count == 0) return fail_no_classes(config->folder, walk);
  if (walk->count == 0) return fail_no_images(config->folder, walk);
  return CLM_OK;
}

clm_status clm__dataset_open(const clm__dataset_config *config, clm__dataset **dataset)
{
  CLM_REQUIRE(config->validation_split >= 0.0 && config->validation_split < 1.0, CLM_USAGE,
              "the validation split is a share of the pictures, at least 0 and below 1, not %g",
              config->validation_split);
  clm__walk walk = {0};
  clm__dataset *made = NULL;
  clm_status status = walk_checked(config, &walk);
  if (status == CLM_OK) status = clm__mem_alloc(1, sizeof *made, &made);
  if (status == CLM_OK) status = clm__mem_copy_text(config->folder, &made->folder);
  if (status == CLM_OK) status = take_walk(config, &walk, made);
  clm__walk_fini(&walk);
  if (status != CLM_OK) {
    clm__dataset_close(made);
    return clm__error_pass(status, __FILE__, __LINE__, __func__);
  }
  *dataset = made;
  return CLM_OK;
}

void clm__dataset_close(clm__dataset *dataset)
{
  if (dataset == NULL) return;
  for (size_t i = 0; i < dataset->all_count; i++) {
    clm__mem_free(dataset->samples[i].path);
    clm__mem_free(dataset->samples[i].fault);
  }
  for (int i = 0; i < dataset->class_count; i++) clm__mem_free(dataset->class_names[i]);
  clm__mem_free(dataset->samples);
  clm__mem_free(dataset->class_names);
  clm__mem_free(dataset->folder);
  clm__mem_free(dataset);
}

/* ---- Questions and changes ---- */

static int compare_samples(const void *a, const void *b)
{
  return strcmp(((const clm__sample *)a)->path, ((const clm__sample *)b)->path);
}

void clm__dataset_drop_faulty(clm__dataset *dataset, size_t *all_count)
{
  clm__sample *samples = dataset->samples;
  size_t kept = 0;
  size_t kept_train = 0;
  for (size_t i = 0; i < dataset->count; i++) {
    if (samples[i].fault != NULL) continue;
    const clm__sample good = samples[i];
    samples[i] = samples[kept];
    samples[kept++] = good;
    if (i < dataset->train_count) kept_train++;
  }
  dataset->count = kept;
  dataset->train_count = kept_train;
  /* The exchanges above mixed the faulty ones. */
  qsort(samples + kept, dataset->all_count - kept, sizeof *samples, compare_samples);
  *all_count = dataset->all_count;
}

void clm__dataset_count_classes(const clm__dataset *dataset, clm__class_counts *counts)
{
  for (int i = 0; i < dataset->class_count; i++) counts[i] = (clm__class_counts){0};
  for (size_t i = 0; i < dataset->count; i++) {
    const clm__sample *sample = &dataset->samples[i];
    if (sample->label < 0 || sample->fault != NULL) continue;
    if (i < dataset->train_count)
      counts[sample->label].train++;
    else
      counts[sample->label].validation++;
  }
}

static uint64_t hash_number(uint64_t hash, uint64_t number)
{
  char text[32];
  (void)snprintf(text, sizeof text, "%" PRIu64, number);
  return clm__hash_text(hash, text);
}

uint64_t clm__dataset_digest(const clm__dataset *dataset)
{
  uint64_t hash = hash_number(CLM__HASH_START, (uint64_t)dataset->class_count);
  for (int i = 0; i < dataset->class_count; i++)
    hash = clm__hash_text(hash, dataset->class_names[i]);
  hash = hash_number(hash, dataset->train_count);
  for (size_t i = 0; i < dataset->count; i++) {
    hash = clm__hash_text(hash, dataset->samples[i].path);
    hash = hash_number(hash, (uint64_t)(dataset->samples[i].label + 1));
  }
  return hash;
}
