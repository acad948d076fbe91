#include "exec/params.h"

#include "base/mem.h"

static clm_status make_array(clm__params *params, size_t elements, cl_mem *array)
{
  const size_t size_bytes = elements * sizeof(float);
  CLM_TRY(clm__buffer_create(params->device, size_bytes, array));
  return clm__buffer_fill(params->device, *array, 0, size_bytes, 0.0F);
}

static clm_status make_gradients(clm__params *params, float *memory)
{
  const size_t trained = params->layout->trainable_elements;
  if (memory == NULL) return make_array(params, trained, &params->gradients);
  return clm__buffer_create_in(params->device, memory, trained * sizeof(float), &params->gradients);
}

static clm_status make_views(clm__params *params)
{
  const clm__weights *layout = params->layout;
  for (int i = 0; i < layout->count; i++) {
    const clm__weight *weight = &layout->items[i];
    const size_t offset_bytes = weight->offset * sizeof(float);
    const size_t size_bytes = weight->elements * sizeof(float);
    CLM_TRY(
        clm__buffer_view(params->device, params->values, offset_bytes, size_bytes, &params->w[i]));
    if (weight->trainable && params->gradients != NULL)
      CLM_TRY(clm__buffer_view(params->device, params->gradients, offset_bytes, size_bytes,
                               &params->dw[i]));
  }
  return CLM_OK;
}

clm_status clm__params_init(clm__params *params, clm__device *device, const clm__weights *layout,
                            int slot_count, float *gradients)
{
  CLM_ASSERT(slot_count <= CLM__SLOTS_MAX);
  *params = (clm__params){.device = device, .layout = layout};
  const size_t align_floats = device->info.base_align_bytes / sizeof(float);
  CLM_REQUIRE(
      align_floats <= CLM__WEIGHT_ALIGN, CLM_DEVICE_FAILED,
      "%s wants sub-buffers aligned to %zu bytes, more than Clematis' layout of weights has",
      device->info.name, device->info.base_align_bytes);
  CLM_TRY(clm__mem_alloc((size_t)layout->count, sizeof *params->w, &params->w));
  CLM_TRY(clm__mem_alloc((size_t)layout->count, sizeof *params->dw, &params->dw));
  if (layout->elements == 0) return CLM_OK;
  CLM_TRY(make_array(params, layout->elements, &params->values));
  const size_t trained = layout->trainable_elements;
  if (trained > 0) {
    CLM_TRY(clm__buffer_view(device, params->values, 0, trained * sizeof(float), &params->trained));
    if (slot_count >= 0) CLM_TRY(make_gradients(params, gradients));
    for (; params->slot_count < slot_count; params->slot_count++)
      CLM_TRY(make_array(params, trained, &params->slots[params->slot_count]));
  }
  return make_views(params);
}

void clm__params_fini(clm__params *params)
{
  if (params->layout == NULL) return;
  for (int i = 0; i < params->layout->count; i++) {
    if (params->w != NULL) clm__buffer_release(&params->w[i]);
    if (params->dw != NULL) clm__buffer_release(&params->dw[i]);
  }
  clm__mem_free(params->w);
  clm__mem_free(params->dw);
  for (int i = 0; i < CLM__SLOTS_MAX; i++) clm__buffer_release(&params->slots[i]);
  clm__buffer_release(&params->gradients);
  clm__buffer_release(&params->trained);
  clm__buffer_release(&params->values);
  *params = (clm__params){0};
}

size_t clm__params_size_bytes(const clm__weights *layout, int slot_count)
{
  const size_t copies = slot_count < 0 ? 0 : 1 + (size_t)slot_count;
  return (layout->elements + copies * layout->trainable_elements) * sizeof(float);
}

clm_status clm__params_write(clm__params *params, const float *values)
{
  if (params->values == NULL) return CLM_OK;
  return clm__buffer_write(params->device, params->values, 0, values,
                           params->layout->elements * sizeof(float), true);
}

clm_status clm__params_read(clm__params *params, float *values)
{
  if (params->values == NULL) return CLM_OK;
  return clm__buffer_read(params->device, params->values, 0, values,
                          params->layout->elements * sizeof(float), true);
}
