#include "op/optim.h"

#include "base/str.h"
#include "op/build.h"

const clm__field clm__optim_common_fields[] = {
    {.key = "clipnorm", .kind = CLM__FIELD_FIXED, .fixed = "null"},
    {.key = "global_clipnorm", .kind = CLM__FIELD_FIXED, .fixed = "null"},
    {.key = "clipvalue", .kind = CLM__FIELD_FIXED, .fixed = "null"},
    {.key = "use_ema", .kind = CLM__FIELD_FIXED, .fixed = "false"},
    {.key = "ema_momentum", .kind = CLM__FIELD_FIXED, .fixed = "0.99"},
    {.key = "ema_overwrite_frequency", .kind = CLM__FIELD_FIXED, .fixed = "null"},
    {.key = "loss_scale_factor", .kind = CLM__FIELD_FIXED, .fixed = "null"},
    {.key = "gradient_accumulation_steps", .kind = CLM__FIELD_FIXED, .fixed = "null"},
    {.key = NULL},
};

clm_status clm__optim_instance_init(clm__optim_instance *instance, const clm__optim *optim,
                                    const void *attributes, clm__device *device)
{
  /* Neighbouring items of a GPU read neighbouring vectors: of 4 they fill its widest read. */
  const bool is_wide = device->info.kind == CLM__DEVICE_CPU && device->info.vector_width >= 8;
  *instance = (clm__optim_instance){
      .optim = optim, .attributes = attributes, .device = device, .width = is_wide ? 16 : 4};
  const clm_status status = optim->prepare(instance);
  if (status == CLM_OK) return CLM_OK;
  clm__optim_instance_fini(instance);
  return clm__error_pass(status, __FILE__, __LINE__, __func__);
}

void clm__optim_instance_fini(clm__optim_instance *instance)
{
  clm__kernel_fini(&instance->kernel);
  *instance = (clm__optim_instance){0};
}

clm_status clm__optim_build(clm__optim_instance *instance, const char *file, const char *options,
                            const char *kernel)
{
  clm__str text = {0};
  clm_status status = clm__str_add(&text, "-DWIDTH=%d%s%s", instance->width,
                                   options[0] != '\0' ? " " : "", options);
  const clm__build build = {
      .file = file, .options = clm__str_get(&text), .variant = "plain", .kernel = kernel};
  if (status == CLM_OK) status = clm__build_kernel(instance->device, &build, &instance->kernel);
  clm__str_fini(&text);
  return status;
}

clm__launch clm__optim_launch(clm__optim_instance *instance, const clm__optim_args *args,
                              int slot_count)
{
  /* The first members of every attribute struct. */
  const double *numbers = instance->attributes;
  CLM_ASSERT(args->elements % 16 == 0);
  clm__launch launch = clm__launch_begin(&instance->kernel);
  clm__launch_buffer(&launch, args->w);
  for (int i = 0; i < slot_count; i++) clm__launch_buffer(&launch, args->slots[i]);
  clm__launch_buffer(&launch, args->g);
  clm__launch_buffer(&launch, args->stop);
  clm__launch_uint(&launch, (uint32_t)(args->elements / (size_t)instance->width));
  clm__launch_float(&launch, args->gradient_scale);
  clm__launch_float(&launch, args->learning_rate);
  clm__launch_float(&launch, (float)numbers[1]);
  return launch;
}

clm_status clm__optim_run(clm__launch *launch, const clm__optim_instance *instance,
                          const clm__optim_args *args)
{
  return clm__launch_run(launch, 1, (size_t[]){args->elements / (size_t)instance->width}, NULL);
}
