#include "op/conv2d_tiles.h"

#include "base/num.h"

#include <stdlib.h>
#include <string.h>

#define PATCH_WISH (24U << 10)    /* stays in the first cache beside some weights */
#define WEIGHTS_WISH (256U << 10) /* stay in the second cache */
#define PARTS_BYTES (64U << 20)
#define ITEMS_A_CORE 8
#define VECTORS_MOST 4
#define HEIGHT_MOST 4

static int ceil_div(int value, int divisor)
{
  return (int)clm__ceil_div((size_t)value, (size_t)divisor);
}

int clm__conv2d_lanes(const clm__device_info *info, int channels)
{
  int lanes = 16;
  while (lanes > 4 && lanes > info->vector_width) lanes /= 2;
  while (lanes > channels) lanes /= 2;
  return lanes;
}

/* Registers are 32 where vectors have 16 floats, and may be 16 elsewhere; some hold operands. */
int clm__conv2d_registers(const clm__device_info *info)
{
  return info->vector_width >= 16 ? 24 : 12;
}

int clm__conv2d_tuned(const char *defines, const char *name, int otherwise)
{
  const size_t length = strlen(name);
  for (const char *at = strstr(defines, name); at != NULL; at = strstr(at + length, name)) {
    const bool begins = at == defines || at[-1] == ' ';
    if (begins && at[length] == '=') return clm__max_int(atoi(at + length + 1), 1);
  }
  return otherwise;
}

int clm__conv2d_divisor(int count, int most)
{
  int divisor = clm__max_int(clm__min_int(count, most), 1);
  while (count % divisor != 0) divisor--;
  return divisor;
}

static double waste(int count, int step) { return (double)(ceil_div(count, step) * step) / count; }

/* Time a useful product takes with a tile, in arbitrary units. A tile of v vectors and p pixels
 * loads v vectors of weights and p numbers for v * p products; weights that do not stay in the
 * second cache cost more; fewer than eight sums at once wait for each other. */
static double tile_cost(const clm__conv2d_pass *pass, const clm__conv2d_tile *tile)
{
  const int pixels = tile->height * tile->width, sums = pixels * tile->vectors;
  const int filled = ceil_div(pass->channels, tile->lanes);
  const double weights = (double)pass->positions * pass->depth * tile->vectors * tile->lanes * 4;
  double cost = 1.0 + 0.4 * (tile->vectors + pixels) / sums;
  if (weights > WEIGHTS_WISH) cost += 2.0 / pixels;
  if (sums < 8) cost *= 8.0 / sums;
  return cost * waste(filled, tile->vectors) * waste(pass->rows, tile->height) *
         waste(pass->columns, tile->width);
}

static size_t patch_bytes(const clm__conv2d_pass *pass, const clm__conv2d_tile *tile, int columns)
{
  const size_t high = (size_t)(tile->height - 1) * (size_t)pass->step_h + (size_t)pass->seen_h;
  const size_t wide = (size_t)(columns - 1) * (size_t)pass->step_w + (size_t)pass->seen_w;
  return high * wide * (size_t)pass->depth * sizeof(float);
}

/* As few strips as keep the patch small, all of about the same width. */
static void choose_strip(const clm__conv2d_pass *pass, clm__conv2d_tile *tile)
{
  const int tiles = ceil_div(pass->columns, tile->width);
  int strips = 1;
  while (strips < tiles &&
         patch_bytes(pass, tile, ceil_div(tiles, strips) * tile->width) > PATCH_WISH)
    strips++;
  tile->strip_width = ceil_div(tiles, strips) * tile->width;
  tile->patch_bytes = patch_bytes(pass, tile, tile->strip_width);
}

static bool is_wished(const clm__conv2d_tile *tile, const char *defines)
{
  return clm__conv2d_tuned(defines, "VT", tile->vectors) == tile->vectors &&
         clm__conv2d_tuned(defines, "TILE_H", tile->height) == tile->height &&
         clm__conv2d_tuned(defines, "TILE_W", tile->width) == tile->width;
}

void clm__conv2d_choose_tile(const clm__conv2d_pass *pass, const clm__device_info *info,
                             const char *defines, clm__conv2d_tile *tile)
{
  const int registers = clm__conv2d_registers(info), unit = pass->pool ? 2 : 1;
  clm__conv2d_tile best = {.lanes = clm__conv2d_lanes(info, pass->channels),
                           .vectors = 1,
                           .height = unit,
                           .width = unit};
  clm__conv2d_tile at = best;
  bool is_found = false;
  for (at.vectors = 1; at.vectors <= VECTORS_MOST; at.vectors++)
    for (at.height = unit; at.height <= (pass->pool ? 2 : HEIGHT_MOST); at.height++)
      for (at.width = unit; at.vectors * at.height * at.width <= registers; at.width += unit) {
        if (!is_wished(&at, defines)) continue;
        if (is_found && tile_cost(pass, &at) >= tile_cost(pass, &best)) continue;
        best = at;
        is_found = true;
      }
  choose_strip(pass, &best);
  *tile = best;
}

size_t clm__conv2d_parts(const clm__device_info *info, size_t blocks, size_t items,
                         size_t part_bytes)
{
  const size_t wanted = (size_t)clm__max_int(info->compute_units, 1) * ITEMS_A_CORE;
  const size_t fit = clm__min_size(PARTS_BYTES, (size_t)info->buffer_max_bytes) / part_bytes;
  const size_t parts = clm__min_size(clm__ceil_div(wanted, items), blocks);
  return clm__max_size(clm__min_size(parts, fit), 1);
}
