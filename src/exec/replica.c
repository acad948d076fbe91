#include "exec/replica.h"

#include "base/mem.h"
#include "dev/profile.h"
#include "exec/replica_private.h"

#include <math.h>

/* ---- weights and slots ---- */

clm_status clm__replica_write_weights(clm__replica *replica, const float *values)
{
  return clm__params_write(&replica->params, values);
}

clm_status clm__replica_read_weights(clm__replica *replica, float *values)
{
  return clm__params_read(&replica->params, values);
}

static size_t trained_bytes(const clm__replica *replica)
{
  return replica->config.weights->trainable_elements * sizeof(float);
}

clm_status clm__replica_write_slots(clm__replica *replica, const clm__optim_state *state)
{
  CLM_ASSERT(state->slot_count == replica->params.slot_count);
  for (int i = 0; i < state->slot_count; i++)
    CLM_TRY(clm__buffer_write(replica->device, replica->params.slots[i], 0, state->slots[i],
                              trained_bytes(replica), true));
  return CLM_OK;
}

clm_status clm__replica_read_slots(clm__replica *replica, clm__optim_state *state)
{
  CLM_ASSERT(state->slot_count == replica->params.slot_count);
  for (int i = 0; i < state->slot_count; i++)
    CLM_TRY(clm__buffer_read(replica->device, replica->params.slots[i], 0, state->slots[i],
                             trained_bytes(replica), true));
  return CLM_OK;
}

clm_status clm__replica_read_gradients(clm__replica *replica, float *values)
{
  if (replica->params.gradients == NULL) return CLM_OK;
  return clm__buffer_read(replica->device, replica->params.gradients, 0, values,
                          trained_bytes(replica), true);
}

clm_status clm__replica_write_gradients(clm__replica *replica, const float *values)
{
  if (replica->params.gradients == NULL) return CLM_OK;
  return clm__buffer_write(replica->device, replica->params.gradients, 0, values,
                           trained_bytes(replica), true);
}

/* ---- steps ---- */

static clm_status write_input(clm__replica *replica, const clm__runner *runner,
                              const clm__replica_input *input)
{
  const size_t count = (size_t)input->count;
  const size_t image_bytes =
      clm__shape_elements(&replica->config.graph->input_shape) * sizeof(float);
  CLM_TRY(clm__buffer_write(replica->device, clm__runner_input(runner), 0, input->pixels,
                            count * image_bytes, false));
  if (input->labels != NULL)
    CLM_TRY(clm__buffer_write(replica->device, replica->labels, 0, input->labels,
                              count * sizeof *input->labels, false));
  /* No label has this bit pattern, so the loss kernel answers NaN. */
  if (input->is_spoiled)
    CLM_TRY(clm__buffer_fill(replica->device, replica->labels, 0, count * sizeof(float), -1.0F));
  if (input->image_ids != NULL)
    CLM_TRY(clm__buffer_write(replica->device, replica->image_ids, 0, input->image_ids,
                              count * sizeof *input->image_ids, false));
  return CLM_OK;
}

static clm_status enqueue_loss(clm__replica *replica, const clm__runner *runner, int batch,
                               cl_mem gradient)
{
  const clm__loss_args args = {.batch = batch,
                               .x = clm__runner_output(runner),
                               .labels = replica->labels,
                               .dx = gradient,
                               .losses = replica->losses,
                               .hits = replica->hits};
  clm__profile_label(replica->device, "loss", NULL);
  CLM_TRY(replica->config.loss->enqueue(&replica->loss, &args));
  const size_t size_bytes = (size_t)batch * sizeof(float);
  CLM_TRY(clm__buffer_read(replica->device, replica->losses, 0, replica->host_losses, size_bytes,
                           false));
  return clm__buffer_read(replica->device, replica->hits, 0, replica->host_hits, size_bytes, false);
}

static clm_status check_step(clm__replica *replica, int batch, cl_mem gradients)
{
  clm__profile_label(replica->device, "check", NULL);
  CLM_TRY(clm__gradient_check_enqueue(&replica->check, replica->losses, batch, gradients,
                                      replica->config.weights->trainable_elements, replica->stop,
                                      replica->square_sum));
  return clm__buffer_read(replica->device, replica->stop, 0, &replica->host_stop,
                          sizeof replica->host_stop, false);
}

static clm_status no_images(clm__replica *replica)
{
  replica->count_in_flight = 0;
  replica->host_stop = 0;
  if (replica->params.gradients == NULL || replica->config.parts != NULL) return CLM_OK;
  CLM_TRY(clm__buffer_fill(replica->device, replica->stop, 0, sizeof(cl_int), 0.0F));
  return clm__buffer_fill(replica->device, replica->params.gradients, 0, trained_bytes(replica),
                          0.0F);
}

static clm_status pass_joint(void *user, int joint, const float *own, clm__joined *joined)
{
  const clm__replica_config *config = &((const clm__replica *)user)->config;
  return config->on_joint(config->joint_user, joint, own, joined);
}

/* Without images a replica follows the others through their joints. */
static clm_status compute_nothing(clm__replica *replica)
{
  clm__runner *runner = replica->train.runner;
  const clm__runner_call call = {.on_joint = pass_joint, .user = replica};
  if (clm__runner_joint_count(runner) > 0) {
    CLM_TRY(clm__runner_forward(runner, &call));
    CLM_TRY(clm__runner_backward(runner, &call));
  }
  CLM_TRY(no_images(replica));
  return clm__replica_parts_lend(replica);
}

clm_status clm__replica_compute(clm__replica *replica, const clm__replica_input *input)
{
  CLM_ASSERT(replica->train.runner != NULL);
  CLM_ASSERT(input->count <= replica->config.batch_max);
  clm__replica_parts_begin(replica);
  if (input->count == 0) return compute_nothing(replica);
  clm__runner *runner = replica->train.runner;
  replica->count_in_flight = input->count;
  CLM_TRY(write_input(replica, runner, input));
  const bool has_parts = replica->config.parts != NULL;
  const clm__runner_call call = {.batch = input->count,
                                 .image_ids = replica->image_ids,
                                 .seed = replica->config.seed,
                                 .epoch = input->epoch,
                                 .on_backward = has_parts ? clm__replica_parts_follow : NULL,
                                 .on_joint = pass_joint,
                                 .user = replica};
  CLM_TRY(clm__runner_forward(runner, &call));
  CLM_TRY(enqueue_loss(replica, runner, input->count, clm__runner_output_gradient(runner)));
  CLM_TRY(clm__runner_backward(runner, &call));
  if (has_parts) return clm__event_flush(replica->device);
  return check_step(replica, input->count, replica->params.gradients);
}

clm_status clm__replica_update(clm__replica *replica, const clm__replica_update_args *args)
{
  if (replica->params.trained == NULL) return CLM_OK;
  if (replica->config.parts != NULL) CLM_TRY(check_step(replica, 0, replica->params.gradients));
  clm__optim_args optim = {.elements = replica->config.weights->trainable_elements,
                           .w = replica->params.trained,
                           .g = replica->params.gradients,
                           .stop = replica->stop,
                           .gradient_scale = args->gradient_scale,
                           .learning_rate = args->learning_rate,
                           .iterations = args->iterations};
  for (int i = 0; i < replica->params.slot_count; i++) optim.slots[i] = replica->params.slots[i];
  clm__profile_label(replica->device, "optimizer", NULL);
  return replica->optim.optim->enqueue(&replica->optim, &optim);
}

clm_status clm__replica_evaluate(clm__replica *replica, const clm__replica_input *input)
{
  CLM_ASSERT(replica->evaluate.runner != NULL);
  CLM_ASSERT(input->count <= replica->config.batch_max);
  replica->count_in_flight = input->count;
  replica->host_stop = 0;
  if (input->count == 0) return CLM_OK;
  CLM_TRY(clm__replica_build_evaluation(replica));
  clm__runner *runner = replica->evaluate.runner;
  CLM_TRY(write_input(replica, runner, input));
  const clm__runner_call call = {.batch = input->count};
  CLM_TRY(clm__runner_forward(runner, &call));
  return enqueue_loss(replica, runner, input->count, NULL);
}

void clm__replica_get_figures(const clm__replica *replica, clm__replica_result *result)
{
  clm__replica_result figures = {.count = replica->count_in_flight, .is_finite = true};
  for (int i = 0; i < figures.count; i++) {
    figures.loss_sum += (double)replica->host_losses[i];
    figures.hit_count += replica->host_hits[i] > 0.5F;
  }
  figures.is_finite = isfinite(figures.loss_sum) != 0;
  *result = figures;
}

clm_status clm__replica_finish(clm__replica *replica, clm__replica_result *result)
{
  CLM_TRY(clm__device_finish(replica->device));
  clm__replica_get_figures(replica, result);
  result->is_finite = replica->host_stop == 0;
  replica->count_in_flight = 0;
  return CLM_OK;
}

clm_status clm__replica_predict(clm__replica *replica, const clm__replica_input *input,
                                float *probabilities)
{
  CLM_ASSERT(replica->predict.runner != NULL);
  CLM_ASSERT(input->count <= replica->config.batch_max);
  if (input->count == 0) return CLM_OK;
  clm__runner *runner = replica->predict.runner;
  CLM_TRY(write_input(replica, runner, input));
  const clm__runner_call call = {.batch = input->count};
  CLM_TRY(clm__runner_forward(runner, &call));
  return clm__buffer_read(replica->device, clm__runner_output(runner), 0, probabilities,
                          (size_t)input->count * (size_t)replica->classes * sizeof(float), true);
}

/* ---- rehearsing ---- */

static clm_status rehearse_training(clm__replica *replica, const clm__runner_call *call)
{
  clm__runner *runner = replica->train.runner;
  const clm__replica_update_args update = {.gradient_scale = 1.0F, .learning_rate = 1e-3F};
  CLM_TRY(clm__replica_update(replica, &update));
  CLM_TRY(check_step(replica, call->batch, replica->params.gradients));
  CLM_TRY(clm__runner_rehearse(runner, call));
  CLM_TRY(enqueue_loss(replica, runner, call->batch, clm__runner_output_gradient(runner)));
  return clm__device_finish(replica->device);
}

clm_status clm__replica_rehearse(clm__replica *replica, int count)
{
  CLM_ASSERT(replica->train.runner != NULL && replica->config.parts == NULL);
  const clm__runner_call call = {.batch = count, .image_ids = replica->image_ids};
  CLM_TRY(rehearse_training(replica, &call));
  CLM_TRY(clm__replica_build_evaluation(replica));
  CLM_TRY(clm__runner_forward(replica->evaluate.runner, &call));
  return clm__device_finish(replica->device);
}

/* ---- telling ---- */

int clm__replica_joint_count(const clm__replica *replica)
{
  return replica->train.runner != NULL ? clm__runner_joint_count(replica->train.runner) : 0;
}

const clm__joint *clm__replica_joint(const clm__replica *replica, int joint)
{
  return clm__runner_joint(replica->train.runner, joint);
}

uint64_t clm__replica_device_bytes(const clm__replica *replica) { return replica->device_bytes; }

clm_status clm__replica_describe(const clm__replica *replica, char **text)
{
  const clm__runner *runner = replica->train.runner;
  if (runner == NULL) runner = replica->evaluate.runner;
  if (runner == NULL) runner = replica->predict.runner;
  return clm__runner_describe(runner, text);
}
