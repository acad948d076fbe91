#include "op/cross_entropy.h"

#include "op/build.h"
#include "op/group.h"

#include <stdio.h>

/* Items that share an image: one on CPUs; on GPUs as many as have a class, so that they read
 * neighbouring memory. */
static int share_of(const clm__loss_instance *instance, int *group)
{
  const clm__device_info *info = &instance->device->info;
  *group = clm__group_items(info, "");
  return info->kind == CLM__DEVICE_CPU ? 1 : clm__group_span((size_t)instance->classes, *group);
}

clm_status clm__cross_entropy_prepare(clm__loss_instance *instance, bool normalized)
{
  char options[128];
  int group;
  const bool is_plain = instance->device->info.kind == CLM__DEVICE_CPU;
  const int share = share_of(instance, &group);
  const int length = snprintf(options, sizeof options, "-DCLASSES=%d -DHEAD=%d -DNORMALIZED=%d",
                              instance->classes, (int)instance->head, normalized);
  if (!is_plain)
    snprintf(options + length, sizeof options - (size_t)length, " -DGROUP=%d -DSHARE=%d", group,
             share);
  const clm__build build = {.file = is_plain ? "cross_entropy.cl" : "cross_entropy_gpu.cl",
                            .options = options,
                            .variant = is_plain ? "plain" : "gpu",
                            .kernel = is_plain ? "cross_entropy_plain" : "cross_entropy_gpu"};
  return clm__build_kernel(instance->device, &build, &instance->kernel);
}

clm_status clm__cross_entropy_enqueue(clm__loss_instance *instance, const clm__loss_args *args,
                                      double smoothing)
{
  int group;
  const size_t items = (size_t)args->batch * (size_t)share_of(instance, &group);
  clm__launch launch = clm__launch_begin(&instance->kernel);
  clm__launch_buffer(&launch, args->dx);
  clm__launch_buffer(&launch, args->losses);
  clm__launch_buffer(&launch, args->hits);
  clm__launch_buffer(&launch, args->probabilities);
  clm__launch_buffer(&launch, args->x);
  clm__launch_buffer(&launch, args->labels);
  clm__launch_int(&launch, args->batch);
  clm__launch_float(&launch, (float)(1.0 - smoothing));
  clm__launch_float(&launch, (float)(smoothing / instance->classes));
  return clm__launch_run(&launch, 1, &items, NULL);
}
