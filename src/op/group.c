#include "op/group.h"

#include "base/num.h"
#include "op/conv2d_tiles.h"

const char *const clm__group_candidates[] = {"GROUP=64", "GROUP=128", NULL};

static bool is_power_of_two(int value) { return value > 0 && (value & (value - 1)) == 0; }

int clm__group_items(const clm__device_info *info, const char *defines)
{
  const size_t most = clm__min_size(info->group_max, info->item_max[0]);
  const int tuned = clm__conv2d_tuned(defines, "GROUP", 0);
  int items = CLM__GROUP_ITEMS;
  if (is_power_of_two(tuned) && (size_t)tuned <= most) return tuned;
  while (items > 1 && (size_t)items > most) items /= 2;
  return items;
}

int clm__group_span(size_t count, int most)
{
  int span = 1;
  while (span < most && (size_t)span < count) span *= 2;
  return span;
}
