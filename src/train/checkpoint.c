#include "train/checkpoint.h"

#include "base/mem.h"
#include "base/str.h"
#include "sys/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PREFIX "images-"
#define SUFFIX ".keras"

clm_status clm__checkpoint_write(const char *path, const clm__model_file *model,
                                 const clm__run_state *state)
{
  clm__model_file file = *model;
  CLM_TRY(clm__run_state_to_json(state, &file.extra));
  const clm_status status = clm__model_file_write(path, &file);
  clm__mem_free(file.extra);
  return status;
}

static bool is_checkpoint(const clm__file_entry *entry)
{
  const size_t length = strlen(entry->name);
  const size_t suffix = sizeof SUFFIX - 1;
  return !entry->is_folder && strncmp(entry->name, PREFIX, sizeof PREFIX - 1) == 0 &&
         length > suffix && strcmp(entry->name + length - suffix, SUFFIX) == 0;
}

/* Calls visit with the path of every checkpoint, newest first, until it returns false. */
static clm_status visit_newest_first(const clm__run_folder *folder,
                                     bool (*visit)(void *user, const char *path), void *user)
{
  clm__file_listing listing = {0};
  CLM_TRY(clm__file_list(folder->checkpoints, &listing));
  clm_status status = CLM_OK;
  bool more = true;
  for (size_t i = listing.count; i-- > 0 && more && status == CLM_OK;) {
    if (!is_checkpoint(&listing.entries[i])) continue;
    char *path = NULL;
    status = clm__file_join(folder->checkpoints, listing.entries[i].name, &path);
    if (status == CLM_OK) more = visit(user, path);
    clm__mem_free(path);
  }
  clm__file_listing_fini(&listing);
  return status;
}

typedef struct prune_job {
  int left;
  clm_status status;
} prune_job;

static bool prune_one(void *user, const char *path)
{
  prune_job *job = user;
  if (job->left > 0)
    job->left--;
  else
    job->status = clm__file_remove(path);
  return job->status == CLM_OK;
}

clm_status clm__checkpoint_prune(const clm__run_folder *folder, int keep)
{
  prune_job job = {.left = keep > 0 ? keep : 1};
  CLM_TRY(visit_newest_first(folder, prune_one, &job));
  return job.status;
}

clm_status clm__checkpoint_path(const clm__run_folder *folder, uint64_t images_seen, char **path)
{
  char name[64];
  (void)snprintf(name, sizeof name, PREFIX "%012" PRIu64 SUFFIX, images_seen);
  return clm__file_join(folder->checkpoints, name, path);
}

clm_status clm__checkpoint_save(const clm__run_folder *folder, int keep,
                                const clm__model_file *model, const clm__run_state *state)
{
  char *path = NULL;
  CLM_TRY(clm__checkpoint_path(folder, state->images_seen, &path));
  const clm_status status = clm__checkpoint_write(path, model, state);
  clm__mem_free(path);
  CLM_TRY(status);
  return clm__checkpoint_prune(folder, keep);
}

typedef struct load_job {
  const clm_log *log;
  clm__model_file *model;
  clm__run_state *state;
  bool loaded;
} load_job;

static clm_status load_one(const char *path, load_job *job)
{
  clm__model_file model = {0};
  CLM_TRY(clm__model_file_read(path, job->log, &model));
  clm_status status = CLM_OK;
  if (model.extra == NULL || model.weights == NULL || model.optim_state == NULL)
    status = clm__error_fail(CLM_BAD_DATA, __FILE__, __LINE__, __func__,
                             "%s holds no state of a run", path);
  if (status == CLM_OK) status = clm__run_state_from_json(model.extra, job->state);
  if (status != CLM_OK) {
    clm__model_file_fini(&model);
    return status;
  }
  *job->model = model;
  return CLM_OK;
}

static bool try_one(void *user, const char *path)
{
  load_job *job = user;
  job->loaded = load_one(path, job) == CLM_OK;
  if (!job->loaded)
    clm__log(job->log, CLM_LOG_WARNING, "passed over a broken checkpoint: %s (%s)", path,
             clm_error_last()->message);
  return !job->loaded;
}

clm_status clm__checkpoint_load(const clm__run_folder *folder, const clm_log *log,
                                clm__model_file *model, clm__run_state *state)
{
  load_job job = {.log = log, .model = model, .state = state};
  CLM_TRY(visit_newest_first(folder, try_one, &job));
  CLM_REQUIRE(job.loaded, CLM_NO_INPUT, "cannot resume: there is no usable checkpoint in %s",
              folder->checkpoints);
  return CLM_OK;
}
