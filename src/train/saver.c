#include "train/saver.h"

#include "base/mem.h"
#include "sys/thread.h"

#define FAILURES_MAX 2 /* one a file */

struct clm__saver {
  clm__saver_config config;
  clm__thread thread;
  int lane; /* of the trace */
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool is_busy;
  bool quits;

  /* The work in hand: the saver's thread owns it while busy, the caller otherwise. */
  clm__model_file model;        /* its arrays are those of config.model */
  clm__optim_state optim_state; /* likewise; counts and rate are those of the start */
  uint64_t images_seen;
  bool to_best;
  bool to_checkpoints;
  clm_error failures[FAILURES_MAX];
  int failure_count;
};

/* ---- the thread ---- */

static void note_failure(clm__saver *saver, clm_status status)
{
  if (status == CLM_OK || saver->failure_count == FAILURES_MAX) return;
  saver->failures[saver->failure_count++] = *clm_error_last();
}

static clm_status write_checkpoint(const clm__saver *saver)
{
  const clm__saver_config *config = &saver->config;
  char *path = NULL;
  CLM_TRY(clm__checkpoint_path(config->folder, saver->images_seen, &path));
  const clm_status status = clm__model_file_write(path, &saver->model);
  clm__mem_free(path);
  CLM_TRY(status);
  return clm__checkpoint_prune(config->folder, config->keep);
}

static void write_all(clm__saver *saver)
{
  const double traced = clm__trace_begin(saver->config.trace);
  if (saver->to_best)
    note_failure(saver, clm__model_file_write(saver->config.folder->best, &saver->model));
  if (saver->to_checkpoints) note_failure(saver, write_checkpoint(saver));
  clm__trace_end(
      saver->config.trace, traced,
      &(clm__trace_span){.category = "checkpoint", .name = "write file", .lane = saver->lane});
  clm__mem_free(saver->model.extra);
  saver->model.extra = NULL;
}

static void *run(void *argument)
{
  clm__saver *saver = argument;
  clm__thread_give_way();
  (void)pthread_mutex_lock(&saver->lock);
  for (;;) {
    while (!saver->is_busy && !saver->quits) (void)pthread_cond_wait(&saver->changed, &saver->lock);
    if (!saver->is_busy) break;
    (void)pthread_mutex_unlock(&saver->lock);
    write_all(saver);
    (void)pthread_mutex_lock(&saver->lock);
    saver->is_busy = false;
    (void)pthread_cond_broadcast(&saver->changed);
  }
  (void)pthread_mutex_unlock(&saver->lock);
  return NULL;
}

/* ---- its callers ---- */

#define PAGE_BYTES 4096 /* the smallest there are */

static void touch(float *values, size_t count)
{
  for (size_t i = 0; i < count; i += PAGE_BYTES / sizeof *values) {
    volatile float *value = &values[i];
    *value = *value;
  }
}

static void touch_arrays(const clm__model_file *model)
{
  touch(model->weights->values, model->weights->elements);
  for (int i = 0; i < model->optim_state->slot_count; i++)
    touch(model->optim_state->slots[i], model->weights->trainable_elements);
}

clm_status clm__saver_create(const clm__saver_config *config, clm__saver **saver)
{
  clm__saver *made = NULL;
  CLM_TRY(clm__mem_alloc(1, sizeof *made, &made));
  made->config = *config;
  made->lane = clm__trace_add_lane(config->trace, "checkpoints");
  (void)pthread_mutex_init(&made->lock, NULL);
  (void)pthread_cond_init(&made->changed, NULL);
  const clm_status status = clm__thread_start(&made->thread, "checkpoints", run, made);
  if (status != CLM_OK) {
    clm__saver_destroy(made);
    return status;
  }
  touch_arrays(config->model);
  *saver = made;
  return CLM_OK;
}

void clm__saver_destroy(clm__saver *saver)
{
  if (saver == NULL) return;
  (void)pthread_mutex_lock(&saver->lock);
  saver->quits = true;
  (void)pthread_cond_broadcast(&saver->changed);
  (void)pthread_mutex_unlock(&saver->lock);
  clm__thread_join(&saver->thread);
  (void)pthread_cond_destroy(&saver->changed);
  (void)pthread_mutex_destroy(&saver->lock);
  clm__mem_free(saver);
}

bool clm__saver_is_busy(clm__saver *saver)
{
  (void)pthread_mutex_lock(&saver->lock);
  const bool is_busy = saver->is_busy;
  (void)pthread_mutex_unlock(&saver->lock);
  return is_busy;
}

void clm__saver_wait(clm__saver *saver)
{
  (void)pthread_mutex_lock(&saver->lock);
  while (saver->is_busy) (void)pthread_cond_wait(&saver->changed, &saver->lock);
  (void)pthread_mutex_unlock(&saver->lock);
}

clm_status clm__saver_start(clm__saver *saver, const clm__saver_job *job)
{
  CLM_ASSERT(!clm__saver_is_busy(saver));
  char *text = NULL;
  CLM_TRY(clm__run_state_to_json(job->state, &text));
  saver->optim_state = *saver->config.model->optim_state;
  saver->model = *saver->config.model;
  saver->model.optim_state = &saver->optim_state;
  saver->model.extra = text;
  saver->images_seen = job->state->images_seen;
  saver->to_best = job->to_best;
  saver->to_checkpoints = job->to_checkpoints;
  (void)pthread_mutex_lock(&saver->lock);
  saver->is_busy = true;
  (void)pthread_cond_broadcast(&saver->changed);
  (void)pthread_mutex_unlock(&saver->lock);
  return CLM_OK;
}

clm_status clm__saver_take_failure(clm__saver *saver)
{
  CLM_ASSERT(!clm__saver_is_busy(saver));
  if (saver->failure_count == 0) return CLM_OK;
  return clm__error_raise(&saver->failures[--saver->failure_count]);
}
