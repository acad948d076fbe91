#include "op/gradient_check.h"

#include "base/error.h"
#include "base/num.h"
#include "op/build.h"

#include <stdio.h>

/* A CPU reads long runs with few items; the others need many items side by side. */
#define PARTS_CPU 64
#define PARTS_OTHER 8192
#define REDUCE_GROUP 64 /* items that add the parts */

static int part_count(const clm__device *device)
{
  return device->info.kind == CLM__DEVICE_CPU ? PARTS_CPU : PARTS_OTHER;
}

/* A power of two, as the reduction halves it. */
static size_t reduce_group(const clm__gradient_check *check)
{
  size_t group = REDUCE_GROUP;
  while (group > check->reduce.group_max || group > check->device->info.item_max[0]) group /= 2;
  return clm__max_size(group, 1);
}

static clm_status build(clm__gradient_check *check)
{
  const clm__device_info *info = &check->device->info;
  char options[64];
  snprintf(options, sizeof options, "-DPARTS=%d -DCONTIGUOUS=%d -DGROUP=%d",
           part_count(check->device), info->kind == CLM__DEVICE_CPU, REDUCE_GROUP);
  clm__build wanted = {.file = "gradient_check.cl",
                       .options = options,
                       .variant = "plain",
                       .kernel = "gradient_check_partial"};
  CLM_TRY(clm__build_kernel(check->device, &wanted, &check->partial));
  wanted.kernel = "gradient_check_reduce";
  CLM_TRY(clm__build_kernel(check->device, &wanted, &check->reduce));
  return clm__buffer_create(check->device, 2 * sizeof(float) * (size_t)part_count(check->device),
                            &check->parts);
}

clm_status clm__gradient_check_init(clm__gradient_check *check, clm__device *device)
{
  *check = (clm__gradient_check){.device = device};
  const clm_status status = build(check);
  if (status == CLM_OK) return CLM_OK;
  clm__gradient_check_fini(check);
  return clm__error_pass(status, __FILE__, __LINE__, __func__);
}

void clm__gradient_check_fini(clm__gradient_check *check)
{
  clm__kernel_fini(&check->partial);
  clm__kernel_fini(&check->reduce);
  clm__buffer_release(&check->parts);
  *check = (clm__gradient_check){0};
}

static clm_status enqueue_partial(clm__gradient_check *check, cl_mem g, size_t elements)
{
  const size_t parts = (size_t)part_count(check->device);
  clm__launch launch = clm__launch_begin(&check->partial);
  clm__launch_buffer(&launch, check->parts);
  clm__launch_buffer(&launch, g);
  clm__launch_uint(&launch, (uint32_t)(elements / 16));
  return clm__launch_run(&launch, 1, &parts,
                         check->device->info.kind == CLM__DEVICE_CPU ? (size_t[]){1} : NULL);
}

clm_status clm__gradient_check_enqueue(clm__gradient_check *check, cl_mem losses, int batch,
                                       cl_mem g, size_t elements, cl_mem stop, cl_mem square_sum)
{
  const size_t group = reduce_group(check);
  const bool has_gradients = g != NULL && elements > 0;
  CLM_ASSERT(elements % 16 == 0);
  if (has_gradients) CLM_TRY(enqueue_partial(check, g, elements));
  clm__launch launch = clm__launch_begin(&check->reduce);
  clm__launch_buffer(&launch, stop);
  clm__launch_buffer(&launch, square_sum);
  clm__launch_buffer(&launch, check->parts);
  clm__launch_buffer(&launch, losses);
  clm__launch_int(&launch, has_gradients ? part_count(check->device) : 0);
  clm__launch_int(&launch, batch);
  return clm__launch_run(&launch, 1, &group, &group);
}
