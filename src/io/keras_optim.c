#include "io/keras_weights.h"

#include "base/num.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define GROUP "/optimizer/vars"
#define PATH_SIZE 64

/* Dataset 0 counts the iterations, 1 is the learning rate, the slots follow. */
#define FIRST_SLOT 2

/* What is done with one slot of one weight, dataset `number`. */
typedef clm_status (*slot_visitor)(void *user, const char *path, int slot,
                                   const clm__weight *weight);

static clm_status visit_group(const clm__weights *weights, int first, int width, int *number,
                              slot_visitor visit, void *user)
{
  char path[PATH_SIZE];
  for (int i = 0; i < weights->count; i++) {
    if (!weights->items[i].trainable) continue;
    for (int slot = first; slot < first + width; slot++) {
      (void)snprintf(path, sizeof path, GROUP "/%d", (*number)++);
      CLM_TRY(visit(user, path, slot, &weights->items[i]));
    }
  }
  return CLM_OK;
}

/* Goes through all slots in the order of the file. */
static clm_status visit_slots(const clm__weights *weights, const clm__optim_state *state,
                              slot_visitor visit, void *user)
{
  int number = FIRST_SLOT;
  const int together = state->optim->slots_interleaved ? clm__min_int(2, state->slot_count) : 1;
  for (int slot = 0; slot < state->slot_count;) {
    const int width = slot == 0 ? together : 1;
    CLM_TRY(visit_group(weights, slot, width, &number, visit, user));
    slot += width;
  }
  return CLM_OK;
}

typedef struct slot_file {
  clm__hdf5 *out;
  const clm__hdf5 *in;
  clm__optim_state *state;
  const clm__optim_state *stored;
} slot_file;

static clm_status read_slot(void *user, const char *path, int slot, const clm__weight *weight)
{
  const slot_file *file = user;
  return clm__hdf5_read_floats(file->in, path, &weight->shape,
                               file->state->slots[slot] + weight->offset);
}

static clm_status write_slot(void *user, const char *path, int slot, const clm__weight *weight)
{
  const slot_file *file = user;
  return clm__hdf5_write_floats(file->out, path, &weight->shape,
                                file->stored->slots[slot] + weight->offset);
}

static size_t count_datasets(const clm__weights *weights, const clm__optim_state *state)
{
  size_t count = FIRST_SLOT;
  for (int i = 0; i < weights->count; i++)
    if (weights->items[i].trainable) count += (size_t)state->slot_count;
  return count;
}

static clm_status read_state(const clm__hdf5 *file, const clm__weights *weights,
                             clm__optim_state *state)
{
  const clm__shape scalar = {0};
  const size_t found = clm__hdf5_count(file, GROUP);
  const size_t wanted = count_datasets(weights, state);
  CLM_REQUIRE(found == wanted, CLM_BAD_DATA, "it has %zu variables, the file holds %zu", wanted,
              found);
  CLM_TRY(clm__hdf5_read_int(file, GROUP "/0", &state->iterations));
  CLM_TRY(clm__hdf5_read_floats(file, GROUP "/1", &scalar, &state->learning_rate));
  CLM_REQUIRE(state->iterations >= 0, CLM_BAD_DATA, "it has done %lld iterations",
              (long long)state->iterations);
  CLM_REQUIRE(isfinite(state->learning_rate), CLM_BAD_DATA, "its learning rate is no number");
  slot_file slots = {.in = file, .state = state};
  return visit_slots(weights, state, read_slot, &slots);
}

clm_status clm__keras_read_optim_state(const clm__hdf5 *file, const clm__optim *optim,
                                       const void *attributes, const clm__weights *weights,
                                       const clm_log *log, clm__optim_state **state)
{
  clm__optim_state *made = NULL;
  CLM_TRY(clm__optim_state_create(optim, attributes, weights, &made));
  const size_t found = clm__hdf5_count(file, GROUP);
  const bool never_trained = found == FIRST_SLOT && made->slot_count > 0;
  if (found > 0 && !never_trained && read_state(file, weights, made) == CLM_OK) {
    *state = made;
    return CLM_OK;
  }
  if (found > 0 && !never_trained)
    clm__log(log, CLM_LOG_WARNING, "the state of the optimizer %s is not used: %s", optim->name,
             clm_error_last()->message);
  clm__optim_state_destroy(made);
  return CLM_OK;
}

clm_status clm__keras_write_optim(clm__hdf5 *file, const clm__optim *optim, const void *attributes,
                                  const clm__optim_state *state, const clm__weights *weights)
{
  const clm__shape scalar = {0};
  if (optim == NULL) return CLM_OK;
  double configured = 0.0;
  memcpy(&configured, attributes, sizeof configured);
  const float learning_rate = state != NULL ? state->learning_rate : (float)configured;
  CLM_TRY(clm__hdf5_make_group(file, GROUP, optim->keras_name));
  CLM_TRY(clm__hdf5_write_int(file, GROUP "/0", state != NULL ? state->iterations : 0));
  CLM_TRY(clm__hdf5_write_floats(file, GROUP "/1", &scalar, &learning_rate));
  if (state == NULL) return CLM_OK;
  slot_file slots = {.out = file, .stored = state};
  return visit_slots(weights, state, write_slot, &slots);
}
