#include "train/run_folder.h"

#include "base/mem.h"
#include "base/str.h"
#include "sys/clock.h"
#include "sys/file.h"

#include <stdio.h>
#include <string.h>

#define FRESH_TRIES 100

/* A name under runs/ that is not taken: the time, and a number where two runs begin in a second. */
static clm_status choose_fresh(char **path)
{
  char stamp[CLM__CLOCK_STAMP_SIZE];
  (void)clm__clock_name(stamp);
  for (int i = 1; i <= FRESH_TRIES; i++) {
    clm__str name = {0};
    CLM_TRY(i == 1 ? clm__str_add(&name, "runs/%s", stamp)
                   : clm__str_add(&name, "runs/%s-%d", stamp, i));
    if (!clm__file_exists(clm__str_get(&name))) return clm__str_take(&name, path);
    clm__str_fini(&name);
  }
  CLM_FAIL(CLM_IO, "cannot find a free name under runs/: name a folder with --out");
}

static clm_status set_paths(clm__run_folder *folder)
{
  CLM_TRY(clm__file_join(folder->path, "checkpoints", &folder->checkpoints));
  CLM_TRY(clm__file_join(folder->path, "model.keras", &folder->model));
  CLM_TRY(clm__file_join(folder->path, "best.keras", &folder->best));
  CLM_TRY(clm__file_join(folder->path, "history.csv", &folder->history_csv));
  return clm__file_join(folder->path, "history.json", &folder->history_json);
}

/* An empty folder of checkpoints is what a start that failed left behind. */
static clm_status has_checkpoints(const clm__run_folder *folder, bool *result)
{
  *result = false;
  if (!clm__file_exists(folder->checkpoints)) return CLM_OK;
  clm__file_listing listing = {0};
  CLM_TRY(clm__file_list(folder->checkpoints, &listing));
  *result = listing.count > 0;
  clm__file_listing_fini(&listing);
  return CLM_OK;
}

static clm_status refuse_earlier_run(const clm__run_folder *folder)
{
  bool is_used = false;
  CLM_TRY(has_checkpoints(folder, &is_used));
  CLM_REQUIRE(
      !is_used && !clm__file_exists(folder->model) && !clm__file_exists(folder->history_csv),
      CLM_USAGE,
      "%s already holds a run: go on with it by --resume, or name another folder with --out",
      folder->path);
  return CLM_OK;
}

static clm_status prove_writable(const clm__run_folder *folder)
{
  CLM_TRY(clm__file_make_folder(folder->checkpoints));
  char *probe = NULL;
  CLM_TRY(clm__file_join(folder->path, ".probe", &probe));
  clm_status status = clm__file_write(probe, "clematis\n", 9);
  if (status == CLM_OK) status = clm__file_remove(probe);
  clm__mem_free(probe);
  return status;
}

/* A run that was killed may have been writing. */
static clm_status tidy(const clm__run_folder *folder)
{
  CLM_TRY(clm__file_remove_temporaries(folder->path));
  return clm__file_remove_temporaries(folder->checkpoints);
}

static clm_status open_folder(clm__run_folder *folder, const char *out, bool resume)
{
  CLM_TRY(out != NULL ? clm__mem_copy_text(out, &folder->path) : choose_fresh(&folder->path));
  CLM_TRY(set_paths(folder));
  if (resume)
    CLM_REQUIRE(clm__file_is_folder(folder->path), CLM_NO_INPUT,
                "cannot resume: there is no run folder %s", folder->path);
  else
    CLM_TRY(refuse_earlier_run(folder));
  CLM_TRY(prove_writable(folder));
  return tidy(folder);
}

clm_status clm__run_folder_open(clm__run_folder *folder, const char *out, bool resume)
{
  *folder = (clm__run_folder){0};
  CLM_REQUIRE(!resume || out != NULL, CLM_USAGE, "--resume needs the run's folder: --out DIR");
  const clm_status status = open_folder(folder, out, resume);
  if (status != CLM_OK) clm__run_folder_fini(folder);
  return status;
}

clm_status clm__run_folder_name(clm__run_folder *folder, const char *path)
{
  *folder = (clm__run_folder){0};
  clm_status status = clm__mem_copy_text(path, &folder->path);
  if (status == CLM_OK) status = set_paths(folder);
  if (status != CLM_OK) clm__run_folder_fini(folder);
  return status;
}

void clm__run_folder_fini(clm__run_folder *folder)
{
  clm__mem_free(folder->path);
  clm__mem_free(folder->checkpoints);
  clm__mem_free(folder->model);
  clm__mem_free(folder->best);
  clm__mem_free(folder->history_csv);
  clm__mem_free(folder->history_json);
  *folder = (clm__run_folder){0};
}

clm_status clm__run_folder_write_text(const clm__run_folder *folder, const char *name,
                                      const char *text)
{
  char *path = NULL;
  CLM_TRY(clm__file_join(folder->path, name, &path));
  const clm_status status = clm__file_write(path, text, strlen(text));
  clm__mem_free(path);
  return status;
}

static clm_status write_samples(const clm__run_folder *folder, const char *name,
                                const clm__sample *samples, size_t count)
{
  clm__str text = {0};
  clm_status status = CLM_OK;
  for (size_t i = 0; i < count && status == CLM_OK; i++)
    status = samples[i].fault != NULL
                 ? clm__str_add(&text, "%s\t%s\n", samples[i].path, samples[i].fault)
                 : clm__str_add(&text, "%d\t%s\n", samples[i].label, samples[i].path);
  if (status == CLM_OK) status = clm__run_folder_write_text(folder, name, clm__str_get(&text));
  clm__str_fini(&text);
  return status;
}

clm_status clm__run_folder_write_lists(const clm__run_folder *folder, const clm__dataset *dataset,
                                       size_t all_count)
{
  clm__str classes = {0};
  clm_status status = CLM_OK;
  for (int i = 0; i < dataset->class_count && status == CLM_OK; i++)
    status = clm__str_add(&classes, "%s\n", dataset->class_names[i]);
  if (status == CLM_OK)
    status = clm__run_folder_write_text(folder, "classes.txt", clm__str_get(&classes));
  clm__str_fini(&classes);
  CLM_TRY(status);
  const size_t train_count = dataset->train_count;
  CLM_TRY(write_samples(folder, "training_files.txt", dataset->samples, train_count));
  CLM_TRY(write_samples(folder, "validation_files.txt", dataset->samples + train_count,
                        dataset->count - train_count));
  return write_samples(folder, "bad_files.txt", dataset->samples + dataset->count,
                       all_count - dataset->count);
}
