#include "op/loss.h"

clm_status clm__loss_instance_init(clm__loss_instance *instance, const clm__loss *loss,
                                   const void *attributes, clm__loss_head head, int classes,
                                   clm__device *device)
{
  CLM_ASSERT(classes >= 1);
  *instance = (clm__loss_instance){
      .loss = loss, .attributes = attributes, .device = device, .head = head, .classes = classes};
  const clm_status status = loss->prepare(instance);
  if (status == CLM_OK) return CLM_OK;
  clm__loss_instance_fini(instance);
  return clm__error_pass(status, __FILE__, __LINE__, __func__);
}

void clm__loss_instance_fini(clm__loss_instance *instance)
{
  clm__kernel_fini(&instance->kernel);
  *instance = (clm__loss_instance){0};
}
