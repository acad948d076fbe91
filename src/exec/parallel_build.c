#include "exec/parallel_build.h"

#include "base/num.h"
#include "sys/thread.h"

#include <stdatomic.h>
#include <string.h>

#define BUILDERS_MAX 16

typedef struct build_job {
  size_t count;
  clm_status (*build)(void *user, size_t item);
  void *user;
  atomic_size_t next;
  pthread_mutex_t lock; /* guards what follows */
  size_t failed_item;
  clm_error error;
} build_job;

static void keep_first_error(build_job *job, size_t item)
{
  (void)pthread_mutex_lock(&job->lock);
  if (item < job->failed_item) {
    job->failed_item = item;
    job->error = *clm_error_last();
  }
  (void)pthread_mutex_unlock(&job->lock);
}

static void *run_builder(void *argument)
{
  build_job *job = argument;
  for (;;) {
    const size_t item = atomic_fetch_add(&job->next, 1);
    if (item >= job->count) return NULL;
    if (job->build(job->user, item) != CLM_OK) keep_first_error(job, item);
  }
}

clm_status clm__parallel_build(size_t count, int threads,
                               clm_status (*build)(void *user, size_t item), void *user)
{
  build_job job = {.count = count, .build = build, .user = user, .failed_item = SIZE_MAX};
  (void)pthread_mutex_init(&job.lock, NULL);
  clm__thread helpers[BUILDERS_MAX];
  memset(helpers, 0, sizeof helpers);
  const int helper_count = clm__min_int(threads - 1, BUILDERS_MAX);
  for (int i = 0; i < helper_count; i++)
    if (clm__thread_start(&helpers[i], "clm-build", run_builder, &job) != CLM_OK) break;
  (void)run_builder(&job);
  for (int i = 0; i < helper_count; i++) clm__thread_join(&helpers[i]);
  (void)pthread_mutex_destroy(&job.lock);
  return job.failed_item == SIZE_MAX ? CLM_OK : clm__error_raise(&job.error);
}
