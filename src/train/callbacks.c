#include "train/callbacks.h"

#include "base/error.h"

clm_status clm__callbacks_init(clm__callbacks *callbacks, const clm_callback *items, size_t count)
{
  CLM_REQUIRE(count <= CLM__CALLBACKS_MAX, CLM_USAGE, "%zu callbacks were given; %d are possible",
              count, CLM__CALLBACKS_MAX);
  *callbacks = (clm__callbacks){0};
  for (size_t i = 0; i < count; i++) callbacks->items[callbacks->count++] = items[i];
  return CLM_OK;
}

void clm__callbacks_add(clm__callbacks *callbacks, const clm_callback *callback)
{
  CLM_ASSERT(callbacks->count < CLM__CALLBACKS_MAX);
  callbacks->items[callbacks->count++] = *callback;
}

clm_status clm__callbacks_data(const clm__callbacks *callbacks, const clm_data_report *report)
{
  for (size_t i = 0; i < callbacks->count; i++) {
    const clm_callback *item = &callbacks->items[i];
    if (item->on_data != NULL) CLM_TRY(item->on_data(item->user, report));
  }
  return CLM_OK;
}

clm_status clm__callbacks_begin(const clm__callbacks *callbacks, const clm_run_info *info)
{
  for (size_t i = 0; i < callbacks->count; i++) {
    const clm_callback *item = &callbacks->items[i];
    if (item->on_begin != NULL) CLM_TRY(item->on_begin(item->user, info));
  }
  return CLM_OK;
}

clm_status clm__callbacks_epoch_begin(const clm__callbacks *callbacks, int epoch, int epochs)
{
  for (size_t i = 0; i < callbacks->count; i++) {
    const clm_callback *item = &callbacks->items[i];
    if (item->on_epoch_begin != NULL) CLM_TRY(item->on_epoch_begin(item->user, epoch, epochs));
  }
  return CLM_OK;
}

clm_status clm__callbacks_step(const clm__callbacks *callbacks, const clm_step_info *info)
{
  for (size_t i = 0; i < callbacks->count; i++) {
    const clm_callback *item = &callbacks->items[i];
    if (item->on_step != NULL) CLM_TRY(item->on_step(item->user, info));
  }
  return CLM_OK;
}

clm_status clm__callbacks_validation(const clm__callbacks *callbacks, size_t done, size_t count)
{
  for (size_t i = 0; i < callbacks->count; i++) {
    const clm_callback *item = &callbacks->items[i];
    if (item->on_validation != NULL) CLM_TRY(item->on_validation(item->user, done, count));
  }
  return CLM_OK;
}

clm_status clm__callbacks_epoch_end(const clm__callbacks *callbacks, const clm_epoch_info *info)
{
  for (size_t i = 0; i < callbacks->count; i++) {
    const clm_callback *item = &callbacks->items[i];
    if (item->on_epoch_end != NULL) CLM_TRY(item->on_epoch_end(item->user, info));
  }
  return CLM_OK;
}

clm_status clm__callbacks_end(const clm__callbacks *callbacks, const clm_train_result *result)
{
  for (size_t i = 0; i < callbacks->count; i++) {
    const clm_callback *item = &callbacks->items[i];
    if (item->on_end != NULL) CLM_TRY(item->on_end(item->user, result));
  }
  return CLM_OK;
}

void clm__callbacks_checkpoint(const clm__callbacks *callbacks, const clm_checkpoint_info *info)
{
  for (size_t i = 0; i < callbacks->count; i++) {
    const clm_callback *item = &callbacks->items[i];
    if (item->on_checkpoint != NULL) item->on_checkpoint(item->user, info);
  }
}

bool clm__callbacks_should_stop(const clm__callbacks *callbacks)
{
  for (size_t i = 0; i < callbacks->count; i++) {
    const clm_callback *item = &callbacks->items[i];
    if (item->should_stop != NULL && item->should_stop(item->user) != 0) return true;
  }
  return false;
}
