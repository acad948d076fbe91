#include "train/tune_worker.h"

#include "base/mem.h"
#include "dev/blas.h"
#include "sys/clock.h"
#include "train/device_choice.h"
#include "train/session_model.h"
#include "train/tune_measure.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FLOWER_CLASSES 5
#define BLAS_SHARE 3 /* parameters of matrix products may take one part in so many of the time */

typedef struct worker {
  const clm__tune_orders *orders;
  int pipe;
  const clm__model_file *model;
  clm__device *device;
  clm__tune *tune;
  clm__tune_event event; /* the place: task, number, total, device, key */
  double blas_deadline;
} worker;

/* ---- telling ---- */

/* Who reads has gone where this fails: the signal, or the next call, ends the process. */
static void send_event(const worker *w, const clm__tune_event *event)
{
  const char *bytes = (const char *)event;
  size_t left = sizeof *event;
  while (left > 0) {
    const ssize_t sent = write(w->pipe, bytes, left);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) _exit(1);
    bytes += sent;
    left -= (size_t)sent;
  }
}

static void tell(worker *w, clm__tune_event_kind kind)
{
  w->event.kind = kind;
  send_event(w, &w->event);
}

static void tell_text(worker *w, clm__tune_event_kind kind, const char *text)
{
  (void)snprintf(w->event.text, sizeof w->event.text, "%s", text);
  tell(w, kind);
}

static void on_try(void *user, const char *name) { tell_text(user, CLM__TUNE_TRYING, name); }

/* Drivers' threads may speak too, so the worker's own event is left alone. */
static void on_log(void *user, clm_log_level level, const char *message)
{
  clm__tune_event event = {.kind = CLM__TUNE_LOG, .level = level};
  (void)snprintf(event.text, sizeof event.text, "%s", message);
  send_event(user, &event);
}

/* ---- one task ---- */

static void mark_crashes(const worker *w, clm__tune_candidates *list)
{
  for (size_t c = 0; c < w->orders->crash_count; c++) {
    const clm__tune_crash *crash = &w->orders->crashes[c];
    for (size_t i = 0; crash->task == w->event.task && i < list->count; i++) {
      clm__tune_candidate *item = &list->items[i];
      if (strcmp(item->name, crash->name) != 0) continue;
      item->verdict = CLM_TUNE_CRASHED;
      (void)snprintf(item->note, sizeof item->note, "%s", crash->note);
    }
  }
}

static clm_status record(worker *w, clm__tune_candidates *list)
{
  const clm__tune_candidate *best = clm__tune_candidates_choose(list);
  w->event.is_recorded = best != NULL;
  if (best != NULL)
    CLM_TRY(clm__tune_record(w->tune, &w->device->info, w->event.key.op_pass, w->event.key.shape,
                             &best->values));
  for (size_t i = 0; i < list->count; i++) {
    w->event.candidate = list->items[i];
    tell(w, CLM__TUNE_CANDIDATE);
  }
  tell(w, CLM__TUNE_RESULT);
  return CLM_OK;
}

/* task NULL: the parameters of matrix products. */
static clm_status measure(worker *w, const clm__tune_plan *plan, const clm__tune_task *task,
                          clm__tune_candidates *list)
{
  bool is_late = false;
  clm__tune_bounds bounds = {
      .device = w->device, .deadline = w->orders->deadline, .on_try = on_try, .user = w};
  if (task == NULL) {
    bounds.deadline = fmin(bounds.deadline, w->blas_deadline);
    CLM_TRY(clm__tune_candidates_of_blas(list, &w->device->info, w->tune));
    mark_crashes(w, list);
    CLM_TRY(clm__tune_measure_blas(&bounds, plan, list));
  } else {
    CLM_TRY(clm__tune_candidates_of_task(list, task, &w->device->info, w->tune));
    mark_crashes(w, list);
    CLM_TRY(clm__tune_measure(&bounds, task, list, &is_late));
  }
  on_try(w, "");
  if (!is_late) return record(w, list);
  tell(w, CLM__TUNE_LEFT);
  return CLM_OK;
}

static clm_status do_task(worker *w, const clm__tune_plan *plan, const clm__tune_task *task)
{
  static const clm__variant_key blas_key = {CLM__BLAS_OP, "*"};
  const clm__tune_orders *orders = w->orders;
  w->event.number++;
  w->event.key = task != NULL ? task->key : blas_key;
  if (w->event.task < orders->first_task) return CLM_OK;
  if (!orders->config->again &&
      clm__tune_has(w->tune, &w->device->info, w->event.key.op_pass, w->event.key.shape)) {
    tell(w, CLM__TUNE_SKIPPED);
    return CLM_OK;
  }
  if (clm__clock_seconds() > orders->deadline) {
    tell(w, CLM__TUNE_LEFT);
    return CLM_OK;
  }
  clm__tune_candidates list = {0};
  const clm_status status = measure(w, plan, task, &list);
  clm__tune_candidates_fini(&list);
  return status;
}

/* ---- a device ---- */

static bool multiplies(const clm__tune_plan *plan, const clm__device_info *info)
{
  for (size_t i = 0; i < plan->count; i++) {
    const clm__tune_task *task = &plan->tasks[i];
    for (const clm__variant *const *at = task->problems[0]->op->variants; *at != NULL; at++)
      if ((*at)->uses_blas && clm__variant_is_usable(*at, task->problems[0], task->pass, info))
        return true;
  }
  return false;
}

/* Parameters first, since the variants that multiply are measured with them. */
static clm_status do_blas(worker *w, const clm__tune_plan *plan)
{
  clm__tune_values values;
  clm__tune_find(w->tune, &w->device->info, CLM__BLAS_OP, "*", &values);
  if (multiplies(plan, &w->device->info) && values.variant[0] != '\0') {
    w->event.total++;
    CLM_TRY(do_task(w, plan, NULL));
    w->event.task++;
  }
  clm__tune_find(w->tune, &w->device->info, CLM__BLAS_OP, "*", &values);
  CLM_TRY(clm__blas_prepare(w->device, w->tune));
  return values.variant[0] != '\0' ? clm__blas_use(w->device, values.defines) : CLM_OK;
}

static clm_status do_plan(worker *w, const clm__tune_plan *plan)
{
  w->event.number = 0;
  w->event.total = plan->count;
  CLM_TRY(do_blas(w, plan));
  for (size_t i = 0; i < plan->count; i++) {
    CLM_TRY(do_task(w, plan, &plan->tasks[i]));
    w->event.task++;
  }
  return CLM_OK;
}

static clm_status do_device(void *user, clm__device *device)
{
  worker *w = user;
  clm__tune_plan plan;
  const clm__tune_plan_config config = {.graph = w->model->graph,
                                        .weights = w->model->weights,
                                        .info = &device->info,
                                        .batch = w->orders->config->run.batch_size};
  w->device = device;
  memcpy(w->event.device, device->info.id, sizeof w->event.device);
  clm_status status = clm__tune_plan_init(&plan, &config);
  if (status == CLM_OK) status = do_plan(w, &plan);
  clm__tune_plan_fini(&plan);
  return status;
}

/* ---- all ---- */

static clm_status open_model(const clm_tune_config *config, const clm_log *log,
                             clm__model_file *model)
{
  clm_train_config train = clm_train_config_default();
  train.model = config->model;
  train.image_height = config->image_height;
  train.image_width = config->image_width;
  train.run.log = log;
  return clm__session_make_model(&train, FLOWER_CLASSES, model);
}

static clm_status do_all(worker *w)
{
  const clm_log log = {.receive = on_log, .user = w};
  clm_run_config run = w->orders->config->run;
  clm__model_file model = {0};
  clm_status status = CLM_OK;
  run.log = &log;
  CLM_TRY_TO(done, status, clm__tune_open(run.tuning, &w->tune));
  CLM_REQUIRE(clm__tune_path(w->tune) != NULL, CLM_IO,
              "tuning values have no place: set CLEMATIS_CACHE or HOME to a folder");
  tell_text(w, CLM__TUNE_FILE, clm__tune_path(w->tune));
  CLM_TRY_TO(done, status, open_model(w->orders->config, &log, &model));
  w->model = &model;
  CLM_TRY_TO(done, status, clm__device_choice_each(&run, do_device, w));
done:
  clm__model_file_fini(&model);
  clm__tune_close(w->tune);
  return status;
}

void clm__tune_work(const clm__tune_orders *orders, int pipe)
{
  const double now = clm__clock_seconds();
  worker w = {
      .orders = orders, .pipe = pipe, .blas_deadline = now + (orders->deadline - now) / BLAS_SHARE};
  w.event.status = do_all(&w);
  tell_text(&w, CLM__TUNE_END, w.event.status == CLM_OK ? "" : clm_error_last()->message);
}
