/* Every file is read and verified before training, so that a bad one is named now and not hours
 * later. */
#include "data/dataset.h"

#include "base/mem.h"
#include "base/num.h"
#include "data/reader.h"
#include "sys/thread.h"

#include <errno.h>
#include <stdatomic.h>
#include <time.h>

#define PROGRESS_MS 100
#define WARNINGS_MOST 20

typedef struct check_job {
  clm__dataset *dataset;
  const clm__dataset_check_config *config;
  size_t part; /* samples part, part + parts, part + 2 parts ... are checked */
  size_t parts;
  atomic_size_t next;
  atomic_size_t first_bad; /* the lowest index so far; count: none */
  pthread_mutex_t lock;
  pthread_cond_t changed;
  size_t done; /* under the lock, as all below */
  int running;
  clm_error error; /* what stopped the check, such as no memory */
} check_job;

static void note_first_bad(check_job *job, size_t index)
{
  size_t lowest = atomic_load(&job->first_bad);
  while (index < lowest && !atomic_compare_exchange_weak(&job->first_bad, &lowest, index)) {
  }
}

/* What rank 0 lists must be here too: a folder that is not shared is no matter of single files. */
static clm_status require_listed(const check_job *job, clm_status status, const char *path)
{
  if (job->part == 0 || status != CLM_NO_INPUT) return CLM_OK;
  const clm_error error = *clm_error_last();
  CLM_FAIL(CLM_NO_INPUT,
           "%s/%s is listed by rank 0 but not here (%s): every rank must see the same folder",
           job->dataset->folder, path, error.message);
}

/* Verifies one sample; every sample belongs to one thread. */
static clm_status check_one(check_job *job, clm__reader *reader, size_t index)
{
  clm__sample *sample = &job->dataset->samples[index];
  clm__mem_free(sample->fault);
  sample->fault = NULL;
  const clm_status status = clm__reader_verify(reader, job->dataset->folder, sample->path);
  clm__reader_trim(reader);
  if (status == CLM_OK) return CLM_OK;
  if (!clm__reader_is_fault(status)) return clm__error_prefix(status, "%s: ", sample->path);
  CLM_TRY(require_listed(job, status, sample->path));
  CLM_TRY(clm__mem_copy_text(clm_error_last()->message, &sample->fault));
  note_first_bad(job, index);
  return CLM_OK;
}

static void *run_check(void *argument)
{
  check_job *job = argument;
  clm__reader reader = {0};
  clm_status status = CLM_OK;
  while (status == CLM_OK) {
    const size_t index = job->part + job->parts * atomic_fetch_add(&job->next, 1);
    if (index >= job->dataset->count) break;
    if (job->config->strict && index > atomic_load(&job->first_bad)) break;
    status = check_one(job, &reader, index);
    (void)pthread_mutex_lock(&job->lock);
    job->done++;
    (void)pthread_mutex_unlock(&job->lock);
  }
  clm__reader_fini(&reader);
  if (status != CLM_OK) atomic_store(&job->next, job->dataset->count);
  (void)pthread_mutex_lock(&job->lock);
  if (status != CLM_OK && job->error.status == CLM_OK) job->error = *clm_error_last();
  job->running--;
  (void)pthread_cond_signal(&job->changed);
  (void)pthread_mutex_unlock(&job->lock);
  return NULL;
}

static void wait_a_moment(check_job *job)
{
  struct timespec until;
  (void)clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += PROGRESS_MS * 1000000L;
  until.tv_sec += until.tv_nsec / 1000000000L;
  until.tv_nsec %= 1000000000L;
  (void)pthread_cond_timedwait(&job->changed, &job->lock, &until);
}

static size_t count_part(const check_job *job)
{
  const size_t count = job->dataset->count;
  return job->part < count ? clm__ceil_div(count - job->part, job->parts) : 0;
}

static void follow_progress(check_job *job)
{
  const clm__dataset_check_config *config = job->config;
  bool running = true;
  while (running) {
    (void)pthread_mutex_lock(&job->lock);
    if (job->running > 0) wait_a_moment(job);
    running = job->running > 0;
    const size_t done = job->done;
    (void)pthread_mutex_unlock(&job->lock);
    if (config->progress != NULL) config->progress(config->progress_user, done, count_part(job));
  }
}

/* Starts as many threads as it can; one is enough. */
static clm_status start_threads(check_job *job, clm__thread *threads, int count)
{
  for (int i = 0; i < count; i++) {
    (void)pthread_mutex_lock(&job->lock);
    job->running++;
    (void)pthread_mutex_unlock(&job->lock);
    const clm_status status = clm__thread_start(&threads[i], "clm-check", run_check, job);
    if (status == CLM_OK) continue;
    (void)pthread_mutex_lock(&job->lock);
    job->running--;
    (void)pthread_mutex_unlock(&job->lock);
    return i > 0 ? CLM_OK : status;
  }
  return CLM_OK;
}

static clm_status run_threads(check_job *job)
{
  const int wanted = job->config->threads > 0 ? job->config->threads : clm__thread_processors();
  const size_t useful = clm__min_size((size_t)wanted, count_part(job));
  clm__thread *threads = NULL;
  CLM_TRY(clm__mem_alloc(useful, sizeof *threads, &threads));
  clm_status status = start_threads(job, threads, (int)useful);
  follow_progress(job);
  for (size_t i = 0; i < useful; i++) clm__thread_join(&threads[i]);
  clm__mem_free(threads);
  if (status == CLM_OK && job->error.status != CLM_OK) status = clm__error_raise(&job->error);
  return status;
}

/* ---- What the faults mean for the run ---- */

static void warn_of_faults(const clm__dataset *dataset, const clm_log *log)
{
  size_t bad = 0;
  for (size_t i = 0; i < dataset->count; i++) {
    const clm__sample *sample = &dataset->samples[i];
    if (sample->fault == NULL) continue;
    if (++bad <= WARNINGS_MOST)
      clm__log(log, CLM_LOG_WARNING, "left out %s: %s", sample->path, sample->fault);
  }
  if (bad > WARNINGS_MOST)
    clm__log(log, CLM_LOG_WARNING, "%zu more files are left out", bad - WARNINGS_MOST);
}

typedef struct class_fate {
  size_t all;
  size_t good;
  const clm__sample *first_bad;
} class_fate;

/* fates: [class_count + 1], the last one for samples without a class */
static clm_status require_survivors(const clm__dataset *dataset, class_fate *fates)
{
  size_t good = 0;
  for (size_t i = 0; i < dataset->count; i++) {
    const clm__sample *sample = &dataset->samples[i];
    class_fate *fate = &fates[sample->label >= 0 ? sample->label : dataset->class_count];
    fate->all++;
    if (sample->fault != NULL && fate->first_bad == NULL) fate->first_bad = sample;
    if (sample->fault != NULL) continue;
    fate->good++;
    good++;
  }
  CLM_REQUIRE(good > 0, CLM_BAD_DATA, "none of the %zu pictures in %s can be used; %s: %s",
              dataset->count, dataset->folder, dataset->samples[0].path, dataset->samples[0].fault);
  for (int c = 0; c < dataset->class_count; c++)
    CLM_REQUIRE(fates[c].all == 0 || fates[c].good > 0, CLM_BAD_DATA,
                "none of the %zu pictures of class %s can be used; %s: %s", fates[c].all,
                dataset->class_names[c], fates[c].first_bad->path, fates[c].first_bad->fault);
  return CLM_OK;
}

static const clm__sample *find_first_bad(const clm__dataset *dataset)
{
  for (size_t i = 0; i < dataset->count; i++)
    if (dataset->samples[i].fault != NULL) return &dataset->samples[i];
  return NULL;
}

clm_status clm__dataset_judge(const clm__dataset *dataset, bool strict, const clm_log *log)
{
  const clm__sample *bad = find_first_bad(dataset);
  if (bad == NULL) return CLM_OK;
  CLM_REQUIRE(!strict, CLM_BAD_DATA, "%s/%s: %s", dataset->folder, bad->path, bad->fault);
  warn_of_faults(dataset, log);
  class_fate *fates = NULL;
  CLM_TRY(clm__mem_alloc((size_t)dataset->class_count + 1, sizeof *fates, &fates));
  const clm_status status = require_survivors(dataset, fates);
  clm__mem_free(fates);
  return status;
}

clm_status clm__dataset_check_part(clm__dataset *dataset, const clm__dataset_check_config *config,
                                   size_t part, size_t parts)
{
  CLM_ASSERT(part < parts);
  check_job job = {.dataset = dataset, .config = config, .part = part, .parts = parts};
  if (count_part(&job) == 0) return CLM_OK;
  atomic_init(&job.next, 0);
  atomic_init(&job.first_bad, dataset->count);
  (void)pthread_mutex_init(&job.lock, NULL);
  (void)pthread_cond_init(&job.changed, NULL);
  const clm_status status = run_threads(&job);
  (void)pthread_cond_destroy(&job.changed);
  (void)pthread_mutex_destroy(&job.lock);
  return status;
}

clm_status clm__dataset_check(clm__dataset *dataset, const clm__dataset_check_config *config)
{
  CLM_TRY(clm__dataset_check_part(dataset, config, 0, 1));
  return clm__dataset_judge(dataset, config->strict, config->log);
}
