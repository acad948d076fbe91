#include "op/cross_entropy.h"

#include "op/build.h"

#include <stdio.h>

clm_status clm__cross_entropy_prepare(clm__loss_instance *instance, bool normalized)
{
  char options[96];
  snprintf(options, sizeof options, "-DCLASSES=%d -DHEAD=%d -DNORMALIZED=%d", instance->classes,
           (int)instance->head, normalized);
  const clm__build build = {.file = "cross_entropy.cl",
                            .options = options,
                            .variant = "plain",
                            .kernel = "cross_entropy_plain"};
  return clm__build_kernel(instance->device, &build, &instance->kernel);
}

clm_status clm__cross_entropy_enqueue(clm__loss_instance *instance, const clm__loss_args *args,
                                      double smoothing)
{
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
  return clm__launch_run(&launch, 1, (size_t[]){(size_t)args->batch}, NULL);
}
