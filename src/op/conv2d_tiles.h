/* How the CPU kernels of convolutions cut their work: register tiles, strips and parts. Arithmetic
 * alone; the same sizes and the same device give the same cut. */
#ifndef CLM_OP_CONV2D_TILES_H
#define CLM_OP_CONV2D_TILES_H

#include "op/conv2d.h"

/* A pass as a convolution: `rows` x `columns` results of `channels` values, each a sum over
 * `positions` weight positions of `depth` values. */
typedef struct clm__conv2d_pass {
  int rows, columns, channels;
  int positions, depth;
  int step_h, step_w; /* pixels from one result to the next */
  int seen_h, seen_w; /* pixels that one result sees */
  bool pool;          /* tiles have 2 rows and an even number of columns */
} clm__conv2d_pass;

typedef struct clm__conv2d_tile {
  int lanes;   /* floats a vector */
  int vectors; /* a tile */
  int height, width;
  int strip_width;    /* columns an item, a multiple of width */
  size_t patch_bytes; /* private memory an item */
} clm__conv2d_tile;

/* The longest vector of the device that `channels` values fill at least once: 1, 2, 4, 8, 16. */
int clm__conv2d_lanes(const clm__device_info *info, int channels);

/* Vectors of results that stay in registers. */
int clm__conv2d_registers(const clm__device_info *info);

/* The tile that wastes least. `defines` may fix VT, TILE_H and TILE_W ("VT=2 TILE_W=6"). */
void clm__conv2d_choose_tile(const clm__conv2d_pass *pass, const clm__device_info *info,
                             const char *defines, clm__conv2d_tile *tile);

/* The value of NAME in "NAME=value NAME=value", `otherwise` where it is missing. */
int clm__conv2d_tuned(const char *defines, const char *name, int otherwise);

/* The largest number of at most `most` that divides `count`, at least 1. */
int clm__conv2d_divisor(int count, int most);

/* Into how many parts a sum over `blocks` is cut, so that all cores have work where there are
 * `items` of each part, and all parts of part_bytes together stay small. */
size_t clm__conv2d_parts(const clm__device_info *info, size_t blocks, size_t items,
                         size_t part_bytes);

/* Private memory an item may use at most. */
#define CLM__CONV2D_PATCH_MAX (512U << 10)

#endif
