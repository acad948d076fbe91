#include "train/session.h"

#include "base/num.h"
#include "sys/clock.h"

#include <math.h>

static double mean(double sum, uint64_t count) { return count > 0 ? sum / (double)count : NAN; }

static clm_status refuse_diverged(const clm__session *session)
{
  const clm__run_state *state = &session->state;
  CLM_FAIL(CLM_DIVERGED,
           "the loss or a gradient is not a finite number in epoch %d, step %llu (learning rate "
           "%g): the weights were left as before that step, and the last good checkpoint is in %s; "
           "try a lower --learning-rate",
           state->epoch + 1, (unsigned long long)state->step + 1,
           (double)session->model.optim_state->learning_rate, session->folder.checkpoints);
}

static void count_step(clm__session *session, const clm__team_result *result)
{
  clm__run_state *state = &session->state;
  state->step++;
  if (result->count == 0) return;
  state->loss_sum += result->loss_sum;
  state->hit_count += result->hit_count;
  state->image_count += result->count;
  state->images_seen += result->count;
  session->model.optim_state->iterations++;
}

/* What fails on one rank waits for the next place where all meet: else the others would wait. */
static void keep_failure(clm__session *session, clm_status status)
{
  if (status == CLM_OK || session->failure.status != CLM_OK) return;
  /* A user's callback need not say why. */
  if (clm_error_last()->status != status)
    (void)clm__error_fail(status, __FILE__, __LINE__, __func__, "%s", clm_status_text(status));
  session->failure = *clm_error_last();
}

static clm_status raise_failure(const clm__session *session)
{
  return session->failure.status == CLM_OK ? CLM_OK : clm__error_raise(&session->failure);
}

static clm_status meet(const clm__session *session)
{
  return clm__comm_agree_last(session->comm, raise_failure(session));
}

static clm_status load_next(clm__session *session, clm__batch *batch)
{
  CLM_TRY(raise_failure(session));
  CLM_REQUIRE(session->steps_run + 1 != session->unloaded_step, CLM_IO,
              "a batch cannot be loaded: a test wants it so");
  return clm__loader_next(session->loader, batch);
}

/* A silent rank is named by comm; how far the run came is known here. */
static clm_status place_failure(const clm__session *session, clm_status status)
{
  if (status != CLM_PEER_FAILED) return status;
  return clm__error_prefix(status, "in epoch %d, after step %llu: ", session->state.epoch + 1,
                           (unsigned long long)session->state.step);
}

/* Of the trace: when a step began, and how many kernels had been enqueued then. */
typedef struct traced_step {
  double begin_seconds;
  uint64_t kernels;
} traced_step;

static uint64_t count_kernels(const clm__session *session)
{
  uint64_t count = 0;
  for (int i = 0; i < session->device_count; i++)
    count += session->devices[i]->counts.kernels_enqueued;
  return count;
}

static traced_step begin_traced_step(const clm__session *session)
{
  clm__trace_begin_step(session->tracing.trace, session->steps_run + 1);
  return (traced_step){.begin_seconds = clm__trace_begin(session->tracing.trace),
                       .kernels = count_kernels(session)};
}

static void end_traced_step(const clm__session *session, const traced_step *traced)
{
  const clm__trace_span span = {.category = "step",
                                .name = "step",
                                .unit = "kernels",
                                .amount = count_kernels(session) - traced->kernels};
  clm__trace_end(session->tracing.trace, traced->begin_seconds, &span);
  clm__trace_end_step(session->tracing.trace);
}

/* One step on the next batch. A batch that could not be loaded goes the same way, as the other
 * ranks must learn of it. */
static clm_status train_next(clm__session *session, clm__team_result *result)
{
  const clm__optim_state *optim = session->model.optim_state;
  clm__batch batch;
  clm__team_input input = {.epoch = (uint32_t)session->state.epoch,
                           .is_spoiled = (uint64_t)optim->iterations + 1 == session->spoiled_step,
                           .wants_stop = clm__callbacks_should_stop(&session->callbacks),
                           .wants_save = clm__session_wants_checkpoint(session),
                           .learning_rate = optim->learning_rate,
                           .iterations = optim->iterations};
  const traced_step traced = begin_traced_step(session);
  input.failure = load_next(session, &batch);
  if (input.failure == CLM_OK) input.batch = &batch;
  const clm_status status = clm__team_train(session->team, &input, result);
  end_traced_step(session, &traced);
  if (input.failure == CLM_OK) clm__loader_release(session->loader, &batch);
  CLM_TRY(status);
  if (!result->is_finite) return refuse_diverged(session);
  count_step(session, result);
  session->saves_step = result->wants_save;
  session->steps_run++;
  return CLM_OK;
}

/* Alone a request is heard at once; several ranks hear of it in the step after. */
static bool should_stop(const clm__session *session, const clm__team_result *result)
{
  return result->wants_stop || (clm__comm_get_size(session->comm) == 1 &&
                                clm__callbacks_should_stop(&session->callbacks));
}

static clm_step_info describe_step(const clm__session *session, double epoch_begin, size_t steps,
                                   uint64_t images_before)
{
  const clm__run_state *state = &session->state;
  const double seconds = clm__clock_seconds() - epoch_begin;
  return (clm_step_info){.epoch = state->epoch,
                         .epochs = session->config->epochs,
                         .step = (size_t)state->step,
                         .steps_per_epoch = steps,
                         .images_per_second =
                             seconds > 0.0 ? (double)(state->images_seen - images_before) / seconds
                                           : 0.0,
                         .seconds = seconds,
                         .figures = {.loss = mean(state->loss_sum, state->image_count),
                                     .accuracy = mean((double)state->hit_count, state->image_count),
                                     .val_loss = NAN,
                                     .val_accuracy = NAN}};
}

static clm_status stop_on_request(clm__session *session)
{
  CLM_TRY(clm__session_save(session));
  session->result->reason = CLM_STOP_REQUESTED;
  CLM_FAIL(CLM_STOPPED, "stopped in epoch %d after step %llu; go on with --resume --out %s",
           session->state.epoch + 1, (unsigned long long)session->state.step, session->folder.path);
}

/* ---- one epoch ---- */

/* An epoch's own clock and counts. */
typedef struct epoch_run {
  double begin;
  double waited_before;
  uint64_t images_before;
  size_t steps;              /* to the end of the epoch, those of an earlier run left out */
  size_t validation_batches; /* 0 where this epoch has no validation */
} epoch_run;

/* Training images go by the devices' shares, validation images evenly over the ranks. */
static void choose_part(const void *user, bool validates, size_t count, size_t *first, size_t *kept)
{
  const clm__session *session = user;
  if (!validates) {
    clm__team_part(session->team, count, first, kept);
    return;
  }
  const size_t rank = (size_t)clm__comm_get_rank(session->comm);
  const size_t size = (size_t)clm__comm_get_size(session->comm);
  *first = count * rank / size;
  *kept = count * (rank + 1) / size - *first;
}

/* Lets the loader run ahead from where the state stands to the end of the epoch. */
static clm_status plan(clm__session *session, bool validates)
{
  clm__order_config config = session->order;
  config.validate = validates;
  clm__order order;
  CLM_TRY(clm__order_init(&order, &config, (uint32_t)session->state.epoch,
                          (size_t)session->state.step));
  clm__order_keep(&order, choose_part, session);
  const clm_status status = clm__loader_begin(session->loader, order.samples, order.starts,
                                              order.train_batches + order.validation_batches);
  clm__order_fini(&order);
  return status;
}

static void note_first_step(clm__session *session)
{
  if (session->result->first_step_seconds > 0.0) return;
  session->result->first_step_seconds = clm__clock_seconds() - session->begin_seconds;
}

/* Does what the first step need not wait for. From the second one on a rank is as late as it is
 * slow, and no longer than its peers allow. */
static clm_status finish_set_up(clm__session *session)
{
  if (session->steps_run != 1) return CLM_OK;
  if (session->dataset->count > session->dataset->train_count)
    CLM_TRY(clm__comm_agree_last(session->comm, clm__team_build_evaluation(session->team)));
  clm__comm_set_timeout(session->comm, (int)(1e3 * session->config->peer_timeout_seconds));
  return CLM_OK;
}

static clm_status train_batches(clm__session *session, const epoch_run *run)
{
  const size_t steps = clm__order_steps(&session->order);
  for (size_t b = 0; b < run->steps; b++) {
    clm__team_result result;
    CLM_TRY(train_next(session, &result));
    note_first_step(session);
    const clm_step_info info = describe_step(session, run->begin, steps, run->images_before);
    keep_failure(session, clm__callbacks_step(&session->callbacks, &info));
    CLM_TRY(clm__callbacks_step(&session->own, &info));
    if (should_stop(session, &result)) return stop_on_request(session);
    CLM_TRY(finish_set_up(session));
    if (!result.shares_changed && !clm__session_follow_shares(session)) continue;
    keep_failure(session, clm__session_note_shares(session));
    keep_failure(session, plan(session, run->validation_batches > 0));
  }
  return CLM_OK;
}

static clm_status validate_next(clm__session *session, clm__team_result *sums)
{
  clm__batch batch;
  clm__team_result result;
  CLM_TRY(raise_failure(session));
  CLM_TRY(clm__loader_next(session->loader, &batch));
  const clm_status status = clm__team_evaluate(session->team, &batch, &result);
  clm__loader_release(session->loader, &batch);
  CLM_TRY(status);
  sums->loss_sum += result.loss_sum;
  sums->hit_count += result.hit_count;
  sums->count += result.count;
  return CLM_OK;
}

/* The ranks meet after every batch, so that none is far ahead and none waits in vain. */
static clm_status validate_batches(clm__session *session, const epoch_run *run,
                                   clm__team_result *sums)
{
  if (run->validation_batches > 0) CLM_TRY(clm__team_settle(session->team));
  for (size_t b = 0; b < run->validation_batches; b++) {
    keep_failure(session, validate_next(session, sums));
    CLM_TRY(meet(session));
    keep_failure(session,
                 clm__callbacks_validation(&session->callbacks, b + 1, run->validation_batches));
  }
  return clm__team_sum(session->team, sums);
}

static clm_status end_epoch(clm__session *session, const clm__team_result *validation,
                            clm_epoch_info *info)
{
  clm__run_state *state = &session->state;
  const clm__epoch_record record = {
      .loss = mean(state->loss_sum, state->image_count),
      .accuracy = mean((double)state->hit_count, state->image_count),
      .val_loss = mean(validation->loss_sum, validation->count),
      .val_accuracy = mean((double)validation->hit_count, validation->count),
      .learning_rate = (double)session->model.optim_state->learning_rate};
  info->figures = (clm_figures){.loss = record.loss,
                                .accuracy = record.accuracy,
                                .val_loss = record.val_loss,
                                .val_accuracy = record.val_accuracy};
  info->learning_rate = record.learning_rate;
  info->is_best = clm__monitor_update(&session->monitor, &record, state->epoch, state);
  session->result->last = info->figures;
  if (info->is_best) session->result->best = info->figures;
  keep_failure(session, clm__run_state_end_epoch(state, &record));
  keep_failure(session, clm__callbacks_epoch_end(&session->callbacks, info));
  CLM_TRY(meet(session));
  return clm__callbacks_epoch_end(&session->own, info);
}

static epoch_run begin_epoch(clm__session *session)
{
  const clm__order_config *order = &session->order;
  const bool validates = (session->state.epoch + 1) % session->config->validate_epochs == 0;
  const size_t validation_count =
      validates ? order->dataset->count - order->dataset->train_count : 0;
  const size_t steps = clm__order_steps(order);
  const size_t done = clm__min_size((size_t)session->state.step, steps);
  return (epoch_run){.begin = clm__clock_seconds(),
                     .waited_before = clm__loader_get_stats(session->loader).wait_seconds,
                     .images_before = session->state.images_seen,
                     .steps = steps - done,
                     .validation_batches = clm__ceil_div(validation_count, order->batch_size)};
}

static clm_status run_epoch(clm__session *session)
{
  const epoch_run run = begin_epoch(session);
  const int epoch = session->state.epoch;
  keep_failure(session, plan(session, run.validation_batches > 0));
  keep_failure(session,
               clm__callbacks_epoch_begin(&session->callbacks, epoch, session->config->epochs));
  CLM_TRY(train_batches(session, &run));
  const double trained = clm__clock_seconds();
  const uint64_t images = session->state.images_seen - run.images_before;
  clm__team_result validation = {0};
  CLM_TRY(validate_batches(session, &run, &validation));
  const double waited = clm__loader_get_stats(session->loader).wait_seconds - run.waited_before;
  session->result->wait_seconds += waited;
  clm_epoch_info info = {.epoch = epoch,
                         .epochs = session->config->epochs,
                         .steps = clm__order_steps(&session->order),
                         .seconds = clm__clock_seconds() - run.begin,
                         .train_seconds = trained - run.begin,
                         .wait_seconds = waited,
                         .images_per_second =
                             trained > run.begin ? (double)images / (trained - run.begin) : 0.0};
  return end_epoch(session, &validation, &info);
}

/* ---- the run ---- */

static void fill_result(clm__session *session)
{
  clm_train_result *result = session->result;
  result->epochs_done = session->state.epoch;
  result->best_epoch = session->state.best_epoch;
  result->seconds = clm__clock_seconds() - session->begin_seconds;
  result->skipped_files = session->all_count - session->dataset->count;
  result->weights_digest = clm__weights_digest(session->model.weights);
}

/* Figures of epochs of earlier runs, so that a resumed run knows its best. */
static void recall_figures(clm__session *session)
{
  const clm__run_state *state = &session->state;
  const int places[2] = {state->best_epoch, state->epoch - 1};
  clm_figures *figures[2] = {&session->result->best, &session->result->last};
  for (int i = 0; i < 2; i++) {
    *figures[i] = (clm_figures){NAN, NAN, NAN, NAN};
    if (places[i] < 0 || places[i] >= state->epoch) continue;
    const clm__epoch_record *record = &state->epochs[places[i]];
    *figures[i] = (clm_figures){.loss = record->loss,
                                .accuracy = record->accuracy,
                                .val_loss = record->val_loss,
                                .val_accuracy = record->val_accuracy};
  }
}

static clm_status run_to_end(clm__session *session)
{
  if (session->state.epoch >= session->config->epochs) {
    session->result->reason = CLM_STOP_NOTHING_LEFT;
    return CLM_OK;
  }
  session->result->reason = CLM_STOP_FINISHED;
  while (session->state.epoch < session->config->epochs && !session->stop_early)
    CLM_TRY(run_epoch(session));
  if (session->stop_early) session->result->reason = CLM_STOP_EARLY;
  return clm__session_save_model(session);
}

clm_status clm__session_run(clm__session *session)
{
  recall_figures(session);
  const clm_status status = place_failure(session, run_to_end(session));
  fill_result(session);
  if (status != CLM_OK && status != CLM_STOPPED) return status;
  const clm_error stopped = *clm_error_last();
  CLM_TRY(clm__session_tell_devices(session));
  CLM_TRY(clm__comm_agree_last(session->comm,
                               clm__callbacks_end(&session->callbacks, session->result)));
  return status == CLM_OK ? CLM_OK : clm__error_raise(&stopped);
}

clm_status clm_train(const clm_train_config *config, clm_train_result *result)
{
  *result = (clm_train_result){.best_epoch = -1};
  clm__session session;
  clm_status status = clm__session_open(&session, config, result);
  if (status == CLM_OK) {
    status = clm__session_run(&session);
    clm__session_write_trace(&session);
  }
  /* Sums that are given up while closing leave errors of their own. */
  const clm_error first = *clm_error_last();
  clm__session_close(&session);
  return first.status == status ? clm__error_raise(&first) : status;
}
