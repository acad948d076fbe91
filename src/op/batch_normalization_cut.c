#include "op/batch_normalization_cut.h"

#include "base/num.h"
#include "op/group.h"

static int group_of(const clm__instance *instance)
{
  if (instance->variant != &clm__batch_normalization_gpu) return 0;
  return clm__group_items(&instance->device->info, instance->tuning.defines);
}

clm__normalization_layout clm__normalization_layout_of(const clm__instance *instance, int batch)
{
  const clm__problem *problem = instance->problem;
  const clm__shape *input = &problem->inputs[0];
  const clm__batch_normalization_attributes *attributes = problem->attributes;
  const size_t channels = (size_t)input->dims[input->rank - 1];
  const size_t image_rows = clm__shape_elements(input) / channels;
  return (clm__normalization_layout){.attributes = attributes,
                                     .params = clm__batch_normalization_params_of(attributes),
                                     .batch = problem->training && !problem->frozen,
                                     .cpu = instance->variant == &clm__batch_normalization_cpu,
                                     .group = group_of(instance),
                                     .channels = channels,
                                     .image_rows = image_rows,
                                     .rows = image_rows * (size_t)batch};
}

#define CPU_PART_BYTES ((size_t)64 << 10) /* half of a small second-level cache */
#define CPU_SPLITS_LEAST 8                /* work for the cores where rows allow */
#define CPU_PART_ROWS_LEAST 16
#define PLAIN_PART_ROWS 128
#define SPLITS_MOST 1024

#define GPU_ITEM_ROWS 16

int clm__normalization_wide(const clm__normalization_layout *sizes, int most)
{
  return clm__group_span(sizes->channels, clm__min_int(sizes->group, most));
}

size_t clm__normalization_splits(const clm__normalization_layout *sizes)
{
  size_t splits = clm__ceil_div(sizes->rows, PLAIN_PART_ROWS);
  if (sizes->cpu) {
    const size_t bytes = sizes->rows * sizes->channels * sizeof(float);
    splits = clm__max_size(clm__ceil_div(bytes, CPU_PART_BYTES), CPU_SPLITS_LEAST);
    splits = clm__min_size(splits, clm__ceil_div(sizes->rows, CPU_PART_ROWS_LEAST));
  }
  if (sizes->group > 0) {
    const int deep = sizes->group / clm__normalization_wide(sizes, CLM__NORMALIZATION_WIDE);
    splits = clm__ceil_div(sizes->rows, GPU_ITEM_ROWS * (size_t)deep);
  }
  return clm__min_size(splits, SPLITS_MOST);
}

clm__normalization_cut clm__normalization_cut_of(const clm__normalization_layout *sizes)
{
  if (sizes->rows == 0) return (clm__normalization_cut){0};
  const size_t part_rows = clm__ceil_div(sizes->rows, clm__normalization_splits(sizes));
  return (clm__normalization_cut){.splits = clm__ceil_div(sizes->rows, part_rows),
                                  .part_rows = part_rows};
}
